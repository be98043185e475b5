/** The room's functions over one small history at a time. */
import { describe, expect, it } from 'vitest'
import { commit as plainRow } from '../../conformance/store-samples.ts'
import type { Commit, Release } from '../contract/index.ts'
import { keptChain } from '../../test/support/chain.ts'
import { headRow } from './chain.ts'
import { catalogOf, commitRow, planMove, planRejection } from './index.ts'

const release = (id: string, parent: string | null, content = `content of ${id}`): Release => ({
  release_id: id,
  parent_release_id: parent,
  content_id: content,
})

const commit = (step: number, more: Partial<Commit>): Commit => ({
  ...plainRow(step),
  recorded_at: 1000 + step,
  state: { secret: 'never shown' },
  ...more,
})

const A = release('a', null)
const B = release('b', 'a')
const HELD = release('held', 'b')
const LIVE = release('live:1:2:3', 'b', 'weights:1:2')
const created = commit(0, { release: A })
const trained = commit(1, { release: B, metrics: { wins: 3, losses: 1, anything: { else: true } }, consumed_ids: ['r2', 'r1'] })
const rejected = commit(2, { outcome: 'rejected', metrics: { current_score: 0.5 } })
const held = commit(3, { release: HELD, pending: true, outcome: 'pending' })
const history = [created, trained, rejected, held]
const promoted = commit(4, { operation: 'promote', release: release('p', 'b', HELD.content_id), rollback_target_release_id: 'held' })

describe('the head', () => {
  it('is the newest published release, past rejected, held, skipped and failed steps', () => {
    const others = [commit(4, { outcome: 'skipped' }), commit(5, { outcome: 'failed' })]
    expect(headRow([created]).release).toBe(A)
    expect(headRow([...history, ...others]).release).toBe(B)
    expect(headRow([...history, promoted]).release).toBe(promoted.release)
  })

  it('of a history without a creation row is an error, not a guess', () => {
    expect(() => headRow([])).toThrow(/creation row/)
    expect(() => catalogOf([rejected, created])).toThrow(/creation row/)
  })
})

describe('the catalog', () => {
  it('has a row per step with identity, marks and result', () => {
    expect(catalogOf(history)[1]).toEqual({
      ...B,
      step: 1,
      operation: 'train',
      recorded_at: 1001,
      pending: false,
      restorable: true,
      current: true,
      result: 'published',
      metrics: trained.metrics,
      wins: 3,
      losses: 1,
    })
  })

  it('shows a step that published nothing with the head it ran on', () => {
    const later = commit(4, { release: release('c', 'b') })
    expect(catalogOf([...history, later])[2]).toMatchObject({ ...B, step: 2, result: 'rejected', current: false, current_score: 0.5 })
  })

  it('marks exactly one row current, and none of the held ones restorable', () => {
    const rows = catalogOf(history)
    expect(rows.map((row) => row.current)).toEqual([false, true, false, false])
    expect(rows.map((row) => row.restorable)).toEqual([true, true, true, false])
    expect(rows.map((row) => row.pending)).toEqual([false, false, false, true])
  })

  it('keeps a held row pending after its promotion, which names it as target', () => {
    const rows = catalogOf([...history, promoted])
    expect(rows[3]).toMatchObject({ release_id: 'held', pending: true, result: 'pending', restorable: false })
    expect(rows[4]).toMatchObject({ release_id: 'p', result: 'published', rollback_target_release_id: 'held', current: true })
  })

  it('lifts what the interface names, with null and false, and lets no metric overwrite the row itself', () => {
    const metrics = { ties: 0, skipped: false, error: null, proposal_notes: { design: 'x' }, step: 99, release_id: 'forged' }
    const row = catalogOf([created, commit(1, { outcome: 'skipped', metrics })])[1]
    expect(row).toMatchObject({ ties: 0, skipped: false, error: null, proposal_notes: { design: 'x' }, step: 1, release_id: 'a', metrics })
  })

  it('carries component and components only when there are some, and never the state', () => {
    const composed = { ...release('c', 'b'), components: { harness: 'x', weights: 'y' } }
    const [first, second] = catalogOf([created, commit(1, { release: composed, component: 'harness' })])
    expect(second).toMatchObject({ component: 'harness', components: { harness: 'x', weights: 'y' } })
    for (const name of ['component', 'components', 'rollback_target_release_id', 'state']) expect(first).not.toHaveProperty(name)
  })
})

describe('a commit row', () => {
  it('shows what happened and what it consumed, in order of ids, without the state', () => {
    expect(commitRow(trained)).toEqual({
      step: 1,
      operation: 'train',
      operation_verified: true,
      recorded_at: 1001,
      artifact_ref: 'b',
      pending: false,
      consumed_ids: ['r1', 'r2'],
      metrics: trained.metrics,
    })
  })

  it('refers to no release when the step made none, and to the held one when it holds one', () => {
    expect(commitRow(rejected).artifact_ref).toBeNull()
    expect(commitRow(held)).toMatchObject({ artifact_ref: 'held', pending: true })
  })

  it('is unverified only when its state says so', () => {
    expect(commitRow(commit(1, { state: { operation_verified: false } })).operation_verified).toBe(false)
  })
})

const turnedDown = commit(4, {
  operation: 'reject',
  outcome: 'rejected',
  release: HELD,
  rollback_target_release_id: 'held',
  metrics: { reason: 'too long' },
})
const refusing = async (rows: readonly Commit[], id: string, reason = 'too long') =>
  planRejection((await keptChain(rows)).releases, id, reason)

describe('a rejection', () => {
  it('is of a held release that nobody decided on', async () => {
    await expect(refusing(history, 'held')).resolves.toEqual(HELD)
    await expect(refusing(history, 'nope')).rejects.toThrow(expect.objectContaining({ code: 'unknown_release' }))
    await expect(refusing(history, 'a')).rejects.toThrow(expect.objectContaining({ code: 'not_held' }))
    await expect(refusing([...history, promoted], 'held')).rejects.toThrow(/promoted at step 4/)
  })

  it('stays as it is with the same words, and is final for any others and for a promote', async () => {
    const rows = [...history, turnedDown]
    await expect(refusing(rows, 'held')).resolves.toBe(4)
    await expect(refusing(rows, 'held', 'another reason')).rejects.toThrow(/rejected at step 4/)
    await expect(moved(rows, 'held', 'promote')).rejects.toThrow(/rejected at step 4/)
    expect(headRow(rows).release).toBe(B)
  })

  it('of a provisional release is its withdrawal', async () => {
    const offered = commit(6, { release: release('o', 'b'), pending: true, outcome: 'pending', metrics: { provisional: { gain: 0.1 } } })
    const rows = [...history.slice(0, 6), offered].map((row, step) => ({ ...row, step }))
    await expect(refusing(rows, 'o')).rejects.toThrow(/withdraw/)
  })
})

const moved = async (rows: readonly Commit[], id: string, operation: 'promote' | 'rollback') =>
  planMove((await keptChain(rows)).releases, id, operation)

describe('a move', () => {
  it('to a release this scenario never had is unknown', async () => {
    for (const operation of ['promote', 'rollback'] as const)
      await expect(moved(history, 'nope', operation)).rejects.toThrow(expect.objectContaining({ kind: 'unknown', code: 'unknown_release' }))
  })

  it('to the head stays', async () => {
    await expect(moved(history, 'b', 'rollback')).resolves.toEqual({ kind: 'stay', head: B, step: 1 })
    await expect(moved(history, 'b', 'promote')).resolves.toEqual({ kind: 'stay', head: B, step: 1 })
  })

  it('back to a published release republishes it', async () => {
    await expect(moved(history, 'a', 'rollback')).resolves.toEqual({ kind: 'republish', target: A })
  })

  it('to a held release is a promote, not a rollback', async () => {
    await expect(moved(history, 'held', 'promote')).resolves.toEqual({ kind: 'republish', target: HELD })
    await expect(moved(history, 'held', 'rollback')).rejects.toThrow(expect.objectContaining({ kind: 'conflict', code: 'not_restorable' }))
  })

  it('to weights that lived only in an engine is refused', async () => {
    const rows = [created, commit(1, { release: LIVE }), commit(2, { release: release('c', 'b') })]
    await expect(moved(rows, LIVE.release_id, 'rollback')).rejects.toThrow(expect.objectContaining({ code: 'not_restorable' }))
  })

  it('promoting what is not held is refused', async () => {
    await expect(moved(history, 'a', 'promote')).rejects.toThrow(expect.objectContaining({ kind: 'conflict', code: 'not_held' }))
  })

  it('repeated because its answer was lost stays, and moves nothing twice', async () => {
    const rolledBack = commit(4, { operation: 'rollback', release: release('q', 'b', A.content_id), rollback_target_release_id: 'a' })
    await expect(moved([...history, promoted], 'held', 'promote')).resolves.toEqual({ kind: 'stay', head: promoted.release, step: 4 })
    await expect(moved([...history, rolledBack], 'a', 'rollback')).resolves.toEqual({ kind: 'stay', head: rolledBack.release, step: 4 })
  })

  it('promoting again what was promoted and replaced is refused with the release to roll back to', async () => {
    const later = commit(5, { release: release('c', 'p') })
    await expect(moved([...history, promoted, later], 'held', 'promote')).rejects.toThrow(/step 4.*release p/)
    await expect(moved([...history, promoted, later], 'p', 'rollback')).resolves.toEqual({ kind: 'republish', target: promoted.release })
  })
})
