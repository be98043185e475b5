import { describe, expect, it } from 'vitest'
import type { MovableRow } from './chain.ts'
import { rowOf } from './testing/rows.ts'
import { gainsSince, spentSince } from './week.ts'

const SINCE = 1000
const scored = (current: number, candidate: number) => ({ current_mean_score: current, candidate_mean_score: candidate })
const at = (recorded_at: number, row: MovableRow) => ({ ...row, recorded_at })
const stepsOf = ({ releases }: ReturnType<typeof gainsSince>) => releases.map(({ step }) => step)

describe('what a week improved', () => {
  const rows = [
    at(10, rowOf(1, { metrics: scored(0.1, 0.2) })),
    at(1001, rowOf(2, { metrics: scored(0.2, 0.5) })),
    at(1002, rowOf(3, { result: 'rejected', metrics: scored(0.5, 0.1) })),
    at(1003, rowOf(4, { metrics: scored(0.5, 0.75) })),
  ]

  it('goes from the score before its first release to that of its last', () => {
    expect(gainsSince(rows.toReversed(), SINCE)).toMatchObject({ before: 0.2, after: 0.75 })
    expect(stepsOf(gainsSince(rows, SINCE))).toEqual([2, 4])
  })

  it('leaves out what a person took back', () => {
    const rollback = at(1004, rowOf(5, { operation: 'rollback', release_id: 'release-5', rollback_target_release_id: 'release-2' }))
    expect(gainsSince([...rows, rollback], SINCE)).toMatchObject({ before: 0.2, after: 0.5 })
    const further = at(1004, rowOf(5, { operation: 'rollback', release_id: 'release-5', rollback_target_release_id: 'release-1' }))
    expect(gainsSince([...rows, further], SINCE)).toEqual({ releases: [], before: null, after: null })
  })

  it('leaves out a release that was held early, promoted late and taken back', () => {
    const back = (step: number, target: string) =>
      at(1000 + step, rowOf(step, { operation: 'rollback', rollback_target_release_id: target }))
    const moved = [
      at(1001, rowOf(1, { result: 'pending', pending: true, metrics: scored(0.2, 0.9) })),
      at(1002, rowOf(2, { metrics: scored(0.2, 0.5) })),
      at(1003, rowOf(3, { operation: 'promote', rollback_target_release_id: 'release-1' })),
    ]
    expect(stepsOf(gainsSince(moved, SINCE))).toEqual([2, 1])
    expect(stepsOf(gainsSince([...moved, back(4, 'release-2')], SINCE))).toEqual([2])
    expect(stepsOf(gainsSince([...moved, back(4, 'release-2'), back(5, 'release-3')], SINCE))).toEqual([2, 1])
  })

  it('counts a held release once a person promotes it', () => {
    const held = at(10, rowOf(1, { result: 'pending', pending: true, metrics: scored(0.5, 1) }))
    expect(stepsOf(gainsSince([held], 0))).toEqual([])
    const promotion = at(1001, rowOf(2, { operation: 'promote', rollback_target_release_id: 'release-1' }))
    expect(gainsSince([held, promotion], SINCE)).toMatchObject({ before: 0.5, after: 1 })
  })
})

describe('what a week cost', () => {
  it('is that of every step, and says how much of it is unknown', () => {
    const rows = [
      at(10, rowOf(1, { metrics: { spent: { input_tokens: 1000, output_tokens: 1, cost: 9 } } })),
      at(1001, rowOf(2, { metrics: { spent: { input_tokens: 10, output_tokens: 2, cost: 0.5 } } })),
      at(1002, rowOf(3, { result: 'rejected', metrics: { spent: { input_tokens: 5, output_tokens: 1, cost: null, unpriced_calls: 3 } } })),
      at(1003, rowOf(4, { metrics: { spent: 'much' } })),
    ]
    expect(spentSince(rows, SINCE)).toEqual({
      steps: 2,
      input_tokens: 15,
      cached_tokens: 0,
      output_tokens: 3,
      cost: 0.5,
      unpriced_calls: 3,
    })
    expect(spentSince(rows.slice(2, 3), SINCE)).toMatchObject({ cost: null })
    expect(spentSince(rows.slice(3), SINCE)).toBeNull()
  })
})
