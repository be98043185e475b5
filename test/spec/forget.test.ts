/** A person's records are removed while the service runs, and nothing of others. */
import { readFileSync, globSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { execute, fakeSurroundings } from '../../src/cli/testing/surroundings.ts'
import { forgetRecords } from '../../src/main.ts'
import { temporaryFolder } from '../support/folder.ts'
import { sharedWorld } from '../support/world.ts'
import { bearer, expectRefusal, named, rowsOf } from './support/helpers.ts'

const TOKEN = 'admin-token-of-the-test'
const here = sharedWorld({ backend: 'sqlite', settings: { 'svc.token': TOKEN }, headers: bearer(TOKEN) })

const say = (scenario: string, user: string, words: string) =>
  here.post(
    '/v1/chat/completions',
    { model: 'm', messages: [{ role: 'user', content: words }] },
    { ...named(scenario), 'x-svc-tag-user': user },
  )
const receiptOf = (answer: Awaited<ReturnType<typeof say>>): string => String(answer.headers['x-svc-agent-record-id'])
const forget = (value: string, dry_run: boolean, name = 'user') => here.post('/svc/forget', { name, value, dry_run })
const filesHold = (word: string): boolean =>
  globSync(join(here.directory, '**/*.sqlite3*')).some((file) => readFileSync(file).includes(word))

describe('POST /svc/forget [access.forget]', () => {
  it('counts, then removes, with every place as proof, while others are served', async () => {
    const [anna, bert] = [receiptOf(await say('a', 'anna-77', 'violet words')), receiptOf(await say('a', 'bert-88', 'orange words'))]
    await here.post('/svc/report', { references: [anna], score: 1 }, named('a'))
    const counted = await forget('anna-77', true)
    expect(counted.json).toMatchObject({ removed: false, records: 1, reports: 1, places: [], receipts: expect.arrayContaining([]) })
    expect((await here.get(`/svc/scenarios/a/records/${anna}`)).status).toBe(200)
    const [{ json }, meanwhile] = await Promise.all([forget('anna-77', false), say('a', 'bert-88', 'more orange')])
    expect(json).toMatchObject({ removed: true, records: 1, reports: 1, left: 0, tag: { user: 'anna-77' } })
    expect(rowsOf({ json }, 'places').length).toBeGreaterThan(8)
    expect(meanwhile.status).toBe(200)
    expect([filesHold('anna-77'), filesHold('violet')]).toEqual([false, false])
    expect((await here.get(`/svc/scenarios/a/records/${anna}`)).status).toBe(404)
    expect((await here.get(`/svc/scenarios/a/records/${bert}`)).text).toContain('orange words')
    expect((await forget('anna-77', true)).json).toMatchObject({ records: 0, reports: 0 })
  })

  it('is in the audit with who did it and what was counted, and not with whom it was about', async () => {
    await say('b', 'carla-99', 'green')
    await forget('carla-99', false)
    const entry = rowsOf(await here.get('/svc/audit?order=newest&limit=1'), 'audit')[0]
    expect(entry).toMatchObject({ action: 'forget', by: 'svc.token', role: 'admin', target: 'user', after: { records: 1, reports: 0 } })
    expect((await here.get('/svc/audit?limit=100')).text).not.toContain('carla-99')
  })

  it('names what it cannot look at, and where the value is left for a person to remove', async () => {
    await say('named-dora-11', 'dora-11', 'blue')
    const { json } = await forget('dora-11', false)
    expect(json['unsearched']).toEqual([expect.stringContaining('backups and exports')])
    expect(json['left']).toBe(1)
    expect(rowsOf({ json }, 'places').find(({ found }) => found !== 0)).toMatchObject({ searched: 'the value of the tag in audit' })
  })

  it.each([
    [{ value: 'u7', dry_run: true }, /name/],
    [{ name: 'user', value: '', dry_run: true }, /value/],
    [{ name: 'us er', value: 'u7', dry_run: true }, /name/],
    [{ name: 'user', value: 'u7' }, /dry_run: must be true to count only, or false to remove/],
    [{ name: 'user', value: 'u7', dry_run: false, backup: '/' }, /takes only name, value and dry_run/],
  ])('refuses %j in one line', async (body, words) => {
    expectRefusal(await here.post('/svc/forget', body), 400, 'invalid_field', words)
  })

  it('is what the command asks for where a service runs, which names the exported files that hold some of it', async () => {
    await say('exported', 'emil-55', 'yellow')
    await say('exported', 'bert-88', 'orange')
    const to = temporaryFolder()
    const environment = { SVC_URL: here.address, SVC_TOKEN: TOKEN }
    const command = (...words: string[]) => execute(words, fakeSurroundings({ forgetRecords }, environment))
    const [records = ''] = globSync(join(here.directory, '**/records.sqlite3'))
    await command('export', '--to', to, '--scenario', 'exported')
    const { exit, out, err } = await command(
      'forget',
      '--tag',
      'user=emil-55',
      '--yes',
      '--json',
      '--export',
      to,
      '--storage.agent_record_dir',
      dirname(records),
    )
    const file = `${to}/exported/records-000000000001-000000000002.jsonl`
    expect(err).toEqual([])
    expect([exit, JSON.parse(out)]).toEqual([1, expect.objectContaining({ records: 1, left: 1 })])
    expect(rowsOf({ json: JSON.parse(out) }, 'places')).toContainEqual({
      place: file,
      searched: 'records of the person in exported files',
      found: 1,
    })
    expect(filesHold('emil-55')).toBe(false)
  })
})

describe('a store that cannot', () => {
  const memory = sharedWorld({ backend: 'memory' })
  it('says so [access.forget]', async () => {
    expectRefusal(
      await memory.post('/svc/forget', { name: 'user', value: 'u7', dry_run: true }),
      501,
      'forget_unsupported',
      /sqlite and postgres/,
    )
  })
})
