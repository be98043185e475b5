/** Store conformance for pending records: what a component has not consumed yet, whole and in order. */
import assert from 'node:assert/strict'
import { PENDING_PAGE_BYTES_MAX, PENDING_RECORD_BYTES_MAX } from '../src/contract/index.ts'
import type { PendingPage, PendingRecord, ScenarioStore } from '../src/contract/index.ts'
import { bytes, commit, counted, evicted, over, plain, record, sequences, ten, walk, type StoreSuite } from './store-samples.ts'

const TYPES = ['inference', 'report', 'train'] as const
const PAGE: PendingPage = { component: '', types: TYPES, after: 0, limit: 100 }

export function describePending(suite: StoreSuite): void {
  const test = over(suite)
  test('a record comes whole, with what it quotes in the order quoted', async ({ a }) => {
    const [one, two] = (await a.append([record('1', { payload: bytes('{"n":1}') }), record('2', { payload: bytes('{"n":2}') })])).rows
    const [row] = (await a.append([report('r', ['2', '1', '2'], 0.5)])).rows
    await a.commit(commit(1, ['1']))
    const quoted = [
      { ...two, payload: '{"n":2}', consumed: false },
      { ...one, payload: '{"n":1}', consumed: true },
      { ...two, payload: '{"n":2}', consumed: false },
    ]
    assert.deepEqual(shown(await a.pending({ ...PAGE, types: ['report'] })), [{ ...row, payload: '{"a":1}', quoted }])
  })
  test('a record that a step of the component consumed is left out, and no other', async ({ a, b }) => {
    for (const scenario of [a, b]) await scenario.append(['1', '2', '3'].map((id) => record(id)))
    await a.commit(commit(1, ['2']))
    await a.commit({ ...commit(2, ['2', '3']), component: 'p' })
    assert.deepEqual(sequences(await a.pending(PAGE)), [1, 3])
    assert.deepEqual(sequences(await a.pending({ ...PAGE, component: 'p' })), [1])
    assert.deepEqual(sequences(await a.pending({ ...PAGE, component: 'q' })), [1, 2, 3])
    assert.deepEqual(sequences(await b.pending(PAGE)), [1, 2, 3])
  })
  test('whether a quoted record was consumed is a question of the component that asks', async ({ a }) => {
    await a.append([record('1'), report('r', ['1'])])
    await a.commit({ ...commit(1, ['1']), component: 'p' })
    const consumed = async (component: string) =>
      (await a.pending({ ...PAGE, component, types: ['report'] })).flatMap(({ quoted }) => quoted.map((each) => each.consumed))
    assert.deepEqual(await consumed('p'), [true])
    assert.deepEqual(await consumed(''), [false])
  })
  test('types come in one order, whichever and however many are asked for', async ({ a }) => {
    const stored = ['report', 'inference', 'train', 'train', 'inference', 'report', 'inference'] as const
    await a.append(stored.map((request_type, index) => record(`r${index}`, { request_type })))
    await a.commit(commit(1, ['r3']))
    const pairs = [['train', 'report'] as const, ['report', 'inference'] as const, ['inference', 'train'] as const]
    for (const types of [...TYPES.map((type) => [type]), ...pairs, TYPES]) {
      const expected = stored.flatMap((type, index) => (types.some((each) => each === type) && index !== 3 ? [index + 1] : []))
      assert.deepEqual(sequences(await a.pending({ ...PAGE, types })), expected)
      assert.deepEqual(await pendingOf(a, { types, limit: 1 }), expected)
    }
    assert.deepEqual(await a.pending({ ...PAGE, types: [] }), [])
    assert.deepEqual(sequences(await a.pending({ ...PAGE, types: ['train', 'train'] })), [3])
  })
  test('pages walk a thousand of them once and in order', async ({ a }) => {
    await a.append(counted(1100).map((n) => record(`r${n}`, { request_type: TYPES[n % 3] ?? 'train' })))
    const consumed = counted(100).map((n) => `r${n * 11}`)
    await a.commit(commit(1, consumed))
    const expected = counted(1100).filter((n) => !consumed.includes(`r${n}`))
    for (const limit of [7, 256]) assert.deepEqual(await pendingOf(a, { limit }), expected)
    assert.deepEqual(await a.pending({ ...PAGE, after: 1100 }), [])
    assert.deepEqual(await a.pending({ ...PAGE, after: 5000 }), [])
    assert.deepEqual(await a.pending({ ...PAGE, limit: 0 }), [])
  })
  test('a quoted record that is not there is passed over', async ({ a }) => {
    await a.append([record('1'), report('r', ['none', '1', 'r'])])
    const [found] = await a.pending({ ...PAGE, types: ['report'] })
    assert.deepEqual(sequences(found?.quoted ?? []), [1, 2])
  })
  test('a page shows a commit whole or not at all', async ({ a }) => {
    const ids = counted(50).map(String)
    for (const id of ids) await a.append([record(id), report(`r${id}`, [id])])
    const pages: Promise<readonly PendingRecord[]>[] = []
    for (const [index, id] of ids.toReversed().entries()) {
      for (let asked = 0; asked < 4; asked += 1) pages.push(a.pending({ ...PAGE, types: ['report'] }))
      await a.commit(commit(index + 1, [id, `r${id}`]))
    }
    const quoted = (await Promise.all(pages)).flat().flatMap((found) => found.quoted)
    assert.ok(quoted.every((each) => !each.consumed))
  })
  test('bytes that the caller changes are a copy', async ({ a }) => {
    await a.append([record('1'), report('r', ['1'])])
    for (const found of await a.pending(PAGE)) for (const each of [found, ...found.quoted]) each.payload?.fill(0)
    const payloads = (await a.pending(PAGE)).flatMap((found) => [found, ...found.quoted].map((each) => plain(each)?.payload))
    assert.deepEqual(payloads, ['{"a":1}', '{"a":1}', '{"a":1}'])
  })
  describeLargePages(suite)
}

function describeLargePages(suite: StoreSuite): void {
  over(suite, 8 * PENDING_PAGE_BYTES_MAX)(
    'a page ends before it holds too many bytes, and never before its first record',
    async ({ a }) => {
      await a.append([record('1', share(0.4)), record('2', share(0.4))])
      await a.append([
        record('3', share(0.4)),
        record('4', share(1.25)),
        report('r', ['1', '2', '3']),
        report('s', ['1']),
        report('t', ['2']),
      ])
      const pages = await walk((after) => a.pending({ ...PAGE, after }))
      assert.deepEqual(pages, [[1, 2], [3], [4], [5], [6, 7]])
    },
  )
  over(suite, 8 * PENDING_PAGE_BYTES_MAX)(
    'a record that is too large with what it quotes comes marked and without any body, and holds up nothing after it',
    async ({ a }) => {
      // One body quoted often enough: its bytes count each time.
      const often = Array.from({ length: PENDING_RECORD_BYTES_MAX / PENDING_PAGE_BYTES_MAX }, () => '1')
      await a.append([record('1', share(1)), record('2')])
      await a.append([report('r', ['2']), report('s', [...often, '2']), report('t', ['2'])])
      await a.commit(commit(1, ['2']))
      const page = await a.pending({ ...PAGE, types: ['report'] })
      const found = page.map(({ agent_record_id, too_large = false, payload }) => `${agent_record_id} ${too_large} ${payload !== null}`)
      assert.deepEqual(found, ['r false true', 's true false', 't false true'])
      const quoted = page[1]?.quoted.map((each) => [each.agent_record_id, each.payload, each.consumed])
      assert.deepEqual(quoted, [...often.map((id) => [id, null, false]), ['2', null, true]])
    },
  )
  over(suite, 3 * (10 + (suite.addedBytes ?? 0)))('a record whose body was evicted is pending without it', async ({ store, a }) => {
    await a.append([ten('1'), { ...ten('r'), request_type: 'report', references: ['1'] }])
    await a.append([{ ...ten('s'), request_type: 'report', references: ['1', '2'] }, ten('2')])
    await a.append([ten('3')])
    await evicted(store)
    const body = '{"ten":10}'
    const bodies = shown(await a.pending(PAGE)).map((found) => [found.payload, found.quoted.map((each) => each.payload)])
    assert.deepEqual(bodies, [
      [null, []],
      [null, [null]],
      [body, [null, body]],
      [body, []],
      [body, []],
    ])
    await a.commit(commit(1, ['1', 'r']))
    assert.deepEqual(sequences(await a.pending(PAGE)), [3, 4, 5])
  })
}

/** A payload of slightly more than this part of a page. */
const share = (part: number) => ({ payload: bytes(`{"text":"${'x'.repeat(part * PENDING_PAGE_BYTES_MAX)}"}`) })

const report = (id: string, references: readonly string[], score: number | null = null) =>
  record(id, { request_type: 'report', references, score })

const shown = (page: readonly PendingRecord[]) =>
  page.map(({ payload, quoted, ...row }) => ({
    ...row,
    payload: text(payload),
    quoted: quoted.map((each) => ({ ...each, payload: text(each.payload) })),
  }))

const text = (payload: Uint8Array | null) => (payload === null ? null : Buffer.from(payload).toString())

const pendingOf = async (scenario: ScenarioStore, page: Partial<PendingPage>): Promise<number[]> =>
  (await walk((after) => scenario.pending({ ...PAGE, ...page, after }))).flat()
