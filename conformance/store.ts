/** What every record store must do, as a suite that any test runner with `describe` and `it` can run. */
import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Refusal } from '../src/contract/index.ts'
import type { Commit, Losses, NewRecord, RecordRow, RefusalKind, ScenarioStore, Store } from '../src/contract/index.ts'

export interface StoreSuite {
  readonly describe: (name: string, body: () => void) => void
  readonly it: (name: string, body: () => Promise<void>) => void
  /** A store of its own, empty, that keeps so many bytes of bodies. */
  readonly make: (capacityBytes: number) => Store | Promise<Store>
  /** Closes the store and opens what it left behind. Absent for a store that lives in memory alone. */
  readonly reopen?: (store: Store) => Promise<Store>
}

const AMPLE_BYTES = 1024 * 1024
const ODD_IDS = ['a\0b', 'a\0c', 'é', 'e\u0301', '𝄞', ' a', 'a ', 'A', 'a', "a'b", 'a"b', 'a%', '__proto__', 'x'.repeat(256), '1', '1.0']
/** Deeper than a recursive walk can go. */
const DEEP = `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`

export function storeConformance(suite: StoreSuite): void {
  const { describe } = suite
  describe('scenarios', () => describeScenarios(suite))
  describe('appending', () => describeAppending(suite))
  describe('ids met again', () => describeIdentity(suite))
  describe('reading', () => describeReading(suite))
  describe('commits', () => describeCommits(suite))
  describe('capacity', () => describeCapacity(suite))
  describe('archiving', () => describeArchiving(suite))
  describe('closing', () => describeClosing(suite))
}

function describeScenarios(suite: StoreSuite): void {
  const test = over(suite)
  test('a handle makes nothing', async (store) => {
    store.scenario('a')
    assert.deepEqual(await store.scenarios(), [])
  })
  test('a scenario comes into being with its creation row', async (store) => {
    await create(store, 'b')
    await create(store, 'a')
    assert.deepEqual(await store.scenarios(), ['a', 'b'])
  })
  test('a scenario nobody created reads as empty', async (store) => {
    const scenario = store.scenario('nobody')
    assert.deepEqual(await scenario.records({ after: 0, limit: 10 }), [])
    assert.deepEqual(await scenario.commits({ after: -1, limit: 10 }), [])
    assert.deepEqual(await scenario.losses(), { records: 0, bytes: 0 })
    assert.equal(await scenario.get('a'), null)
    assert.equal((await scenario.types(['a'])).size, 0)
  })
  test('a scenario nobody created takes neither records nor later commits', async (store) => {
    await refused('unknown', 'unknown_scenario', store.scenario('nobody').append([record('a')]))
    await refused('unknown', 'unknown_scenario', store.scenario('nobody').commit(commit(1)))
    assert.deepEqual(await store.scenarios(), [])
  })
  test('names are compared exactly', async (store) => {
    for (const name of ['a', 'A', 'ä', 'a%']) await create(store, name)
    assert.deepEqual(await store.scenarios(), ['A', 'a', 'a%', 'ä'])
  })
}

function describeAppending(suite: StoreSuite): void {
  const test = over(suite)
  test('records are numbered 1, 2, 3 in the order they came, each scenario on its own', async (store) => {
    const [a, b] = [await create(store, 'a'), await create(store, 'b')]
    assert.deepEqual(sequences(await a.append([record('1'), record('2')])), [1, 2])
    assert.deepEqual(sequences(await b.append([record('1')])), [1])
    assert.deepEqual(sequences(await a.append([record('3')])), [3])
  })
  test('records appended side by side leave no gap and share no number', async (store) => {
    const scenario = await create(store, 'a')
    const rows = await Promise.all(Array.from({ length: 200 }, (_, index) => scenario.append([record(`r${index}`)])))
    assert.deepEqual(
      sequences(rows.flat()).sort((x, y) => x - y),
      Array.from({ length: 200 }, (_, index) => index + 1),
    )
  })
  test('the answer is the row as it is listed, and the body comes back byte by byte', async (store) => {
    const scenario = await create(store, 'a')
    const full = record('r', { request_type: 'report', references: ['x', 'y'], score: 0.25, payload: bytes('{ "b": 1,\n "a": "é𝄞" }') })
    const [row] = await scenario.append([full])
    const { payload, ...fields } = full
    assert.deepEqual(row, { sequence: 1, ...fields })
    assert.deepEqual(await scenario.records({ after: 0, limit: 10 }), [row])
    assert.deepEqual(plain(await scenario.get('r')), { ...row, payload: Buffer.from(payload).toString() })
  })
  test('a payload that is part of a larger buffer is stored alone', async (store) => {
    const scenario = await create(store, 'a')
    const whole = bytes('garbage{"a":1}garbage')
    await scenario.append([record('r', { payload: whole.subarray(7, 14) })])
    assert.equal(plain(await scenario.get('r'))?.payload, '{"a":1}')
  })
  test('bytes the caller reuses afterwards do not change the record', async (store) => {
    const scenario = await create(store, 'a')
    const payload = bytes('{"a":1}')
    await scenario.append([record('r', { payload })])
    payload.fill(0)
    assert.equal(plain(await scenario.get('r'))?.payload, '{"a":1}')
  })
  test('no records are no change', async (store) => {
    const scenario = await create(store, 'a')
    assert.deepEqual(await scenario.append([]), [])
    assert.deepEqual(sequences(await scenario.append([record('r')])), [1])
  })
  test('ids may hold anything and differ by every character', async (store) => {
    const scenario = await create(store, 'a')
    await scenario.append(ODD_IDS.map((id, index) => record(id, { payload: bytes(`{"n":${index}}`) })))
    for (const [index, id] of ODD_IDS.entries()) assert.equal(plain(await scenario.get(id))?.payload, `{"n":${index}}`)
    const rows = await scenario.records({ after: 0, limit: 100 })
    assert.deepEqual(
      rows.map((row) => row.agent_record_id),
      ODD_IDS,
    )
    assert.deepEqual([...(await scenario.types(ODD_IDS)).keys()], ODD_IDS)
  })
  test('a payload nested deeper than a stack reaches is kept, and known again', async (store) => {
    const scenario = await create(store, 'a')
    const deep = record('deep', { payload: bytes(DEEP) })
    await scenario.append([deep])
    assert.deepEqual(sequences(await scenario.append([deep])), [1])
    await refused('conflict', 'record_conflict', scenario.append([record('deep')]))
  })
}

function describeIdentity(suite: StoreSuite): void {
  const test = over(suite)
  test('the same content again answers the stored row and stores nothing', async (store) => {
    const scenario = await create(store, 'a')
    const [row] = await scenario.append([record('r', { created_at: 1, payload: bytes('{"a":1,"b":{"c":2,"d":3}}') })])
    const again = await scenario.append([record('r', { created_at: 9, payload: bytes('{"b":{"d":3,"c":2}, "a":1.0}') })])
    assert.deepEqual(again, [row])
    assert.equal((await store.usage()).records, 1)
  })
  const other: readonly (readonly [string, Partial<NewRecord>])[] = [
    ['payload', { payload: bytes('{"a":2}') }],
    ['type', { request_type: 'report' }],
    ['references', { references: ['x'] }],
    ['release', { artifact_ref: 'other' }],
  ]
  for (const [field, change] of other) {
    test(`another ${field} under a stored id is a conflict that names the id`, async (store) => {
      const scenario = await create(store, 'a')
      await scenario.append([record('r')])
      const refusal = await refused('conflict', 'record_conflict', scenario.append([record('r', change)]))
      assert.match(refusal.message, /"r"/)
      assert.deepEqual(plain(await scenario.get('r')), plain({ sequence: 1, ...record('r') }))
    })
  }
  test('one conflict refuses the whole call and leaves no gap', async (store) => {
    const scenario = await create(store, 'a')
    await scenario.append([record('1')])
    await refused('conflict', 'record_conflict', scenario.append([record('2'), record('1', { artifact_ref: 'other' }), record('3')]))
    assert.equal(await scenario.get('2'), null)
    assert.deepEqual(sequences(await scenario.append([record('3'), record('1'), record('2')])), [2, 1, 3])
  })
  test('a conflict does not touch the calls beside it', async (store) => {
    const scenario = await create(store, 'a')
    await scenario.append([record('0')])
    const calls = Array.from({ length: 30 }, (_, index) =>
      index % 3 === 0
        ? scenario.append([record(`x${index}`), record('0', { artifact_ref: 'other' })])
        : scenario.append([record(`r${index}`)]),
    )
    const settled = await Promise.allSettled(calls)
    assert.equal(settled.filter(({ status }) => status === 'rejected').length, 10)
    const rows = await scenario.records({ after: 0, limit: 100 })
    assert.deepEqual(
      sequences(rows),
      Array.from({ length: 21 }, (_, index) => index + 1),
    )
  })
  test('the same id twice in one call is one record, or a conflict', async (store) => {
    const scenario = await create(store, 'a')
    assert.deepEqual(sequences(await scenario.append([record('r'), record('r')])), [1, 1])
    await refused('conflict', 'record_conflict', scenario.append([record('s'), record('s', { artifact_ref: 'other' })]))
    assert.equal(await scenario.get('s'), null)
  })
  test("ids are a scenario's own", async (store) => {
    const [a, b] = [await create(store, 'a'), await create(store, 'b')]
    await a.append([record('r')])
    assert.deepEqual(sequences(await b.append([record('r', { payload: bytes('{"other":1}') })])), [1])
    assert.equal((await b.types(['r'])).get('r'), 'inference')
  })
}

function describeReading(suite: StoreSuite): void {
  const test = over(suite)
  test('pages walk every record once, of all types and of each', async (store) => {
    const scenario = await create(store, 'a')
    const types = ['inference', 'report', 'inference', 'train', 'report', 'inference', 'report'] as const
    await scenario.append(types.map((request_type, index) => record(`r${index}`, { request_type })))
    for (const type of [undefined, 'inference', 'report', 'train'] as const) {
      const seen: number[] = []
      for (let after = 0; ; after = seen.at(-1) ?? 0) {
        const page = await scenario.records({ after, limit: 2, ...(type === undefined ? {} : { type }) })
        if (page.length === 0) break
        seen.push(...sequences(page))
      }
      const expected = types.flatMap((each, index) => (type === undefined || each === type ? [index + 1] : []))
      assert.deepEqual(seen, expected)
    }
  })
  test('types answers for the ids that are stored and is silent about the rest', async (store) => {
    const scenario = await create(store, 'a')
    await scenario.append([record('i'), record('t', { request_type: 'train' })])
    assert.deepEqual(
      await scenario.types(['t', 'nobody', 'i']),
      new Map([
        ['t', 'train'],
        ['i', 'inference'],
      ]),
    )
  })
  test('usage counts records and the bytes of their bodies', async (store) => {
    const scenario = await create(store, 'a')
    await scenario.append([record('1', { payload: bytes('{"a":1}') }), record('2', { payload: bytes('{}') })])
    const usage = { records: 2, body_bytes: 9, capacity_bytes: AMPLE_BYTES, lost_records: 0, lost_bytes: 0 }
    assert.deepEqual(await store.usage(), usage)
  })
  test('a sound store verifies clean and tells how far it is', async (store) => {
    const scenario = await create(store, 'a')
    await scenario.append([record('1'), record('2')])
    const progress: string[] = []
    assert.deepEqual(await store.verify((checked, total) => progress.push(`${checked}/${total}`)), [])
    assert.equal(progress.at(-1), '2/2')
  })
  const { reopen } = suite
  if (reopen === undefined) return
  test('everything is there after closing and opening again', async (store) => {
    const scenario = await create(store, 'a')
    const rows = await scenario.append([record('1'), record('2', { references: ['1'], request_type: 'report', score: 1 })])
    const step = { ...commit(1, ['1']), component: 'c', state: { at: [1, { deep: null }] } }
    await scenario.commit(step)
    const reopened = await reopen(store)
    try {
      const again = reopened.scenario('a')
      assert.deepEqual(await again.records({ after: 0, limit: 10 }), rows)
      assert.deepEqual(await again.commits({ after: 0, limit: 10 }), [step])
      assert.deepEqual(
        sequences(await again.append([record('2', { references: ['1'], request_type: 'report', score: 1 }), record('3')])),
        [2, 3],
      )
    } finally {
      await reopened.close()
    }
  })
}

function describeCommits(suite: StoreSuite): void {
  const test = over(suite)
  test('a commit comes back as it was given', async (store) => {
    const scenario = await create(store, 'a')
    const release = { release_id: 'r', parent_release_id: null, content_id: 'c', components: { x: 'y' } }
    const full: Commit = {
      ...commit(1, ['1', '2']),
      operation: 'rollback',
      release,
      pending: true,
      outcome: 'pending',
      metrics: { loss: 0.5, nested: { list: [1, 'two', null] } },
      rollback_target_release_id: 'q',
      component: 'x',
      state: { cursor: 3 },
    }
    await scenario.commit(full)
    assert.deepEqual(await scenario.commits({ after: 0, limit: 10 }), [full])
    assert.deepEqual(await scenario.commits({ after: -1, limit: 1 }), [commit(0)])
  })
  test('a step that exists already is a conflict, creation included', async (store) => {
    const scenario = await create(store, 'a')
    await scenario.commit(commit(1, ['1']))
    await refused('conflict', 'step_conflict', scenario.commit(commit(1, ['2'])))
    await refused('conflict', 'step_conflict', scenario.commit(commit(0)))
    assert.deepEqual(await scenario.commits({ after: 0, limit: 10, ids: ['2'] }), [])
  })
  test('pages of commits walk every step once', async (store) => {
    const scenario = await create(store, 'a')
    for (const step of [1, 2, 3]) await scenario.commit(commit(step))
    assert.deepEqual(steps(await scenario.commits({ after: -1, limit: 2 })), [0, 1])
    assert.deepEqual(steps(await scenario.commits({ after: 1, limit: 2 })), [2, 3])
    assert.deepEqual(await scenario.commits({ after: 3, limit: 2 }), [])
  })
  test('ids find exactly the commits that consumed any of them', async (store) => {
    const [a, b] = [await create(store, 'a'), await create(store, 'b')]
    await a.commit(commit(1, ['x', 'y']))
    await a.commit(commit(2, ['xy', 'z\0']))
    await a.commit(commit(3, ['y', 'y']))
    await b.commit(commit(1, ['x']))
    assert.deepEqual(steps(await a.commits({ after: 0, limit: 10, ids: ['x', 'y'] })), [1, 3])
    assert.deepEqual(steps(await a.commits({ after: 1, limit: 10, ids: ['y', 'x'] })), [3])
    assert.deepEqual(steps(await a.commits({ after: 0, limit: 1, ids: ['y'] })), [1])
    assert.deepEqual(steps(await a.commits({ after: 0, limit: 10, ids: ['z\0'] })), [2])
    assert.deepEqual(await a.commits({ after: 0, limit: 10, ids: ['nobody'] }), [])
    assert.deepEqual(await a.commits({ after: 0, limit: 10, ids: [] }), [])
  })
}

function describeCapacity(suite: StoreSuite): void {
  const test = over(suite, 30)
  test('the oldest bodies of all scenarios go first, and their rows stay', async (store) => {
    const [a, b] = [await create(store, 'a'), await create(store, 'b')]
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
  test('what was lost is counted by scenario and in all, and told', async (store) => {
    const [a, b] = [await create(store, 'a'), await create(store, 'b')]
    const told = new Map<string, Losses>()
    store.onLoss((scenario, lost) => {
      const before = told.get(scenario) ?? { records: 0, bytes: 0 }
      told.set(scenario, { records: before.records + lost.records, bytes: before.bytes + lost.bytes })
    })
    await a.append([ten('1'), ten('2')])
    await b.append([ten('1'), ten('2'), ten('3'), ten('4')])
    await evicted(store)
    assert.deepEqual(await a.losses(), { records: 2, bytes: 20 })
    assert.deepEqual(await b.losses(), { records: 1, bytes: 10 })
    assert.deepEqual(await store.usage(), { records: 6, body_bytes: 30, capacity_bytes: 30, lost_records: 3, lost_bytes: 30 })
    assert.deepEqual(Object.fromEntries(told), { a: { records: 2, bytes: 20 }, b: { records: 1, bytes: 10 } })
  })
  test('an evicted record still answers an identical retry and refuses another', async (store) => {
    const scenario = await create(store, 'a')
    const [row] = await scenario.append([record('old', { payload: bytes('{"a":1,"b":22}') })])
    await scenario.append([ten('1'), ten('2'), ten('3')])
    await evicted(store)
    assert.deepEqual(await scenario.append([record('old', { created_at: 9, payload: bytes('{"b":22,"a":1}') })]), [row])
    await refused('conflict', 'record_conflict', scenario.append([record('old', { payload: bytes('{"a":1,"b":23}') })]))
    assert.equal((await scenario.get('old'))?.payload, null)
  })
  test('a body larger than all capacity is taken in and evicted', async (store) => {
    const scenario = await create(store, 'a')
    const large = record('large', { payload: bytes(`{"a":"${'x'.repeat(100)}"}`) })
    assert.deepEqual(sequences(await scenario.append([large])), [1])
    await evicted(store)
    assert.equal((await scenario.get('large'))?.payload, null)
    assert.deepEqual(sequences(await scenario.append([large])), [1])
  })
  test('a deeply nested body is evicted like any other', async (store) => {
    const scenario = await create(store, 'a')
    const deep = record('deep', { payload: bytes(DEEP) })
    await scenario.append([deep])
    await evicted(store)
    assert.deepEqual(sequences(await scenario.append([deep])), [1])
    assert.deepEqual(sequences(await scenario.append([ten('1')])), [2])
  })
  const { reopen } = suite
  if (reopen === undefined) return
  test('losses, and what an evicted record was, survive closing and opening again', async (store) => {
    const scenario = await create(store, 'a')
    await scenario.append([ten('1'), ten('2'), ten('3'), ten('4')])
    await evicted(store)
    const reopened = await reopen(store)
    try {
      const again = reopened.scenario('a')
      assert.deepEqual(await again.losses(), { records: 1, bytes: 10 })
      assert.deepEqual(sequences(await again.append([ten('1')])), [1])
      await refused('conflict', 'record_conflict', again.append([record('1')]))
      assert.equal((await reopened.usage()).body_bytes, 30)
    } finally {
      await reopened.close()
    }
  })
}

function describeArchiving(suite: StoreSuite): void {
  const test = over(suite)
  test('an archived scenario is gone from every list and its name is free', async (store) => {
    const [a, b] = [await create(store, 'a'), await create(store, 'b')]
    await a.append([record('1')])
    await b.append([record('1')])
    const archive = await store.archive('a')
    assert.notEqual(archive, '')
    assert.deepEqual(await store.scenarios(), ['b'])
    assert.equal(await a.get('1'), null)
    await refused('unknown', 'unknown_scenario', a.append([record('2')]))
    await create(store, 'a')
    assert.deepEqual(sequences(await a.append([record('1', { artifact_ref: 'other' })])), [1])
    assert.deepEqual(steps(await a.commits({ after: -1, limit: 10 })), [0])
    assert.deepEqual(sequences(await b.records({ after: 0, limit: 10 })), [1])
    assert.deepEqual(await store.verify(() => undefined), [])
  })
  test('its records and bytes no longer count', async (store) => {
    const scenario = await create(store, 'a')
    await scenario.append([record('1'), record('2')])
    await store.archive('a')
    const { records, body_bytes } = await store.usage()
    assert.deepEqual({ records, body_bytes }, { records: 0, body_bytes: 0 })
  })
  test('archiving what is not there, or twice at once, is refused as unknown', async (store) => {
    await refused('unknown', 'unknown_scenario', store.archive('nobody'))
    await create(store, 'a')
    const settled = await Promise.allSettled([store.archive('a'), store.archive('a')])
    assert.deepEqual(settled.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
    await refused('unknown', 'unknown_scenario', store.archive('a'))
  })
  test('the same name can be archived again and again', async (store) => {
    const archives = new Set<string>()
    for (let round = 0; round < 3; round += 1) {
      const scenario = await create(store, 'a')
      await scenario.append([record(`r${round}`)])
      archives.add(await store.archive('a'))
    }
    assert.equal(archives.size, 3)
  })
  test('other scenarios take records meanwhile', async (store) => {
    const [a, b] = [await create(store, 'a'), await create(store, 'b')]
    await a.append(Array.from({ length: 600 }, (_, index) => record(`r${index}`)))
    const archived = store.archive('a')
    await b.append([record('1')])
    await archived
    await b.append([record('2')])
    assert.deepEqual(sequences(await b.records({ after: 0, limit: 10 })), [1, 2])
  })
}

function describeClosing(suite: StoreSuite): void {
  const { it, make, reopen } = suite
  it('closing twice is closing once, and a closed store refuses', async () => {
    const store = await make(AMPLE_BYTES)
    const scenario = await create(store, 'a')
    await Promise.all([store.close(), store.close()])
    await refused('unavailable', 'store_closed', scenario.append([record('1')]))
    await refused('unavailable', 'store_closed', scenario.get('1'))
  })
  if (reopen === undefined) return
  it('what was accepted before closing is finished', async () => {
    const store = await make(AMPLE_BYTES)
    const scenario = await create(store, 'a')
    const appends = Array.from({ length: 50 }, (_, index) => scenario.append([record(`r${index}`)]))
    const reopened = await reopen(store)
    try {
      await Promise.all(appends)
      assert.equal((await reopened.usage()).records, 50)
    } finally {
      await reopened.close()
    }
  })
}

/** Each test has a store of its own and leaves none open. */
function over({ it, make }: StoreSuite, capacityBytes = AMPLE_BYTES) {
  return (name: string, body: (store: Store) => Promise<void>): void =>
    it(name, async () => {
      const store = await make(capacityBytes)
      try {
        await body(store)
      } finally {
        await store.close()
      }
    })
}

async function create(store: Store, name: string): Promise<ScenarioStore> {
  const scenario = store.scenario(name)
  await scenario.commit(commit(0))
  return scenario
}

/** Eviction may follow an append at its own pace. */
async function evicted(store: Store): Promise<void> {
  for (;;) {
    const { body_bytes, capacity_bytes } = await store.usage()
    if (body_bytes <= capacity_bytes) break
    await nextTurn()
  }
  await nextTurn()
}

async function refused(kind: RefusalKind, code: string, work: Promise<unknown>): Promise<Refusal> {
  const error: unknown = await work.then(
    () => null,
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof Refusal, `expected a refusal ${code}, got ${String(error)}`)
  assert.deepEqual({ kind: error.kind, code: error.code }, { kind, code })
  return error
}

function record(agent_record_id: string, change: Partial<NewRecord> = {}): NewRecord {
  const usual = { request_type: 'inference', created_at: 1.5, references: [], artifact_ref: 'release', score: null } as const
  return { agent_record_id, ...usual, payload: bytes('{"a":1}'), ...change }
}

function commit(step: number, consumed_ids: readonly string[] = []): Commit {
  const usual = { recorded_at: 2.5, release: null, pending: false, metrics: {}, state: {} } as const
  return { step, operation: step === 0 ? 'create' : 'train', outcome: 'published', consumed_ids, ...usual }
}

/** A record of ten bytes. */
const ten = (id: string) => record(id, { payload: bytes('{"ten":10}') })

function plain<T extends { readonly payload: Uint8Array | null }>(stored: T | null) {
  return stored === null ? null : { ...stored, payload: stored.payload === null ? null : Buffer.from(stored.payload).toString() }
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const sequences = (rows: readonly RecordRow[]): number[] => rows.map((row) => row.sequence)
const steps = (commits: readonly Commit[]): number[] => commits.map((row) => row.step)
