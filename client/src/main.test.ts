/** The command as a person meets it: arguments, files and a service in, words and exit statuses out. */
import { appendFileSync, existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import { takeLock } from './lock.ts'
import { fakeService } from './testing/fake-service.ts'
import { envelope, envelopes, run as runCommand, sourceFile } from './testing/files.ts'

describe('a whole import', () => {
  it('stores every record once, in order, and says how many [importer.sends] [importer.count]', async () => {
    const service = await fakeService()
    const file = sourceFile(envelopes(300))
    const ran = await run(file, service.url)
    expect(ran).toMatchObject({ code: 0, err: '100%  300 records\n' })
    expect(ran.out).toBe(`300 records of ${file} acknowledged for scenario s\n`)
    expect([...service.stored.keys()]).toEqual(Array.from({ length: 300 }, (_, index) => `r${index + 1}`))
    expect(service.requests).toHaveLength(3)
  })

  it('sends each envelope as the text it is, behind the scenario, with the token from the environment [importer.token] [auth.3]', async () => {
    const service = await fakeService()
    const text = '{"agent_record_id": "é", "request_type":"inference", "payload":{"big":12345678901234567890}}'
    await run(sourceFile(`\ufeff${text}\r\n\n   \n`), `${service.url}/`, [], { SVC_TOKEN: 'secret' }, 'ünïcode')
    expect(service.requests).toHaveLength(1)
    expect(service.requests[0]).toMatchObject({ path: '/svc/records/batch', body: `{"records":[${text}]}` })
    expect(service.requests[0]?.headers).toMatchObject({ authorization: 'Bearer secret', 'content-type': 'application/json' })
    expect(Buffer.from(String(service.requests[0]?.headers['x-svc-scenario']), 'latin1').toString()).toBe('ünïcode')
  })

  it('sends no authorization without a token', async () => {
    const service = await fakeService()
    await run(sourceFile(envelopes(1)), service.url)
    expect(service.requests[0]?.headers).not.toHaveProperty('authorization')
  })

  it('of an empty file is done at once', async () => {
    const service = await fakeService()
    expect(await run(sourceFile('\n\n'), service.url)).toMatchObject({ code: 0 })
    expect(service.requests).toEqual([])
  })

  it('repeated sends nothing and reports the same count [importer.resume] [importer.count]', async () => {
    const service = await fakeService()
    const file = sourceFile(`${envelopes(5)}\n\n`)
    await run(file, service.url)
    const again = await run(file, service.url, ['--json'])
    expect(JSON.parse(again.out)).toMatchObject({ ok: true, records: 5, sent: 0, batches: 0, retries: 0, scenario: 's', url: service.url })
    expect(service.requests).toHaveLength(1)
  })

  it('leaves a progress file with the place and the position, and neither token nor payload [importer.progress]', async () => {
    const service = await fakeService()
    const file = sourceFile(envelopes(3))
    await run(file, service.url, [], { SVC_TOKEN: 'secret-token' })
    const text = readFileSync(`${file}.svc-import.json`, 'utf8')
    const size = Buffer.byteLength(envelopes(3))
    expect(JSON.parse(text)).toEqual({
      version: 1,
      url: service.url,
      scenario: 's',
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown,
      size,
      offset: size,
      count: 3,
    })
    expect(text).not.toContain('secret-token')
    expect(readdirSync(dirname(file)).toSorted()).toEqual([
      'records.jsonl',
      'records.jsonl.svc-import.json',
      'records.jsonl.svc-import.json.lock',
    ])
  })
})

describe('a line that cannot be sent', () => {
  it.each([
    ['is not JSON', '{"a":', /line 3 is not valid JSON/],
    ['holds NaN', '{"agent_record_id":"x","request_type":"report","payload":{"score":NaN}}', /line 3 is not valid JSON/],
    ['is no object', '[1]', /line 3 is not a JSON object/],
    ['has no id', '{"request_type":"inference","payload":{}}', /line 3 has no agent_record_id/],
    ['is not UTF-8', Buffer.from([0x22, 0xff, 0x22]), /line 3 is not valid UTF-8/],
    ['is too long', envelope('x'.repeat(600)), /line 3 does not fit into a batch of 512 bytes/],
    ['never ends', 'x'.repeat(3_000_000), /line 3 does not fit/],
  ])('because it %s stops the import there, after everything before it', async (_, line, message) => {
    const service = await fakeService()
    const head = Buffer.from(`${envelope('a')}\n\n`)
    const file = sourceFile(Buffer.concat([head, Buffer.from(line), Buffer.from(`\n${envelope('b')}\n`)]))
    const ran = await run(file, service.url, ['--max-batch-bytes', '512'])
    expect(ran.code).toBe(1)
    expect(ran.err).toMatch(message)
    expect([...service.stored.keys()]).toEqual(['a'])
    expect(position(file)).toMatchObject({ count: 1, offset: head.length - 1 })
  })
})

describe('the position', () => {
  it('does not move past a refused batch, and the refusal names the line of the file [importer.permanent]', async () => {
    const body = JSON.stringify({ error: { message: 'records[1].payload: must be an object', type: 'invalid', code: 'bad_envelope' } })
    const service = await fakeService('store', { status: 400, body })
    const file = sourceFile(`\n${envelopes(6)}`)
    const ran = await run(file, service.url, ['--batch-size', '3', '--json'])
    expect(ran.code).toBe(1)
    expect(ran.err).toContain('svc-client: line 6: the service answered 400: records[1].payload: must be an object\n')
    expect(JSON.parse(ran.out)).toMatchObject({ ok: false, error: expect.stringContaining('line 6') as unknown })
    expect(position(file)).toMatchObject({ count: 3 })

    const fixed = await run(file, service.url, ['--batch-size', '3'])
    expect(fixed).toMatchObject({ code: 0, out: expect.stringContaining('6 records') as unknown })
    expect(fixed.out).toContain('3 of them by earlier runs')
    expect(service.stored.size).toBe(6)
  })

  it('of a refused batch after a resume is still counted from the start of the file', async () => {
    const service = await fakeService('store', { status: 500 }, { status: 409, body: 'record_conflict: "r6" is stored with other content' })
    const file = sourceFile(envelopes(6))
    await run(file, service.url, ['--batch-size', '3', '--retries', '0'])
    const ran = await run(file, service.url, ['--batch-size', '3'])
    expect(ran.err).toContain('line 6: the service answered 409: record_conflict')
  })

  it('is not taken from another file, service or scenario [importer.resume]', async () => {
    const service = await fakeService()
    const file = sourceFile(envelopes(2))
    await run(file, service.url)
    expect((await run(file, service.url, [], {}, 'other')).err).toMatch(/belongs to another scenario/)
    expect((await run(file, 'http://127.0.0.1:9', [], {})).err).toMatch(/belongs to another url/)
    appendFileSync(file, envelopes(1))
    expect((await run(file, service.url)).err).toMatch(/belongs to another source/)
    expect(service.requests).toHaveLength(1)
  })

  it('is not taken from a file that is something else', async () => {
    const service = await fakeService()
    const file = sourceFile(envelopes(2))
    writeFileSync(`${file}.svc-import.json`, '{"version":2}')
    expect(await run(file, service.url)).toMatchObject({ code: 1, err: expect.stringContaining('not a progress file') as unknown })
    expect(service.requests).toEqual([])
  })

  it('is taken from the file of an earlier version, which had another name, unless that one still imports', async () => {
    const service = await fakeService()
    const file = sourceFile(envelopes(2))
    await run(file, service.url)
    renameSync(`${file}.svc-import.json`, `${file}.reef-import.json`)
    {
      using _held = takeLock(`${file}.reef-import.json`)
      expect((await run(file, service.url)).err).toContain('another import holds')
    }
    expect(await run(file, service.url)).toMatchObject({ code: 0 })
    expect(service.requests).toHaveLength(1)
    expect(readdirSync(dirname(file)).filter((name) => name.includes('reef'))).toEqual([])
  })

  it('goes where --progress says [importer.progress]', async () => {
    const service = await fakeService()
    const file = sourceFile(envelopes(2))
    const elsewhere = `${dirname(file)}/deep/er/progress.json`
    expect(await run(file, service.url, ['--progress', elsewhere])).toMatchObject({ code: 0 })
    expect(existsSync(elsewhere)).toBe(true)
    expect(existsSync(`${file}.svc-import.json`)).toBe(false)
  })
})

describe('a source or progress file in other hands', () => {
  it('that changes while it is imported stops the import before the next batch [importer.resume]', async () => {
    const service = await fakeService()
    const file = sourceFile(envelopes(6))
    service.onStored = () => appendFileSync(file, envelope('late'))
    const ran = await run(file, service.url, ['--batch-size', '3'])
    expect(ran).toMatchObject({ code: 1, err: expect.stringContaining('changed while it was imported') as unknown })
    expect(service.stored.size).toBe(3)
  })

  it('that another run holds is left alone [importer.lock]', async () => {
    const service = await fakeService()
    const file = sourceFile(envelopes(2))
    {
      using _held = takeLock(`${file}.svc-import.json`)
      expect(await run(file, service.url)).toMatchObject({ code: 1, err: expect.stringContaining('another import holds') as unknown })
    }
    expect(service.requests).toEqual([])
    expect(await run(file, service.url)).toMatchObject({ code: 0 })
  })

  it('that is missing or no file is refused', async () => {
    expect((await run('/nowhere/at-all.jsonl', 'http://127.0.0.1:9')).err).toMatch(/cannot be found/)
    expect((await run(dirname(sourceFile('')), 'http://127.0.0.1:9')).err).toMatch(/is not a file/)
  })
})

const run = (file: string, url: string, more: readonly string[] = [], env: NodeJS.ProcessEnv = {}, scenario = 's') =>
  runCommand(['import', file, '--url', url, '--scenario', scenario, ...more], env)

const position = (file: string): unknown => JSON.parse(readFileSync(`${file}.svc-import.json`, 'utf8'))
