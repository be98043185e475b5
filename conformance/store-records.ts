/** Store conformance for records: appending, repeated ids, reading. */
import assert from 'node:assert/strict'
import type { NewRecord } from '../src/contract/index.ts'
import { AMPLE_BYTES, bytes, commit, counted, DEEP, over, plain, record, sequences, settled, walk } from './store-samples.ts'
import type { StoreSuite } from './store-samples.ts'
import { assertRefused } from './support.ts'

const ODD_IDS = ['a\0b', 'a\0c', 'é', 'e\u0301', '𝄞', ' a', 'a ', 'A', 'a', "a'b", 'a"b', 'a%', '__proto__', 'x'.repeat(256), '1', '1.0']

export function describeAppending(suite: StoreSuite): void {
  const test = over(suite)
  test('records are numbered 1, 2, 3 in the order they came, each scenario on its own', async ({ a, b }) => {
    assert.deepEqual(sequences(await a.append([record('1'), record('2')])), [1, 2])
    assert.deepEqual(sequences(await b.append([record('1')])), [1])
    assert.deepEqual(sequences(await a.append([record('3')])), [3])
  })
  test('records appended side by side leave no gap and share no number', async ({ a }) => {
    const answers = await Promise.all(counted(200).map((index) => a.append([record(`r${index}`)])))
    const numbers = answers.flatMap(sequences).sort((x, y) => x - y)
    assert.deepEqual(numbers, counted(200))
  })
  test('the answer is the row as it is listed, and the body comes back byte by byte', async ({ a }) => {
    const full = record('r', { request_type: 'report', references: ['x', 'y'], score: 0.25, payload: bytes('{ "b": 1,\n "a": "é𝄞" }') })
    const [row] = (await a.append([full])).rows
    const { payload, ...fields } = full
    assert.deepEqual(row, { sequence: 1, ...fields })
    assert.deepEqual(await a.records({ after: 0, limit: 10 }), [row])
    assert.deepEqual(plain(await a.get('r')), { ...row, payload: Buffer.from(payload).toString() })
  })
  test('a payload that is part of a larger buffer is stored alone', async ({ a }) => {
    const whole = bytes('garbage{"a":1}garbage')
    await a.append([record('r', { payload: whole.subarray(7, 14) })])
    assert.equal(plain(await a.get('r'))?.payload, '{"a":1}')
  })
  test('a payload in pieces is stored as one, and is the same as if it had been', async ({ a }) => {
    const payload = bytes('{"a":1,"b":2}')
    const pieces = [payload.subarray(0, 1), payload.subarray(1, 7), payload.subarray(7)]
    const [, inPieces] = (await a.append([record('r', { payload }), record('s', { payload, pieces }), record('t')])).rows
    assert.deepEqual(plain(await a.get('s')), { ...inPieces, payload: '{"a":1,"b":2}' })
    assert.equal(plain(await a.get('t'))?.payload, '{"a":1}')
    assert.deepEqual((await a.append([record('s', { payload })])).rows, [inPieces])
    assert.deepEqual(sequences(await a.append([record('r', { payload, pieces })])), [1])
    for (const piece of pieces) piece.fill(0)
    assert.equal(plain(await a.get('s'))?.payload, '{"a":1,"b":2}')
  })
  test('bytes the caller reuses afterwards do not change the record', async ({ a }) => {
    const payload = bytes('{"a":1}')
    await a.append([record('r', { payload })])
    payload.fill(0)
    assert.equal(plain(await a.get('r'))?.payload, '{"a":1}')
  })
  test('no records are no change', async ({ a }) => {
    assert.deepEqual(await a.append([]), { rows: [], step: 0 })
    assert.deepEqual(sequences(await a.append([record('r')])), [1])
  })
  test('ids may hold anything and differ by every character', async ({ a }) => {
    await a.append(ODD_IDS.map((id, index) => record(id, { payload: bytes(`{"n":${index}}`) })))
    for (const [index, id] of ODD_IDS.entries()) assert.equal(plain(await a.get(id))?.payload, `{"n":${index}}`)
    const ids = (await a.records({ after: 0, limit: 100 })).map((row) => row.agent_record_id)
    assert.deepEqual(ids, ODD_IDS)
    assert.deepEqual([...(await a.types(ODD_IDS)).keys()], ODD_IDS)
  })
  test('a payload nested deeper than a stack reaches is kept, and known again', async ({ a }) => {
    const deep = record('deep', { payload: bytes(DEEP) })
    await a.append([deep])
    assert.deepEqual(sequences(await a.append([deep])), [1])
    await assertRefused('conflict', 'record_conflict', a.append([record('deep')]))
  })
}

export function describeIdentity(suite: StoreSuite): void {
  const test = over(suite)
  test('the same content again answers the stored row and stores nothing', async ({ store, a }) => {
    const [row] = (await a.append([record('r', { created_at: 1, payload: bytes('{"a":1,"b":{"c":2,"d":3}}') })])).rows
    const again = await a.append([record('r', { created_at: 9, payload: bytes('{"b":{"d":3,"c":2}, "a":1.0}') })])
    assert.deepEqual(again.rows, [row])
    assert.equal((await store.usage()).records, 1)
  })
  const other: readonly (readonly [string, Partial<NewRecord>])[] = [
    ['payload', { payload: bytes('{"a":2}') }],
    ['type', { request_type: 'report' }],
    ['references', { references: ['x'] }],
    ['release', { artifact_ref: 'other' }],
  ]
  for (const [field, change] of other) {
    test(`another ${field} under a stored id is a conflict that names the id`, async ({ a }) => {
      await a.append([record('r')])
      await assertRefused('conflict', 'record_conflict', a.append([record('r', change)]), /"r"/)
      assert.deepEqual(plain(await a.get('r')), plain({ sequence: 1, ...record('r') }))
    })
  }
  test('one conflict refuses the whole call and leaves no gap', async ({ a }) => {
    await a.append([record('1')])
    await assertRefused('conflict', 'record_conflict', a.append([record('2'), record('1', { artifact_ref: 'other' }), record('3')]))
    assert.equal(await a.get('2'), null)
    assert.deepEqual(sequences(await a.append([record('3'), record('1'), record('2')])), [2, 1, 3])
  })
  test('a conflict does not touch the calls beside it', async ({ a }) => {
    await a.append([record('0')])
    const calls = Array.from({ length: 30 }, (_, index) =>
      index % 3 === 0 ? a.append([record(`x${index}`), record('0', { artifact_ref: 'other' })]) : a.append([record(`r${index}`)]),
    )
    assert.equal((await settled(calls)).filter((status) => status === 'rejected').length, 10)
    assert.deepEqual(sequences(await a.records({ after: 0, limit: 100 })), counted(21))
  })
  test('the same id twice in one call is one record, or a conflict', async ({ a }) => {
    assert.deepEqual(sequences(await a.append([record('r'), record('r')])), [1, 1])
    await assertRefused('conflict', 'record_conflict', a.append([record('s'), record('s', { artifact_ref: 'other' })]))
    assert.equal(await a.get('s'), null)
  })
  test("ids are a scenario's own", async ({ a, b }) => {
    await a.append([record('r')])
    assert.deepEqual(sequences(await b.append([record('r', { payload: bytes('{"other":1}') })])), [1])
    assert.equal((await b.types(['r'])).get('r'), 'inference')
  })
}

export function describeReading(suite: StoreSuite): void {
  const test = over(suite)
  test('pages walk every record once, of all types and of each', async ({ a }) => {
    const types = ['inference', 'report', 'inference', 'train', 'report', 'inference', 'report'] as const
    await a.append(types.map((request_type, index) => record(`r${index}`, { request_type })))
    for (const type of [undefined, 'inference', 'report', 'train'] as const) {
      const seen = await walk((after) => a.records({ after, limit: 2, ...(type !== undefined && { type }) }))
      const expected = types.flatMap((each, index) => (type === undefined || each === type ? [index + 1] : []))
      assert.deepEqual(seen.flat(), expected)
    }
  })
  test('pages walk back from the newest record the same way', async ({ a }) => {
    const types = ['inference', 'report', 'inference', 'train', 'report'] as const
    await a.append(types.map((request_type, index) => record(`r${index}`, { request_type })))
    const newest = Number.MAX_SAFE_INTEGER
    assert.deepEqual(sequences(await a.records({ before: newest, limit: 2 })), [5, 4])
    assert.deepEqual(sequences(await a.records({ before: 4, limit: 9 })), [3, 2, 1])
    assert.deepEqual(sequences(await a.records({ before: newest, limit: 9, type: 'inference' })), [3, 1])
    assert.deepEqual(sequences(await a.records({ before: 5, limit: 9, type: 'report' })), [2])
    assert.deepEqual(await a.records({ before: 1, limit: 9 }), [])
  })
  test('the exchanges of a session are found by it, in both directions, whatever lies between', async ({ store, a, b }) => {
    const sessions = ['s', 't', undefined, 's', 'S', 's'] as const
    const made = sessions.map((session, index) =>
      record(`r${index}`, { summary: { latency_ms: 1, ...(session !== undefined && { session }) } }),
    )
    await a.append(made)
    await b.append(made)
    assert.deepEqual(sequences(await a.records({ after: 0, limit: 9, session: 's' })), [1, 4, 6])
    assert.deepEqual(sequences(await a.records({ after: 1, limit: 1, session: 's' })), [4])
    assert.deepEqual(sequences(await a.records({ before: Number.MAX_SAFE_INTEGER, limit: 1, session: 's' })), [6])
    assert.deepEqual(await a.records({ after: 0, limit: 9, session: 'none' }), [])
    await store.archive('a')
    assert.deepEqual(await a.records({ after: 0, limit: 9, session: 's' }), [])
  })
  test('a summary is listed with its record, and is no part of what makes two records the same', async ({ a }) => {
    const summary = { model: 'm', latency_ms: 12.5, input_tokens: 3, output_tokens: 4, stream: true, complete: false } as const
    const [row] = (await a.append([record('r', { summary })])).rows
    assert.deepEqual(row?.summary, summary)
    assert.deepEqual(await a.records({ after: 0, limit: 9 }), [row])
    assert.deepEqual((await a.get('r'))?.summary, summary)
    assert.deepEqual((await a.append([record('r')])).rows, [row])
  })
  test('types answers for the ids that are stored and is silent about the rest', async ({ a }) => {
    await a.append([record('i'), record('t', { request_type: 'train' })])
    assert.deepEqual(Object.fromEntries(await a.types(['t', 'none', 'i'])), { t: 'train', i: 'inference' })
  })
  test('usage counts records and the bytes of their bodies', async ({ store, a }) => {
    await a.append([record('1', { payload: bytes('{"a":1}') }), record('2', { payload: bytes('{}') })])
    const body_bytes = 9 + 2 * (suite.addedBytes ?? 0)
    const usage = { records: 2, body_bytes, capacity_bytes: AMPLE_BYTES, lost_records: 0, lost_bytes: 0 }
    assert.deepEqual({ ...(await store.usage()), expired_records: 0, expired_bytes: 0 }, { ...usage, expired_records: 0, expired_bytes: 0 })
  })
  test('a sound store verifies clean and reports how far it is', async ({ store, a }) => {
    await a.append([record('1'), record('2')])
    const progress: string[] = []
    assert.deepEqual(await store.verify((checked, total) => progress.push(`${checked}/${total}`)), [])
    assert.equal(progress.at(-1), '2/2')
  })
  if (!suite.isLasting) return
  test('everything is there after closing and opening again', async ({ a, reopen }) => {
    const { rows } = await a.append([record('1'), record('2', { references: ['1'], request_type: 'report', score: 1 })])
    const step = { ...commit(1, ['1']), component: 'c', state: { at: [1, { deep: null }] } }
    await a.commit(step)
    const again = (await reopen()).scenario('a')
    assert.deepEqual(await again.records({ after: 0, limit: 10 }), rows)
    assert.deepEqual(await again.commits({ after: 0, limit: 10 }), [step])
    const repeated = record('2', { references: ['1'], request_type: 'report', score: 1 })
    assert.deepEqual(sequences(await again.append([repeated, record('3')])), [2, 3])
  })
}
