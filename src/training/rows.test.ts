/** What rows say about their trainer, over small histories. */
import { describe, expect, it } from 'vitest'
import { commit } from '../../conformance/store-samples.ts'
import type { Commit, JsonObject, StepOutcome } from '../contract/index.ts'
import { exhausted, mayRide, memoryOf, NO_STEPS, restSeconds, SKIPPED, tallied, type TrainerTally } from './rows.ts'

const row = (outcome: StepOutcome, more: Partial<Commit> = {}): Commit => ({
  ...commit(1),
  outcome,
  pending: outcome === 'pending',
  ...more,
})
const tallyOf = (rows: readonly Commit[]): TrainerTally => rows.reduce(tallied, NO_STEPS)
const because = (skipped: string): Commit => row('failed', { metrics: { skipped } })
const instruction = (outcome: Commit['outcome'], metrics: Commit['metrics'] = {}): Commit =>
  row(outcome, { metrics: { training_request: { id: 'i' }, ...metrics } })

const unable = instruction('failed', { skipped: SKIPPED.instruction })

describe('the memory of a trainer', () => {
  it('is what its latest row left, and empty before the first', () => {
    expect(memoryOf(undefined)).toEqual({ settled_through: 0, set_aside: {}, trainer: {} })
    const state = { settled_through: 7, set_aside: { 'quotes no receipt': 2 }, trainer: { steps: 3 } }
    expect(memoryOf(row('skipped', { state }))).toEqual(state)
  })

  it.each<[string, JsonObject]>([
    ['of other kinds', { settled_through: '7', set_aside: ['x'], trainer: 'text' }],
    ['nothing', { settled_through: null, set_aside: null, trainer: null }],
    ['counts that are none', { set_aside: { a: 'two', b: null } }],
  ])('reads a state that holds %s as none: it begins again rather than fail', (_case, state) => {
    expect(memoryOf(row('published', { state }))).toEqual({ settled_through: 0, set_aside: {}, trainer: {} })
  })
})

describe('failures in a row', () => {
  it.each<[string, readonly Commit[], number]>([
    ['nothing', [], 0],
    ['a success', [row('published')], 0],
    ['two failures', [because(SKIPPED.step), because(SKIPPED.step)], 2],
    ['a success after two', [because(SKIPPED.step), because(SKIPPED.step), row('published')], 0],
    ['one after a success', [because(SKIPPED.step), row('rejected'), because(SKIPPED.step)], 1],
    ['a batch that was given up', [because(SKIPPED.step), because(SKIPPED.setAside)], 0],
    ['instructions that failed in between', [because(SKIPPED.step), unable, because(SKIPPED.step)], 2],
    ['instructions that ran alone in between', [because(SKIPPED.step), instruction('published'), because(SKIPPED.step)], 2],
    ['an instruction that took units along', [because(SKIPPED.step), instruction('published', { samples_beside: 1 })], 0],
    ['a method that only says so', [row('published', { metrics: { skipped: SKIPPED.step } })], 0],
  ])('after %s are counted from the last row that was none', (_case, rows, count) => {
    expect(tallyOf(rows).failures).toBe(count)
  })
})

/** An instruction that failed with so many units beside it. */
const besides = (samples_kept?: number): Commit =>
  row('failed', { metrics: { skipped: SKIPPED.instruction, training_request: {}, ...(samples_kept !== undefined && { samples_kept }) } })
const asked = row('published', { metrics: { training_request: {} } })

describe('units', () => {
  it.each<[string, readonly Commit[], boolean]>([
    ['nothing', [], true],
    ['one instruction that failed beside them', [besides(1)], true],
    ['two instructions that failed beside them', [besides(1), besides(3)], false],
    ['two that failed without any', [besides(), besides()], true],
    ['two, and a step of their own that failed too', [besides(1), because(SKIPPED.step), besides(1), because(SKIPPED.step)], false],
    ['two, and an instruction that went well without them', [besides(1), besides(1), asked], false],
    ['two, and a step of their own that went well', [besides(1), besides(1), row('published')], true],
    ['two, and being set aside', [besides(1), besides(1), because(SKIPPED.setAside)], true],
    ['two and being set aside, and another one since', [besides(1), besides(1), because(SKIPPED.setAside), besides(1)], true],
  ])('after %s ride beside the next instruction unless they may be why it would fail', (_case, rows, may) => {
    expect(mayRide(tallyOf(rows))).toBe(may)
  })
})

describe('budgets', () => {
  const off = { maxSteps: 0, maxFailureStreak: 0 }

  it('of 0 never run out', () => {
    expect(exhausted(tallyOf(Array.from({ length: 1000 }, () => row('failed'))), off)).toBeNull()
  })

  it('of steps count every row and name their key', () => {
    const rows = [row('published'), row('skipped'), row('failed')]
    expect(exhausted(tallyOf(rows.slice(1)), { ...off, maxSteps: 3 })).toBeNull()
    expect(exhausted(tallyOf(rows), { ...off, maxSteps: 3 })).toContain('evolution.max_steps (3)')
  })

  it.each<[string, readonly StepOutcome[], boolean]>([
    ['two that lost', ['rejected', 'failed'], true],
    ['one that lost', ['published', 'rejected'], false],
    ['a skipped one between', ['rejected', 'skipped', 'failed'], true],
    ['skipped ones alone', ['skipped', 'skipped', 'skipped'], false],
    ['a published one between', ['rejected', 'published', 'rejected'], false],
    ['a held one at the end', ['rejected', 'rejected', 'pending'], false],
    ['a skipped one at the end', ['rejected', 'rejected', 'skipped'], true],
  ])('of failures judge %s', (_case, outcomes, isSpent) => {
    const said = exhausted(tallyOf(outcomes.map((outcome) => row(outcome))), { ...off, maxFailureStreak: 2 })
    expect(said !== null).toBe(isSpent)
    if (said !== null) expect(said).toContain('evolution.max_failure_streak (2)')
  })
})

const RESTS = { 0: 0, 1: 1, 2: 4, 3: 16, 4: 64, 5: 256, 6: 900, 7: 900, 100: 900 }
it.each(Object.entries(RESTS))('a rest after %s failures in a row is %i seconds', (failures, seconds) => {
  expect(restSeconds(Number(failures))).toBe(seconds)
})
