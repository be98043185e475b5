/** Store conformance for capacity, age, archiving and closing. */
import assert from 'node:assert/strict'
import type { Expired, Losses, ScenarioStore } from '../src/contract/index.ts'
import { bytes, counted, create, DEEP, evicted, over, plain, record, sequences, settled, steps, ten } from './store-samples.ts'
import type { StoreSuite } from './store-samples.ts'
import { assertRefused } from './support.ts'

export function describeCapacity(suite: StoreSuite): void {
  const each = 10 + (suite.addedBytes ?? 0)
  const test = over(suite, 3 * each)
  test('the oldest bodies of all scenarios go first, and their rows stay', async ({ store, a, b }) => {
    await a.append([ten('1')])
    await b.append([ten('1')])
    await a.append([ten('2'), ten('3'), ten('4')])
    await evicted(store)
    assert.equal((await a.get('1'))?.payload, null)
    assert.equal((await b.get('1'))?.payload, null)
    assert.equal(plain(await a.get('2'))?.payload, '{"ten":10}')
    assert.deepEqual(sequences(await a.records({ after: 0, limit: 10 })), [1, 2, 3, 4])
    assert.equal((await b.types(['1'])).get('1'), 'inference')
    assert.deepEqual(await store.verify(() => undefined), [])
  })
  test('what was lost is counted by scenario and in all, and reported', async ({ store, a, b }) => {
    const reported = new Map<string, Losses>()
    store.onLoss((scenario, lost) => {
      const before = reported.get(scenario) ?? { records: 0, bytes: 0 }
      reported.set(scenario, { records: before.records + lost.records, bytes: before.bytes + lost.bytes })
    })
    await a.append([ten('1'), ten('2')])
    await b.append([ten('1'), ten('2'), ten('3'), ten('4')])
    await evicted(store)
    assert.deepEqual(await a.losses(), { records: 2, bytes: 2 * each })
    assert.deepEqual(await b.losses(), { records: 1, bytes: each })
    const { records, body_bytes, capacity_bytes, lost_records, lost_bytes } = await store.usage()
    assert.deepEqual([records, body_bytes, capacity_bytes, lost_records, lost_bytes], [6, 3 * each, 3 * each, 3, 3 * each])
    assert.deepEqual(Object.fromEntries(reported), { a: { records: 2, bytes: 2 * each }, b: { records: 1, bytes: each } })
  })
  test('an evicted record still answers an identical retry and refuses another', async ({ store, a }) => {
    const { rows } = await a.append([record('old', { payload: bytes('{"a":1,"b":22}') })])
    await a.append([ten('1'), ten('2'), ten('3')])
    await evicted(store)
    assert.deepEqual((await a.append([record('old', { created_at: 9, payload: bytes('{"b":22,"a":1}') })])).rows, rows)
    await assertRefused('conflict', 'record_conflict', a.append([record('old', { payload: bytes('{"a":1,"b":23}') })]))
    assert.equal((await a.get('old'))?.payload, null)
  })
  test('a body larger than all capacity is taken in and evicted', async ({ store, a }) => {
    const large = record('large', { payload: bytes(`{"a":"${'x'.repeat(4 * each)}"}`) })
    assert.deepEqual(sequences(await a.append([large])), [1])
    await evicted(store)
    assert.equal((await a.get('large'))?.payload, null)
    assert.deepEqual(sequences(await a.append([large])), [1])
  })
  test('a deeply nested body is evicted like any other', async ({ store, a }) => {
    const deep = record('deep', { payload: bytes(DEEP) })
    await a.append([deep])
    await evicted(store)
    assert.deepEqual(sequences(await a.append([deep])), [1])
    assert.deepEqual(sequences(await a.append([ten('1')])), [2])
  })
  if (!suite.isLasting) return
  test('losses, and what an evicted record was, survive closing and opening again', async ({ store, a, reopen }) => {
    await a.append([ten('1'), ten('2'), ten('3'), ten('4')])
    await evicted(store)
    const reopened = await reopen()
    const again = reopened.scenario('a')
    assert.deepEqual(await again.losses(), { records: 1, bytes: each })
    assert.deepEqual(sequences(await again.append([ten('1')])), [1])
    await assertRefused('conflict', 'record_conflict', again.append([record('1')]))
    assert.equal((await reopened.usage()).body_bytes, 3 * each)
  })
}

const madeAt = (id: string, created_at: number) => record(id, { created_at, payload: bytes('{"ten":10}') })

export function describeExpiry(suite: StoreSuite): void {
  const each = 10 + (suite.addedBytes ?? 0)
  const test = over(suite)
  test('bodies that were made before a time go, in whatever order they came, and their rows stay', async ({ store, a, b }) => {
    if (a.expire === undefined) return
    await a.append([madeAt('1', 10), madeAt('2', 30), madeAt('3', 5), madeAt('4', 20)])
    await b.append([madeAt('1', 10)])
    assert.deepEqual(await expireAll(a, 20), { records: 2, bytes: 2 * each })
    assert.deepEqual(await Promise.all(['1', '2', '3', '4'].map(async (id) => plain(await a.get(id))?.payload)), [
      null,
      '{"ten":10}',
      null,
      '{"ten":10}',
    ])
    assert.equal(plain(await b.get('1'))?.payload, '{"ten":10}')
    assert.deepEqual(sequences(await a.records({ after: 0, limit: 10 })), [1, 2, 3, 4])
    assert.deepEqual(await store.verify(() => undefined), [])
  })
  test('what expired is counted apart from what capacity took, and once', async ({ store, a }) => {
    if (a.expire === undefined) return
    await a.append([madeAt('1', 10), madeAt('2', 10), madeAt('3', 30)])
    await expireAll(a, 20)
    assert.deepEqual(await expireAll(a, 20), { records: 0, bytes: 0 })
    const { body_bytes, lost_records, expired_records, expired_bytes } = await store.usage()
    assert.deepEqual([body_bytes, lost_records, expired_records, expired_bytes], [each, 0, 2, 2 * each])
    assert.deepEqual(await a.losses(), { records: 0, bytes: 0 })
  })
  test('an expired record still answers an identical retry and refuses another', async ({ a }) => {
    if (a.expire === undefined) return
    const { rows } = await a.append([madeAt('1', 10)])
    await expireAll(a, 20)
    assert.deepEqual((await a.append([madeAt('1', 40)])).rows, rows)
    await assertRefused('conflict', 'record_conflict', a.append([record('1', { payload: bytes('{"ten":11}') })]))
  })
  test('a scenario of many records expires a few with each call, and the appends between are kept', async ({ a }) => {
    if (a.expire === undefined) return
    for (const round of counted(3)) await a.append(counted(1000).map((index) => madeAt(`${round} ${index}`, 10)))
    const first = await a.expire({ madeBefore: 20, below: Number.MAX_SAFE_INTEGER })
    assert.ok(first.records > 0 && first.records < 3000)
    await a.append([madeAt('between', 30)])
    assert.equal((await expireAll(a, 20)).records, 3000 - first.records)
    assert.equal(plain(await a.get('between'))?.payload, '{"ten":10}')
  })
  test('a scenario that is not there has nothing to expire', async ({ store, a }) => {
    if (a.expire === undefined) return
    await a.append([madeAt('1', 10)])
    await store.archive('a')
    assert.deepEqual(await a.expire({ madeBefore: 20, below: 10 }), { records: 0, bytes: 0, next: null })
  })
  if (!suite.isLasting) return
  test('what expired stays so after closing and opening again', async ({ a, reopen }) => {
    if (a.expire === undefined) return
    await a.append([madeAt('1', 10)])
    await expireAll(a, 20)
    const reopened = await reopen()
    assert.equal((await reopened.scenario('a').get('1'))?.payload, null)
    assert.equal((await reopened.usage()).expired_records, 1)
  })
}

async function expireAll(scenario: ScenarioStore, madeBefore: number): Promise<Losses> {
  const all = { records: 0, bytes: 0 }
  for (let below: number | null = Number.MAX_SAFE_INTEGER; below !== null;) {
    const expired: Expired | undefined = await scenario.expire?.({ madeBefore, below })
    assert.ok(expired)
    all.records += expired.records
    all.bytes += expired.bytes
    below = expired.next
  }
  return all
}

export function describeArchiving(suite: StoreSuite): void {
  const test = over(suite)
  test('an archived scenario is gone from every list and its name is free', async ({ store, a, b }) => {
    await a.append([record('1')])
    await b.append([record('1')])
    const archive = await store.archive('a')
    assert.notEqual(archive, '')
    assert.deepEqual(await store.scenarios(), ['b'])
    assert.equal(await a.get('1'), null)
    await assertRefused('unknown', 'unknown_scenario', a.append([record('2')]))
    await create(store, 'a')
    assert.deepEqual(sequences(await a.append([record('1', { artifact_ref: 'other' })])), [1])
    assert.deepEqual(steps(await a.commits({ after: -1, limit: 10 })), [0])
    assert.deepEqual(sequences(await b.records({ after: 0, limit: 10 })), [1])
    assert.deepEqual(await store.verify(() => undefined), [])
  })
  test('its records and bytes no longer count', async ({ store, a }) => {
    await a.append([record('1'), record('2')])
    await store.archive('a')
    const { records, body_bytes } = await store.usage()
    assert.deepEqual({ records, body_bytes }, { records: 0, body_bytes: 0 })
  })
  test('archiving what is not there, or twice at once, is refused as unknown', async ({ store }) => {
    await assertRefused('unknown', 'unknown_scenario', store.archive('none'))
    assert.deepEqual((await settled([store.archive('a'), store.archive('a')])).sort(), ['fulfilled', 'rejected'])
    await assertRefused('unknown', 'unknown_scenario', store.archive('a'))
  })
  test('the same name can be archived again and again', async ({ store, a }) => {
    const archives = new Set<string>()
    for (const round of counted(3)) {
      await a.append([record(`r${round}`)])
      archives.add(await store.archive('a'))
      await create(store, 'a')
    }
    assert.equal(archives.size, 3)
  })
  test('other scenarios take records meanwhile', async ({ store, a, b }) => {
    await a.append(counted(600).map((index) => record(`r${index}`)))
    const archived = store.archive('a')
    await b.append([record('1')])
    await archived
    await b.append([record('2')])
    assert.deepEqual(sequences(await b.records({ after: 0, limit: 10 })), [1, 2])
  })
}

export function describeClosing(suite: StoreSuite): void {
  const test = over(suite)
  test('closing twice is closing once, and a closed store refuses', async ({ store, a }) => {
    await Promise.all([store.close(), store.close()])
    await assertRefused('unavailable', 'store_closed', a.append([record('1')]))
    await assertRefused('unavailable', 'store_closed', a.get('1'))
  })
  if (!suite.isLasting) return
  test('what was accepted before closing is finished', async ({ a, reopen }) => {
    const appends = counted(50).map((index) => a.append([record(`r${index}`)]))
    const reopened = await reopen()
    await Promise.all(appends)
    assert.equal((await reopened.usage()).records, 50)
  })
}
