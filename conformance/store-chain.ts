/** Store conformance for releases: the head, the rows that made one, the row that a release id names, and totals beside the rows. */
import assert from 'node:assert/strict'
import type { Commit } from '../src/contract/index.ts'
import { commit, create, over, settled, steps, type StoreSuite } from './store-samples.ts'
import { assertRefused } from './support.ts'

const ALL = { after: -1, limit: 100 } as const

/** Published as that release, unless it says otherwise. */
const made = (step: number, id: string, more: Partial<Commit> = {}): Commit => ({
  ...commit(step, [`c${step}`]),
  release: { release_id: id, parent_release_id: null, content_id: `content of ${id}` },
  ...more,
})
const HELD = { pending: true, outcome: 'pending' } as const
const again = (step: number, id: string, operation: 'promote' | 'rollback', target: string): Commit =>
  made(step, id, { operation, rollback_target_release_id: target })

/** Steps 1 to 8: published, without a release, held, rejected, promoted, rolled back, held, failed. */
const ROWS: readonly Commit[] = [
  made(1, 'r1'),
  { ...commit(2), outcome: 'skipped' },
  made(3, 'r3', HELD),
  { ...commit(4), outcome: 'rejected' },
  again(5, 'r5', 'promote', 'r3'),
  again(6, 'r6', 'rollback', 'r1'),
  made(7, 'r7', HELD),
  { ...commit(8), outcome: 'failed' },
]

export function describeChain(suite: StoreSuite): void {
  const test = over(suite)
  test('a scenario that was not created has no head, no chain and no release', async ({ store }) => {
    const none = store.scenario('none')
    assert.equal(await none.head(), null)
    assert.deepEqual(await none.chain(ALL), [])
    assert.equal(await none.release('r1'), null)
    await assertRefused('unknown', 'unknown_scenario', none.keepTotals(new Map([[0, {}]])))
  })
  test('the head is the newest row, and the newest that published a release', async ({ a, b }) => {
    assert.deepEqual(await a.head(), { newest: commit(0), published: null })
    const published = [1, 1, 1, 1, 5, 6, 6, 6]
    for (const [at, row] of ROWS.entries()) {
      await a.commit(row)
      assert.deepEqual(await a.head(), { newest: row, published: ROWS[(published[at] ?? 0) - 1] })
    }
    assert.deepEqual(await b.head(), { newest: commit(0), published: null })
  })
  test('the chain is the rows that made a release, paged both ways', async ({ a }) => {
    for (const row of ROWS) await a.commit(row)
    assert.deepEqual(
      await a.chain(ALL),
      ROWS.filter(({ release }) => release !== null),
    )
    assert.deepEqual(steps(await a.chain({ after: 1, limit: 2 })), [3, 5])
    assert.deepEqual(steps(await a.chain({ after: 5, limit: 10 })), [6, 7])
    assert.deepEqual(steps(await a.chain({ before: Number.MAX_SAFE_INTEGER, limit: 2 })), [7, 6])
    assert.deepEqual(steps(await a.chain({ before: 6, limit: 10 })), [5, 3, 1])
    assert.deepEqual(await a.chain({ after: 7, limit: 10 }), [])
    assert.deepEqual(await a.chain({ before: 1, limit: 10 }), [])
  })
  test('the chain is only what published, only what is held, or only what published a release again', async ({ a, b }) => {
    for (const row of ROWS) await a.commit(row)
    await b.commit(again(1, 'x', 'rollback', 'r1'))
    const before = { before: 100, limit: 2 } as const
    assert.deepEqual(steps(await a.chain({ ...ALL, only: 'published' })), [1, 5, 6])
    assert.deepEqual(steps(await a.chain({ ...before, only: 'published' })), [6, 5])
    assert.deepEqual(steps(await a.chain({ ...ALL, only: 'held' })), [3, 7])
    assert.deepEqual(steps(await a.chain({ ...before, before: 7, only: 'held' })), [3])
    assert.deepEqual(steps(await a.chain({ ...ALL, only: { target: 'r1' } })), [6])
    assert.deepEqual(steps(await a.chain({ ...before, only: { target: 'r3' } })), [5])
    assert.deepEqual(await a.chain({ ...ALL, only: { target: 'r5' } }), [])
    for (const step of [9, 10, 11]) await a.commit(again(step, `r${step}`, 'rollback', 'r1'))
    assert.deepEqual(steps(await a.chain({ after: 6, limit: 2, only: { target: 'r1' } })), [9, 10])
    assert.deepEqual(steps(await a.chain({ ...before, only: { target: 'r1' } })), [11, 10])
  })
  test('a release id names the row that made it first, of this scenario alone', async ({ a, b, store }) => {
    for (const row of [...ROWS, made(9, 'r1'), made(10, "'; -- \\ ü")]) await a.commit(row)
    await b.commit(made(1, 'elsewhere'))
    assert.deepEqual(await a.release('r1'), ROWS[0])
    assert.deepEqual(await a.release('r7'), ROWS[6])
    assert.equal((await a.release("'; -- \\ ü"))?.step, 10)
    for (const id of ['elsewhere', 'R1', 'r', '', 'null', 'content of r1']) assert.equal(await a.release(id), null)
    await store.archive('a')
    assert.equal(await (await create(store, 'a')).release('r1'), null)
  })
  describeTotals(suite)
}

function describeTotals(suite: StoreSuite): void {
  const test = over(suite)
  test('totals come back with their row, and may be put beside it later', async ({ a, b }) => {
    const totals = { count: 1, trained: { x: [1, 0.5, null] } }
    await a.commit({ ...made(1, 'r1'), totals })
    await a.commit(made(2, 'r2'))
    assert.deepEqual(await a.commits({ after: 0, limit: 10 }), [{ ...made(1, 'r1'), totals }, made(2, 'r2')])
    await a.keepTotals(new Map([0, 2, 3].map((step) => [step, { count: step }])))
    await a.keepTotals(new Map([[2, { count: 4 }]]))
    const rows = [
      { ...commit(0), totals: { count: 0 } },
      { ...made(1, 'r1'), totals },
      { ...made(2, 'r2'), totals: { count: 4 } },
    ]
    assert.deepEqual(await a.commits(ALL), rows)
    assert.deepEqual(await a.chain(ALL), rows.slice(1))
    assert.deepEqual(await a.release('r2'), rows[2])
    assert.deepEqual(await a.head(), { newest: rows[2], published: rows[2] })
    assert.deepEqual(await b.commits(ALL), [commit(0)])
  })
  test('totals change nothing else: the next step lands, and what was consumed stays consumed', async ({ a }) => {
    await a.commit(made(1, 'r1'))
    await a.keepTotals(new Map([[1, { consumed_ids: [], step: 7 }]]))
    await assertRefused('conflict', 'already_consumed', a.commit({ ...commit(2), consumed_ids: ['c1'] }))
    assert.deepEqual(await settled([a.commit(commit(2)), a.commit(commit(3))]), ['fulfilled', 'fulfilled'])
  })
  if (!suite.isLasting) return
  test('head, chain and totals are the same after closing and opening again', async ({ a, reopen }) => {
    for (const row of ROWS) await a.commit({ ...row, totals: { after: row.step } })
    await a.keepTotals(new Map([[1, { after: 'now' }]]))
    const before = [await a.head(), await a.chain(ALL), await a.release('r1')]
    const reopened = (await reopen()).scenario('a')
    assert.deepEqual([await reopened.head(), await reopened.chain(ALL), await reopened.release('r1')], before)
  })
}
