/** Store conformance for the search. What was appended may be found a little later, so each test waits until nothing is waiting. */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject, NewRecord, RecordSearch, ScenarioStore, SearchQuery } from '../src/contract/index.ts'
import { bytes, counted, create, evicted, over, record, type StoreSuite } from './store-samples.ts'
import { assertRefused } from './support.ts'

const LOOK_AGAIN_MS = 10
/** Deeper than a recursive walk can go, and not too large to be kept. */
const DEEPER = `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`
const ALL = { before: Number.MAX_SAFE_INTEGER, limit: 100 } as const

export function describeSearch(suite: StoreSuite): void {
  const test = over(suite)
  const canSearch = suite.canSearch === true
  test(canSearch ? 'every scenario can be searched' : 'a store that cannot search says so by the absence of it', async ({ a }) => {
    assert.equal(a.search !== undefined, canSearch)
  })
  if (!canSearch) return
  describeWords(suite)
  describeFields(suite)
  describePages(suite)
  describeRemoval(suite)
}

function describeWords(suite: StoreSuite): void {
  const test = over(suite)
  test('words are found in what was asked last and in the answer, whatever their case and accents', async ({ a }) => {
    await a.append([said('1', 'Where is my CAFÉ order?', 'It was refunded.'), said('2', 'Hello', 'Hi')])
    for (const text of ['cafe', 'REFUNDED order', '"was refunded"', 'refund*', 'order -hello'])
      assert.deepEqual(await found(a, { text }), [1], text)
    for (const text of ['"refunded was"', 'refund', 'order hello', 'order -refunded']) assert.deepEqual(await found(a, { text }), [], text)
    assert.deepEqual(await found(a, { text: '-order' }), [2])
  })
  test('words of scripts without spaces are found too', async ({ a }) => {
    await a.append([said('1', '今天天气很好', 'はい、そうです'), said('2', '天好', '')])
    assert.deepEqual(await found(a, { text: '天气' }), [1])
    assert.deepEqual(await found(a, { text: 'そう' }), [1])
    assert.deepEqual(await found(a, { text: '天' }), [2, 1])
  })
  test('no text means anything but its words', async ({ a }) => {
    await a.append([said('1', 'plain words', '')])
    for (const text of [
      'input:plain',
      'plain" OR "x',
      'plain) OR (x',
      'NEAR(plain words)',
      "plain'; DROP TABLE words; --",
      'plain AND',
      '{input}: plain',
    ])
      assert.ok(Array.isArray(await found(a, { text })), text)
    assert.deepEqual(await found(a, { text: 'plain "words' }), [1])
  })
  test('reports are found by their feedback, instructions by their text', async ({ a }) => {
    await a.append([said('1', 'question', 'answer')])
    await a.append([
      record('2', { request_type: 'report', references: ['1'], payload: body({ feedback: 'far too long' }) }),
      record('3', { request_type: 'train', payload: body({ text: 'be brief' }) }),
    ])
    assert.deepEqual(await found(a, { text: '"too long"' }), [2])
    assert.deepEqual(await found(a, { text: 'brief' }), [3])
    assert.deepEqual(await found(a, { quotes: '1' }), [2])
    assert.deepEqual(await found(a, { type: 'train' }), [3])
  })
  test('a body that nothing can be read of harms no other', async ({ a }) => {
    await a.append([record('1', { payload: bytes(DEEPER) }), record('2', { payload: bytes('{"messages":7}') }), said('3', 'after', '')])
    assert.deepEqual(await found(a, { text: 'after' }), [3])
    assert.deepEqual(await found(a, {}), [3, 2, 1])
  })
}

function describeFields(suite: StoreSuite): void {
  const test = over(suite)
  test('model, release, status, tags and time narrow it, all that are given together', async ({ a }) => {
    const served = { latency_ms: 1 }
    await a.append([
      said('1', 'x', 'y', { created_at: 10, artifact_ref: 'r1', summary: { ...served, model: 'small' } }, { session: 's', user: 'u' }),
      said('2', 'x', 'y', { created_at: 20, artifact_ref: 'r2', summary: { ...served, model: 'large' } }, { session: 's' }),
      said('3', 'x', 'y', { created_at: 30, artifact_ref: 'r2', summary: { ...served, model: 'large', complete: false } }),
    ])
    assert.deepEqual(await found(a, { model: 'large' }), [3, 2])
    assert.deepEqual(await found(a, { release: 'r1' }), [1])
    assert.deepEqual(await found(a, { status: 'broken_off' }), [3])
    assert.deepEqual(await found(a, { status: 'complete' }), [2, 1])
    assert.deepEqual(await found(a, { tags: [['session', 's']] }), [2, 1])
    assert.deepEqual(
      await found(a, {
        tags: [
          ['session', 's'],
          ['user', 'u'],
        ],
      }),
      [1],
    )
    assert.deepEqual(await found(a, { since: 20, until: 30 }), [3, 2])
    assert.deepEqual(await found(a, { since: 20, until: 20 }), [2])
    assert.deepEqual(
      await found(a, { text: 'x', model: 'large', release: 'r2', status: 'complete', tags: [['session', 's']], since: 15 }),
      [2],
    )
    assert.deepEqual(await found(a, { model: 'larg' }), [])
  })
  test('a score is the own one, or that of the newest report that quotes the record', async ({ a }) => {
    await a.append([said('1', 'x', 'y'), said('2', 'x', 'y', { score: 0.5 }), said('3', 'x', 'y')])
    await a.append([record('4', { request_type: 'report', references: ['1', '2'], score: 1, payload: body({ score: 1 }) })])
    assert.deepEqual(await found(a, { type: 'inference', scoreMin: 0 }), [2, 1])
    await a.append([record('5', { request_type: 'report', references: ['1'], score: 0, payload: body({ score: 0 }) })])
    assert.deepEqual(await found(a, { type: 'inference', scoreMax: 0.1 }), [1])
    assert.deepEqual(await found(a, { text: 'x', scoreMin: 0.4, scoreMax: 0.6 }), [2])
    const excerpts = await searchOf(a).excerpts([1, 2, 3])
    assert.deepEqual(
      [1, 2, 3].map((sequence) => excerpts.get(sequence)?.score),
      [0, 0.5, undefined],
    )
  })
  test('what is found has its first words and its tags', async ({ a }) => {
    await a.append([said('1', 'one\n two', 'three', {}, { user: 'u' })])
    await found(a, {})
    const [row] = (await searchOf(a).find(ALL)).rows
    assert.deepEqual(row?.excerpt, { input: 'one two', output: 'three', tags: { user: 'u' } })
    assert.equal(row?.agent_record_id, '1')
  })
  test('first words are known as soon as a record is stored', async ({ a }) => {
    await a.append([said('1', 'one', 'two')])
    const excerpts = await searchOf(a).excerpts([1, 2])
    assert.deepEqual([...excerpts], [[1, { input: 'one', output: 'two', tags: {} }]])
  })
}

function describePages(suite: StoreSuite): void {
  const test = over(suite)
  test('pages go back from the newest, to the end and without gaps', async ({ a }) => {
    await a.append(counted(250).map((index) => said(`r${index}`, index % 2 === 0 ? 'even' : 'odd', '')))
    await found(a, {})
    const sequences: number[] = []
    for (let before: number | null = ALL.before; before !== null;) {
      const page = await searchOf(a).find({ text: 'even', before, limit: 40 })
      sequences.push(...page.rows.map((row) => row.sequence))
      before = page.next
    }
    assert.deepEqual(
      sequences,
      counted(125).map((index) => 252 - 2 * index),
    )
  })
  test('scenarios are searched apart, and one that does not exist holds nothing', async ({ store, a, b }) => {
    await a.append([said('1', 'mine', '')])
    await b.append([said('1', 'yours', '')])
    assert.deepEqual(await found(a, { text: 'yours' }), [])
    assert.deepEqual(await found(b, { text: 'yours' }), [1])
    assert.deepEqual(await searchOf(store.scenario('none')).find(ALL), { rows: [], next: null, waiting: 0 })
    assert.equal((await searchOf(store.scenario('none')).excerpts([1])).size, 0)
  })
  if (!suite.isLasting) return
  test('what was stored before closing is found after opening again', async ({ a, reopen }) => {
    await a.append(counted(50).map((index) => said(`r${index}`, `number ${index}`, '')))
    const again = (await reopen()).scenario('a')
    assert.deepEqual(await found(again, { text: '"number 7"' }), [7])
    await again.append([said('new', 'number 7', '')])
    assert.deepEqual(await found(again, { text: '"number 7"' }), [51, 7])
  })
}

function describeRemoval(suite: StoreSuite): void {
  const test = over(suite)
  test('an archived scenario is found no longer, also not under its name', async ({ store, a, b }) => {
    await a.append([said('1', 'secret', '')])
    await b.append([said('1', 'secret', '')])
    assert.deepEqual(await found(a, { text: 'secret' }), [1])
    await store.archive('a')
    assert.deepEqual(await found(a, { text: 'secret' }), [])
    const anew = await create(store, 'a')
    await anew.append([said('other', 'public', '')])
    assert.deepEqual(await found(anew, { text: 'secret' }), [])
    assert.deepEqual(await found(anew, { text: 'public' }), [1])
    assert.deepEqual(await found(b, { text: 'secret' }), [1])
  })
  over(suite, 300)('an evicted record is found no longer', async ({ store, a }) => {
    await a.append([said('1', 'early', '')])
    assert.deepEqual(await found(a, { text: 'early' }), [1])
    await a.append(counted(8).map((index) => said(`r${index}`, 'late', '')))
    await evicted(store)
    assert.deepEqual(await found(a, { text: 'early' }), [])
    assert.equal((await searchOf(a).excerpts([1])).has(1), false)
    assert.notEqual((await found(a, { text: 'late' })).length, 0)
  })
  test('a closed store refuses', async ({ store, a }) => {
    await store.close()
    await assertRefused('unavailable', 'store_closed', searchOf(a).find(ALL))
  })
}

function searchOf({ search }: ScenarioStore): RecordSearch {
  assert.ok(search !== undefined, 'the scenario cannot be searched')
  return search
}

/** The sequences of a page, once all that was appended can be found. */
async function found(scenario: ScenarioStore, query: Partial<SearchQuery>): Promise<number[]> {
  const search = searchOf(scenario)
  for (;;) {
    const { rows, waiting } = await search.find({ ...ALL, ...query })
    if (waiting === 0) return rows.map((row) => row.sequence)
    await sleep(LOOK_AGAIN_MS)
  }
}

function said(id: string, input: string, output: string, change: Partial<NewRecord> = {}, tags: JsonObject = {}): NewRecord {
  const response = { object: 'chat.completion', choices: [{ message: { role: 'assistant', content: output } }] }
  const metadata = Object.keys(tags).length > 0 && { metadata: { tags } }
  return record(id, { payload: body({ messages: [{ role: 'user', content: input }], ...metadata, response }), ...change })
}

const body = (payload: JsonObject): Uint8Array => bytes(JSON.stringify(payload))
