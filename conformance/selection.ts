/** What every selection must do, as a suite that any test runner with `describe` and `it` can run. */
import assert from 'node:assert/strict'
import type { Pair, Selection } from '../src/contract/index.ts'
import { assertUntouched, type Runner } from './support.ts'

export interface SelectionSuite extends Runner {
  readonly selection: Selection
}

const PAIRS = 20

export function selectionConformance({ it, selection }: SelectionSuite): void {
  it('a candidate that is better at every task is selected', async () => {
    assert.equal(decide(selection, pairsOf(0, 1)).selected, true)
  })
  it('a candidate that is worse at every task is not', async () => {
    assert.equal(decide(selection, pairsOf(1, 0)).selected, false)
  })
  it('a candidate that nothing speaks for is not: no pair, no difference, no score', async () => {
    for (const pairs of [[], pairsOf(1, 1), pairsOf(null, null), pairsOf(1, null)]) assert.equal(decide(selection, pairs).selected, false)
  })
  it('the same pairs are decided the same, and are afterwards what they were', async () => {
    for (const pairs of [[...pairsOf(0, 1), ...pairsOf(1, 0)], [...pairsOf(0, null), ...pairsOf(null, 1)], pairsOf(0, 1)])
      await assertUntouched(pairs, (given) => assert.deepEqual(decide(selection, given), decide(selection, given)))
  })
}

function decide(selection: Selection, pairs: readonly Pair[]): ReturnType<Selection['decide']> {
  const decision = selection.decide(pairs)
  assert.equal(typeof decision.selected, 'boolean')
  assert.ok(typeof decision.reason === 'string' && decision.reason.trim() !== '', 'it decided without a word')
  return decision
}

/** A null is a score that is not there: the episode could not be run. */
function pairsOf(current: number | null, candidate: number | null): readonly Pair[] {
  return Array.from({ length: PAIRS }, (_, n) => ({ task: { name: `task-${n}`, prompt: 'do it' }, current, candidate }))
}
