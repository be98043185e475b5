/** Which trajectories are fresh enough, and which groups are dropped. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Rollout } from '../../contract/index.ts'
import { printLoadId } from '../load-id.ts'
import { admitRollouts, freshness } from './admit.ts'
import type { Assembled } from './assemble.ts'

const serving = { incarnation: 'a', sequence: 5 }
const spansOf = (...loads: readonly string[]) => loads.map((runtime_load_id, at) => ({ start: at, end: at + 1, runtime_load_id }))

describe('freshness', () => {
  it.each<[readonly string[], number, string | null]>([
    [['a:5'], 0, null],
    [['a:5', 'a:5'], 0, null],
    [['a:4'], 0, 'policy_lag_exceeded'],
    [['a:4', 'a:5'], 0, 'policy_lag_exceeded'],
    [['a:4', 'a:5'], 1, null],
    [['a:3', 'a:5'], 1, 'policy_lag_exceeded'],
    [['a:0'], 5, null],
    [['a:6'], 9, 'future'],
    [['a:5', 'a:6'], 9, 'future'],
    [['a:5', 'a:4'], 9, 'non_monotonic'],
    [['b:5'], 9, 'cross_incarnation'],
    [['a:5', 'b:5'], 9, 'cross_incarnation'],
    [['5'], 9, 'malformed'],
    [['a:05'], 9, 'malformed'],
    [['a:-1'], 9, 'malformed'],
    [['a:5', ''], 9, 'malformed'],
    [[], 9, 'missing'],
  ])('of loads %j with a greatest lag of %i is %s', (loads, maxStaleness, reason) => {
    expect(freshness(spansOf(...loads), serving, maxStaleness)).toBe(reason)
  })

  it('accepts exactly those within the greatest lag, in ascending order', () => {
    const sequences = fc.array(fc.nat({ max: 8 }), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(sequences, fc.nat({ max: 8 }), fc.nat({ max: 8 }), (loads, sequence, most) => {
        const spans = spansOf(...loads.map((each) => printLoadId({ ...serving, sequence: each })))
        const isSound = loads.every((each, at) => each <= sequence && sequence - each <= most && each >= (loads[at - 1] ?? 0))
        expect(freshness(spans, { ...serving, sequence }, most) === null).toBe(isSound)
      }),
    )
  })
})

function made(id: string, loads: readonly string[], change: Partial<Rollout> = {}): Assembled {
  const sample = { record_ids: [id], exchanges: [], score: null, feedback: null }
  const rollout: Rollout = {
    record_ids: [id],
    group: null,
    score: null,
    tokens: [1, 2],
    lossMask: [1],
    logProbs: [-1],
    sample,
    ...change,
  }
  return { kind: 'rollout', rollout, spans: spansOf(...loads) }
}
const idsOf = (rollouts: readonly Rollout[]): readonly string[] => rollouts.flatMap(({ record_ids }) => record_ids)

describe('a batch', () => {
  const options = { serving, maxStaleness: 1, needsLogProbs: true }

  it('keeps fresh samples and stale ones within bounds, counts both, and reports why the rest was dropped', () => {
    const sample = { record_ids: ['forked'], exchanges: [], score: null, feedback: null }
    const { rollouts, metrics } = admitRollouts(
      [
        made('fresh', ['a:5']),
        made('stale', ['a:4', 'a:5']),
        made('old', ['a:3']),
        made('older', ['a:2']),
        made('unknown', []),
        made('imported', ['a:5'], { logProbs: [] }),
        { kind: 'unusable', sample, reason: 'fork' },
      ],
      options,
    )
    expect(idsOf(rollouts)).toEqual(['fresh', 'stale'])
    expect(metrics).toEqual({
      samples_fresh: 1,
      samples_admitted_stale: 1,
      samples_dropped: 5,
      drop_reasons: { policy_lag_exceeded: 2, missing: 1, missing_log_probs: 1, fork: 1 },
    })
  })

  it('drops a whole group with any dropped member, and no other', () => {
    const sample = { record_ids: ['c2'], exchanges: [], score: null, feedback: null, group: 'c' }
    const { rollouts, metrics } = admitRollouts(
      [
        made('a1', ['a:5'], { group: 'a' }),
        made('b1', ['a:5'], { group: 'b' }),
        made('b2', ['b:5'], { group: 'b' }),
        made('a2', ['a:5'], { group: 'a' }),
        made('c1', ['a:5'], { group: 'c' }),
        { kind: 'unusable', sample, reason: 'bad_token' },
      ],
      options,
    )
    expect(idsOf(rollouts)).toEqual(['a1', 'a2'])
    expect(metrics).toMatchObject({ samples_dropped: 4, drop_reasons: { cross_incarnation: 1, bad_token: 1, group_dropped: 2 } })
  })

  it('accepts imports that were not sampled here, and traffic of any age, where the loss has no ratio', () => {
    const assembled = [made('imported', [], { logProbs: [] }), made('old', ['a:1']), made('foreign', ['b:9'])]
    const { rollouts, metrics } = admitRollouts(assembled, { ...options, needsLogProbs: false })
    expect(idsOf(rollouts)).toEqual(['imported', 'old', 'foreign'])
    expect(metrics).toEqual({ samples_fresh: 3, samples_admitted_stale: 0, samples_dropped: 0, drop_reasons: {} })
  })
})
