/** Every limit at its edge: the last value that is let through, and the first that is not. */
import { spawnSync } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { beforeAll, describe, expect, it } from 'vitest'
import { BODY_BYTES_MAX, IMPORT_BODY_BYTES_MAX, RECORD_CAPACITY_BYTES_DEFAULT } from '../../src/contract/index.ts'
import { connectTo } from '../support/client.ts'
import { sharedWorld, type Answer } from '../support/world.ts'
import { requestHead, sendRaw, statusOf } from './support/raw.ts'
import { errorOf, expectRefusal, importInference, inference, named, rowsOf } from './support/helpers.ts'

const MIB = 1024 * 1024
const HERE = named('limits')

const here = sharedWorld()
beforeAll(async () => {
  await importInference(here, 'limits', 'first')
})

/** A JSON object of exactly that many bytes. */
function bodyOf(bytes: number, head: string, tail: string): Buffer {
  return Buffer.from(head + 'x'.repeat(bytes - head.length - tail.length) + tail)
}

const chatOf = (bytes: number): Buffer => bodyOf(bytes, '{"model":"m","messages":[],"user":"', '"}')
const reportOf = (bytes: number): Buffer => bodyOf(bytes, '{"agent_record_id":"long","references":["first"],"feedback":"', '"}')

describe('bodies', () => {
  it('of 64 MiB are served whole, and one byte more is 413 [limits.body]', async () => {
    const served = await here.post('/v1/chat/completions', chatOf(BODY_BYTES_MAX), HERE)
    expect(served.status).toBe(200)
    expect(here.upstream.received.at(-1)?.body.length).toBe(64 * MIB)
    expectRefusal(await here.post('/v1/chat/completions', chatOf(BODY_BYTES_MAX + 1), HERE), 413, 'body_too_large')
  })

  it('of reports may have 64 MiB too, which are stored as they came [limits.body]', async () => {
    expect((await here.post('/svc/report', reportOf(BODY_BYTES_MAX), HERE)).status).toBe(200)
    expect((await here.get('/svc/scenarios/limits/records/long')).bytes.length).toBeGreaterThan(BODY_BYTES_MAX)
    expectRefusal(await here.post('/svc/report', reportOf(BODY_BYTES_MAX + 1), HERE), 413, 'body_too_large', '64 MiB')
  })

  it('of imports end at 10 MiB, announced or not [limits.import-body] [batch.rule-3] [errors.413]', async () => {
    const one = (bytes: number): Buffer => bodyOf(bytes, '{"agent_record_id":"big","request_type":"inference","payload":{"x":"', '"}}')
    expect((await here.post('/svc/records', one(IMPORT_BODY_BYTES_MAX), HERE)).status).toBe(200)
    expectRefusal(await here.post('/svc/records', one(IMPORT_BODY_BYTES_MAX + 1), HERE), 413, 'body_too_large')
    const batch = bodyOf(10 * MIB + 1, '{"records":[{"agent_record_id":"b","request_type":"inference","payload":{"x":"', '"}}]}')
    const head = requestHead('POST', '/svc/records/batch', ['x-svc-scenario: limits', 'transfer-encoding: chunked'])
    const chunked = Buffer.concat([Buffer.from(`${head}${batch.length.toString(16)}\r\n`), batch, Buffer.from('\r\n0\r\n\r\n')])
    expect(statusOf(await sendRaw(here.address, chunked))).toBe(413)
    expect((await here.get('/svc/scenarios/limits/records/b')).status).toBe(404)
  })
})

describe('bodies of our own routes', () => {
  it('that are too large are answered also where the client sends all of it before it reads', async () => {
    const body = bodyOf(48 * MIB, '{"reason":"', '"}')
    const fields = ['x-svc-scenario: limits', `content-length: ${body.length}`]
    const sent = Buffer.concat([Buffer.from(requestHead('POST', '/svc/harness/proposals', fields)), body])
    const socket = connectTo(here.address).pause()
    await new Promise<void>((resolve, reject) => {
      socket.on('error', reject)
      socket.write(sent, () => resolve())
    })
    expect(statusOf(await text(socket))).toBe(413)
  })

  it.each([
    ['/svc/harness/proposals', 2 * MIB, '2 MiB'],
    ['/svc/train', 256 * 1024, '256 KiB'],
    ['/svc/scenarios', 256 * 1024, '256 KiB'],
    ['/svc/scenarios/limits/update', 256 * 1024, '256 KiB'],
    ['/svc/scenarios/limits/rollback', 256 * 1024, '256 KiB'],
    ['/svc/scenarios/limits/promote', 256 * 1024, '256 KiB'],
  ])('end at a limit that fits them, and a 413 names it: %s', async (path, bytes, limit) => {
    expect((await here.post(path, bodyOf(bytes, '{"x":"', '"}'), HERE)).status).not.toBe(413)
    expectRefusal(await here.post(path, bodyOf(bytes + 1, '{"x":"', '"}'), HERE), 413, 'body_too_large', limit)
  })
})

it('a body of millions of small values is checked in little more memory than it takes itself', () => {
  const module = new URL('../../src/http/bodies/strict-json.ts', import.meta.url).href
  const code = `import { parseStrictObject } from '${module}'
      parseStrictObject(Buffer.from('{"metadata":{"a":[' + '0,'.repeat(4e6) + '0]}}'))`
  const run = spawnSync(process.execPath, ['--max-old-space-size=192', '--input-type=module', '-e', code])
  expect(run.status).toBe(0)
})

const sendBatch = (records: number): Promise<Answer> =>
  here.post('/svc/records/batch', { records: Array.from({ length: records }, (_, index) => inference(`batch-${index}`)) }, named('batch'))

it.each([
  [0, 400],
  [1, 200],
  [1000, 200],
  [1001, 400],
])('a batch of %i records is %i [limits.batch-size]', async (records, status) => {
  const answer = await sendBatch(records)
  expect(answer.status).toBe(status)
  if (status === 200) expect(rowsOf(answer, 'records')).toHaveLength(records)
  else expect(errorOf(answer)['message']).toContain('1 to 1000')
})

describe('a page', () => {
  beforeAll(async () => {
    const records = Array.from({ length: 101 }, (_, index) => inference(`row-${index}`))
    await here.post('/svc/records/batch', { records }, named('pages'))
  })

  it.each(['records', 'commits'])('of %s has 1 to 100 rows [limits.page]', async (list) => {
    for (const limit of ['0', '101', '-1', '1.5', '1e1', '', 'ten', '99999999999999999999'])
      expectRefusal(await here.get(`/svc/scenarios/pages/${list}?limit=${limit}`), 400, 'invalid_query')
    for (const limit of ['1', '100']) expect((await here.get(`/svc/scenarios/pages/${list}?limit=${limit}`)).status).toBe(200)
  })

  it('has 50 rows by default, and as many as limit says [limits.page]', async () => {
    for (const [query, rows] of Object.entries({ '': 50, '?limit=1': 1, '?limit=100': 100 }))
      expect(rowsOf(await here.get(`/svc/scenarios/pages/records${query}`), 'records')).toHaveLength(rows)
  })
})

const filterBy = (ids: readonly string[]): Promise<Answer> =>
  here.get(`/svc/scenarios/limits/commits?${ids.map((id) => `record_id=${encodeURIComponent(id)}`).join('&')}`)

it.each([
  ['100 ids', 200, Array.from({ length: 100 }, (_, index) => `id-${index}`)],
  ['101 ids', 400, Array.from({ length: 101 }, (_, index) => `id-${index}`)],
  ['an id of 256 characters', 200, ['🐟'.repeat(256)]],
  ['an id of 257 characters', 400, ['🐟'.repeat(257)]],
  ['an empty id', 400, ['']],
])('the commit filter with %s is %i [limits.commit-filter] [decisions.code-points]', async (_title, status, ids) => {
  expect((await filterBy(ids)).status).toBe(status)
})

it.each([
  ['one character', 'x', 200],
  ['256 code points', '🐟'.repeat(256), 200],
  ['257 code points', '🐟'.repeat(257), 400],
  ['nothing', '', 400],
  ['blanks alone', ' \t ', 400],
])('a record id of %s: import, report and reference [decisions.record-id-supplied] [decisions.code-points]', async (_title, id, status) => {
  const answer = await here.post('/svc/records', inference(id), named('ids'))
  expect(answer.status).toBe(status)
  expect((await here.post('/svc/report', { references: [id] }, named('ids'))).status).toBe(status)
  expect((await here.post('/svc/report', { agent_record_id: id }, named('report-ids'))).status).toBe(status)
  if (status !== 200) expect(errorOf(answer)['message']).toMatch(/^agent_record_id: .*1 to 256/)
})

describe('a scenario name', () => {
  it.each([
    ['one character', 'x', 201],
    ['200 code points', '🐟'.repeat(200), 201],
    ['201 code points', '🐟'.repeat(201), 400],
    ['a slash', 'a/b', 400],
    ['a dot', '.', 400],
    ['two dots', '..', 400],
    ['three dots', '...', 201],
    ['a control character', 'a\u0001b', 400],
    ['a line end', 'a\nb', 400],
    ['blanks alone', '   ', 400],
    ['quotes and spaces', `it's "so" <b>`, 201],
  ])('of %s [decisions.scenario-name]', async (_title, name, status) => {
    const answer = await here.post('/svc/scenarios', { name })
    expect(answer.status).toBe(status)
    if (status === 201) expect((await here.get(`/svc/scenarios/${encodeURIComponent(name)}/contract`)).json['scenario']).toBe(name)
  })

  it('is trimmed, in the body and in the header [decisions.scenario-name]', async () => {
    expect((await here.post('/svc/scenarios', { name: '  trimmed  ' })).json['scenario']).toBe('trimmed')
    expect((await here.post('/svc/report', {}, named('  trimmed\t'))).json['scenario']).toBe('trimmed')
  })
})

const sendTagged = (tags: Readonly<Record<string, string>>): Promise<Answer> =>
  here.post('/svc/records', inference(`tags-${Object.keys(tags).length}`), { ...named('tags'), ...tags })
const manyTags = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`x-svc-tag-t${index}`, 'v']))

it('tags may be 64 of 1024 characters each [decisions.code-points]', async () => {
  const wide = Buffer.from('é'.repeat(1024)).toString('latin1')
  const wider = Buffer.from('é'.repeat(1025)).toString('latin1')
  expect((await sendTagged(manyTags(64))).status).toBe(200)
  expectRefusal(await sendTagged(manyTags(65)), 400, 'too_many_tags')
  expect((await sendTagged({ 'x-svc-tag-wide': wide })).status).toBe(200)
  expectRefusal(await sendTagged({ 'x-svc-tag-wide': wider }), 400, 'tag_too_long')
})

const nested = (depth: number): string => `{"metadata":${'{"a":'.repeat(depth - 1)}1${'}'.repeat(depth - 1)}}`

describe('nesting and references', () => {
  it('go as deep as 256 levels and not further', async () => {
    expect((await here.post('/svc/report', nested(256), HERE)).status).toBe(200)
    expectRefusal(await here.post('/svc/report', nested(257), HERE), 400, 'nested_too_deep')
  })

  it('quote as many receipts in one report as its body holds', async () => {
    const ids = Array.from({ length: 10_000 }, (_, index) => `quoted-${index}`)
    for (let at = 0; at < ids.length; at += 1000)
      await here.post('/svc/records/batch', { records: ids.slice(at, at + 1000).map((id) => inference(id)) }, named('quotes'))
    const answer = await here.post('/svc/report', { agent_record_id: 'long', references: ids }, named('quotes'))
    expect(answer.status).toBe(200)
    expect((await here.get('/svc/scenarios/quotes/records/long')).json['references']).toEqual(ids)
    const unknown = await here.post('/svc/report', { references: [...ids, 'one-more'] }, named('quotes'))
    expectRefusal(unknown, 400, 'unknown_reference', /^references\[10000\]/)
  })
})

it('record bodies may take 20 GiB by default [limits.record-storage]', async () => {
  expect(RECORD_CAPACITY_BYTES_DEFAULT).toBe(20 * 1024 ** 3)
  expect((await here.get('/svc/status')).json).toMatchObject({ storage: { capacity_bytes: 21_474_836_480 } })
})
