/** What goes for its age goes from every file of the store, and what was stored against it reads as before. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import { bytes, record } from '../../../../conformance/store-samples.ts'
import type { ScenarioStore } from '../../../../src/contract/index.ts'
import { openForReading } from '../open.ts'
import { openForIndexing } from '../search/file.ts'
import { makeIndexing } from '../search/indexing.ts'
import { fresh, open, rowsOf } from '../testing/stores.ts'

/** Long, and the same at the beginning, so that one is stored against the other. */
const STORY = Array.from({ length: 6000 }, (_, at) => `word${(at * 7919) % 10_007}`).join(' ')
const said = (id: string, created_at: number, words: string) =>
  record(id, { created_at, payload: bytes(JSON.stringify({ prompt: `${words} ${STORY} ${words}` })) })
const later = (id: string, created_at: number, words: string) =>
  record(id, { created_at, payload: bytes(JSON.stringify({ prompt: `${STORY} ${words}` })) })

async function expireAll(scenario: ScenarioStore, madeBefore: number): Promise<void> {
  for (let below: number | null = Number.MAX_SAFE_INTEGER; below !== null;)
    below = (await scenario.expire?.({ madeBefore, below }))?.next ?? null
}

/** As its thread does, until nothing is left to do. */
function indexAll(directory: string): void {
  const [records, index] = [openForReading(directory), openForIndexing(directory)]
  const indexing = makeIndexing(index, records)
  while (indexing.turn());
  index.close()
  records.close()
}

const filesWith = (directory: string, word: string): readonly string[] =>
  readdirSync(directory).filter((name) => readFileSync(join(directory, name)).includes(word))

describe('a body that expired', () => {
  it('is in no file of the store once it is closed, nor are its words in the index of the search', async () => {
    const { directory, store, scenario } = await fresh({ capacityBytes: 64 * 1024 * 1024, isSearched: false })
    await scenario.append([said('old', 10, 'zyxwvioletq'), record('small', { created_at: 10, payload: bytes('{"prompt":"qqvermilion"}') })])
    await scenario.append([record('new', { created_at: 30, payload: bytes('{"prompt":"xxturquoise"}') })])
    indexAll(directory)
    assert.deepEqual(filesWith(directory, 'vermilion'), ['records.sqlite3-wal', 'search.sqlite3'])
    await expireAll(scenario, 20)
    indexAll(directory)
    await store.close()
    assert.deepEqual([filesWith(directory, 'zyxwvioletq'), filesWith(directory, 'vermilion')], [[], []])
    assert.deepEqual(filesWith(directory, 'turquoise'), ['records.sqlite3', 'search.sqlite3'])
  })

  it('leaves those that were stored against it as they were', async () => {
    const { directory, store, scenario } = await fresh({ capacityBytes: 64 * 1024 * 1024 })
    const records = [later('old', 10, 'one'), later('second', 30, 'two'), later('third', 30, 'three')]
    for (const each of records) await scenario.append([each])
    assert.notDeepEqual(rowsOf(directory, 'SELECT 1 FROM body_base'), [])
    await expireAll(scenario, 20)
    assert.equal((await scenario.get('old'))?.payload, null)
    assert.deepEqual(rowsOf(directory, 'SELECT 1 FROM body_base d LEFT JOIN body b ON b.age = d.base WHERE b.age IS NULL'), [])
    for (const { agent_record_id: id, payload } of records.slice(1))
      assert.deepEqual(Buffer.from((await scenario.get(id))?.payload ?? []), Buffer.from(payload))
    const { body_bytes: taken } = await store.usage()
    assert.deepEqual(rowsOf(directory, 'SELECT sum(length(payload)) AS taken FROM body'), [{ taken }])
    assert.deepEqual(await store.verify(() => undefined), [])
    await store.close()
    assert.equal((await (await open(directory)).scenario('a').get('second'))?.payload?.byteLength, records[1]?.payload.byteLength)
  })
})
