/** Forgetting a tag: nothing of it is left in any file, and everything of others is as it was. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { describe, it, vi } from 'vitest'
import { commit, create } from '../../../../conformance/store-samples.ts'
import { assertRefused } from '../../../../conformance/support.ts'
import type { ForgetOrder, NewRecord, RequestType } from '../../../../src/contract/index.ts'
import { temporaryFolder } from '../../../../test/support/folder.ts'
import { IN_THE_CLEAR } from '../../common/seal.ts'
import { forgetTag as forgetTagIn } from './forget.ts'
import { change, open, rowsOf } from '../testing/stores.ts'

const forgetTag = (directory: string, wanted: ForgetOrder) => forgetTagIn(directory, IN_THE_CLEAR, wanted)

const order = (tag: ForgetOrder['tag'], isTrial = false): ForgetOrder => ({ tag, isTrial })

function record(id: string, payload: object, request_type: RequestType = 'inference', references: readonly string[] = []): NewRecord {
  const row = { agent_record_id: id, request_type, created_at: 1, references, artifact_ref: null, score: null }
  return { ...row, payload: Buffer.from(JSON.stringify(payload)) }
}

/** Long, and the same at the beginning, so that one is stored against the other. */
const STORY = Array.from({ length: 6000 }, (_, at) => `word${(at * 7919) % 10_007}`).join(' ')
const said = (user: string, words: string): object => ({
  messages: [{ role: 'user', content: `${STORY} ${words}` }],
  metadata: { tags: { user } },
})

/** Two people in one scenario, the body of the second stored against that of the first; and a scenario that was archived. */
async function filled(): Promise<string> {
  const directory = temporaryFolder()
  const store = await open(directory, { capacityBytes: 64 * 1024 * 1024 })
  const [live, old] = [await create(store, 'live'), await create(store, 'old')]
  await live.append([record('a1', said('anna-77', 'violet'))])
  await live.append([record('b1', said('bert-88', 'orange'))])
  await live.append([record('a2', said('anna-77', 'violet again')), record('plain', { messages: [] })])
  await live.append([
    record('ra', { feedback: 'violet was right' }, 'report', ['a1']),
    record('rb', { feedback: 'orange' }, 'report', ['b1']),
  ])
  await live.commit({ ...commit(1, ['a1']), metrics: { note: 'kept' } })
  await old.append([record('a3', said('anna-77', 'violet once')), record('b3', said('bert-88', 'orange once'))])
  await store.archive('old')
  await store.close()
  return directory
}

const allBytes = (directory: string): string =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name)).toString('latin1'))
    .join('\n')

describe('forgetting', () => {
  it('counts in a trial and removes nothing', async () => {
    const directory = await filled()
    const ids = [
      { scenario: 'live', agent_record_id: 'a1', sequence: 1 },
      { scenario: 'live', agent_record_id: 'a2', sequence: 3 },
      { scenario: 'live', agent_record_id: 'ra', sequence: 5 },
      { scenario: 'old', agent_record_id: 'a3', sequence: 1 },
    ]
    const counted = { records: 3, reports: 1, ids, rewritten: 0, scenarios: ['live', 'old'], places: [] }
    assert.deepEqual(forgetTag(directory, order(['user', 'anna-77'], true)), counted)
    assert.deepEqual(forgetTag(directory, order(['user', 'anna-77'], true)), counted)
    assert.deepEqual(forgetTag(directory, order(['user', 'nobody'], true)), { ...counted, records: 0, reports: 0, ids: [], scenarios: [] })
  })

  it('leaves nothing of the person in any file, and proves it', async () => {
    const directory = await filled()
    const { places, rewritten, ids: _ids, ...removed } = forgetTag(directory, order(['user', 'anna-77']))
    assert.deepEqual(removed, { records: 3, reports: 1, scenarios: ['live', 'old'] })
    assert.ok(rewritten >= 2, 'what was stored against it was written anew')
    assert.deepEqual(
      places.filter(({ found }) => found > 0),
      [],
    )
    assert.ok(places.length >= 12, 'every file was looked at')
    for (const word of ['anna-77', 'violet']) assert.ok(!allBytes(directory).includes(word), word)
    assert.deepEqual(forgetTag(directory, order(['user', 'anna-77'])).records, 0)
  })

  it('leaves what others said as it was, and the order whole', async () => {
    const directory = await filled()
    forgetTag(directory, order(['user', 'anna-77']))
    const store = await open(directory, { capacityBytes: 64 * 1024 * 1024 })
    const live = store.scenario('live')
    assert.deepEqual(await store.verify(() => undefined), [])
    assert.deepEqual(JSON.parse(Buffer.from((await live.get('b1'))?.payload ?? []).toString()), said('bert-88', 'orange'))
    assert.deepEqual(
      (await live.records({ after: 0, limit: 10 })).map((row) => row.agent_record_id),
      ['a1', 'b1', 'a2', 'plain', 'ra', 'rb'],
    )
    assert.equal((await live.get('a1'))?.payload, null)
    assert.deepEqual((await live.get('ra'))?.references, [])
    // It does not come back by a retry.
    await assertRefused('conflict', 'record_conflict', live.append([record('a1', said('anna-77', 'violet'))]))
    await live.append([record('new', said('bert-88', 'orange and more'))])
    assert.deepEqual(await store.verify(() => undefined), [])
  })

  it('leaves no freed pages of an eviction or of a run that was killed before it wrote the file anew', async () => {
    const directory = await filled()
    change(directory, `CREATE TABLE gone AS SELECT '${'violet '.repeat(20_000)}' AS said; DROP TABLE gone`)
    assert.ok(allBytes(directory).includes('violet violet'))
    const { records, places } = forgetTag(directory, order(['user', 'nobody']))
    assert.deepEqual([records, places.filter(({ found }) => found > 0)], [0, []])
    assert.ok(!allBytes(directory).includes('violet violet'))
  })

  it('finds a tag however it was sent, and none that only begins alike', async () => {
    const directory = temporaryFolder()
    const store = await open(directory)
    const live = await create(store, 'live')
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`t${at}`, 'x']))
    const deep = `{"metadata":{"tags":{"user":"7"}},"messages":${'['.repeat(50_000)}${']'.repeat(50_000)}}`
    const [long, longer] = ['7'.repeat(2000), '7'.repeat(2001)]
    await live.append([
      record('capital', { metadata: { tags: { User: '7' } } }),
      record('number', { metadata: { tags: { user: 7 } } }),
      record('last of many', { metadata: { tags: { ...many, user: '7' } } }),
      record('beside', { metadata_tags: { other: 'x' }, metadata: { tags: { user: '7' } } }),
      { ...record('deep', {}), payload: Buffer.from(deep) },
      record('asked', { text: 'x', session: '7' }, 'train'),
      record('77', { metadata: { tags: { user: '77' } } }),
      record('long', { metadata: { tags: { user: longer } } }),
      { ...record('no object', {}), payload: Buffer.from('[7]') },
    ])
    await store.close()
    assert.deepEqual(forgetTag(directory, order(['user', '7'])).records, 5)
    assert.deepEqual(forgetTag(directory, order(['user', long])).records, 0)
    assert.deepEqual(forgetTag(directory, order(['session', '7'])).records, 1)
    const left = rowsOf(directory, 'SELECT agent_record_id AS id FROM record WHERE age IS NOT NULL ORDER BY sequence')
    assert.deepEqual(left, [{ id: '77' }, { id: 'long' }, { id: 'no object' }])
  })

  it('is not stopped by a damaged body, and says that its tags could not be read', async () => {
    const directory = await filled()
    change(directory, `UPDATE body SET checksum = randomblob(32) WHERE age = (SELECT age FROM record WHERE agent_record_id = 'b1')`)
    const { records, places } = forgetTag(directory, order(['user', 'anna-77']))
    const damaged = { place: 'records.sqlite3', searched: 'bodies that are damaged, so that their tags cannot be read', found: 1 }
    assert.deepEqual([records, places.filter(({ found }) => found > 0)], [3, [damaged]])
  })

  it('finds records of a session whose bodies are gone, and refuses a store that is in use or not there', async () => {
    const directory = temporaryFolder()
    const store = await open(directory, { capacityBytes: 10 })
    const live = await create(store, 'live')
    await live.append([{ ...record('a1', { text: 'x'.repeat(1000) }), summary: { latency_ms: 1, session: 's-9' } }])
    assert.throws(() => forgetTag(directory, order(['session', 's-9'])), { code: 'store_in_use' })
    await store.close()
    assert.equal(forgetTag(directory, order(['session', 's-9'])).records, 1)
    assert.deepEqual(rowsOf(directory, 'SELECT summary FROM record'), [{ summary: null }])
    assert.throws(() => forgetTag(temporaryFolder(), order(['user', 'x'])), { code: 'no_store' })
  })
})

const asked = (user: string, content: string): object => ({ messages: [{ role: 'user', content }], metadata: { tags: { user } } })
/** It does not compress, so that what is left of it is found in the bytes of the file. */
const noise = (at: number): string => randomBytes(20 + ((at * 7919) % 1200)).toString('base64')

const opened = (directory: string) => open(directory, { capacityBytes: 64 * 1024 * 1024 })

const forgotten = async (directory: string, isTrial = false) => {
  const store = await opened(directory)
  const found = await store.forget?.(order(['user', 'anna-77'], isTrial))
  assert.ok(found !== undefined)
  return { store, found }
}

describe('forgetting while the store is open', () => {
  it('counts in a trial as a stopped store does', async () => {
    const directory = await filled()
    const { store, found } = await forgotten(directory, true)
    await store.close()
    assert.deepEqual(found, forgetTag(directory, order(['user', 'anna-77'], true)))
  })

  it('leaves nothing of the person in any file, and what others said as it was', async () => {
    const directory = await filled()
    const { store, found } = await forgotten(directory)
    const { places, rewritten, ids, ...removed } = found
    assert.deepEqual([removed, ids.length], [{ records: 3, reports: 1, scenarios: ['live', 'old'] }, 4])
    assert.ok(rewritten >= 2, 'what was stored against it was written anew')
    assert.deepEqual(
      places.filter((place) => place.found > 0),
      [],
    )
    // Before it is closed: nothing waits for that.
    for (const word of ['anna-77', 'violet']) assert.ok(!allBytes(directory).includes(word), word)
    const live = store.scenario('live')
    assert.deepEqual(JSON.parse(Buffer.from((await live.get('b1'))?.payload ?? []).toString()), said('bert-88', 'orange'))
    await live.append([record('new', said('bert-88', 'orange and more'))])
    assert.deepEqual(await store.verify(() => undefined), [])
    await assertRefused('conflict', 'record_conflict', live.append([record('a1', said('anna-77', 'violet'))]))
    assert.deepEqual((await store.forget?.(order(['user', 'anna-77'])))?.records, 0)
  })

  it('removes the words from the search, which finds those of others again', async () => {
    const directory = temporaryFolder()
    const store = await open(directory)
    const live = await create(store, 'live')
    await live.append([record('a1', asked('anna-77', 'violet')), record('b1', asked('bert-88', 'orange'))])
    const found = async (text: string): Promise<number> =>
      (await live.search?.find({ text, before: Number.MAX_SAFE_INTEGER, limit: 5 }))?.rows.length ?? 0
    await vi.waitFor(async () => assert.equal(await found('violet'), 1), 10_000)
    const places = (await store.forget?.(order(['user', 'anna-77'])))?.places
    assert.deepEqual(
      places?.find(({ place }) => place === 'search.sqlite3'),
      { place: 'search.sqlite3', searched: 'bytes in the search index', found: 0 },
    )
    await vi.waitFor(async () => assert.equal(await found('orange'), 1), 10_000)
    assert.equal(await found('violet'), 0)
    assert.ok(!allBytes(directory).includes('violet'))
  })

  it('finds what comes in meanwhile, refuses no append, and counts the bytes that are kept', async () => {
    const directory = await filled()
    const store = await opened(directory)
    const live = store.scenario('live')
    const appending = Array.from({ length: 40 }, (_, at) => live.append([record(`later-${at}`, said('bert-88', `orange ${at}`))]))
    const [found] = await Promise.all([store.forget?.(order(['user', 'anna-77'])), ...appending])
    assert.equal(found?.records, 3)
    assert.deepEqual(await store.verify(() => undefined), [])
    await store.close()
    const [kept] = rowsOf(directory, `SELECT body_bytes AS counted, (SELECT sum(length(payload)) FROM body) AS stored FROM scenario`)
    assert.ok(typeof kept === 'object' && kept !== null && 'counted' in kept && 'stored' in kept)
    assert.equal(kept.counted, kept.stored)
  })

  it('names freed pages that an older version left as they were', async () => {
    const directory = await filled()
    change(directory, `CREATE TABLE gone AS SELECT '${'violet '.repeat(20_000)}' AS said; DROP TABLE gone`)
    const { found } = await forgotten(directory)
    const left = found.places.find((place) => place.found > 0)
    assert.equal(left?.searched, 'pages that were freed and not overwritten')
  })

  it('removes nothing of others among three hundred records, and leaves nothing of the person in the bytes of the file', async () => {
    const directory = temporaryFolder()
    const store = await opened(directory)
    const live = await create(store, 'live')
    const people = Array.from({ length: 300 }, (_, at) => ({ id: `r${at}`, user: `u${(at * 31) % 10}`, words: noise(at) }))
    for (const { id, user, words } of people) await live.append([record(id, { words, metadata: { tags: { user } } })])
    await store.forget?.(order(['user', 'u3']))
    const bytes = allBytes(directory)
    for (const { id, user, words } of people) {
      const kept = (await live.get(id))?.payload ?? null
      assert.equal(kept === null, user === 'u3')
      if (user === 'u3') assert.ok(!bytes.includes(words.slice(0, 24)), 'its words are in no page')
    }
  })
})
