/** A step as plain data, over rows of every kind. */
import { describe, expect, it } from 'vitest'
import { STEP_OUTCOMES, STEP_RESULTS } from '../contract/index.ts'
import type { MovableRow, StepRow } from './chain.ts'
import { stepName } from './names.ts'
import { requestStatus, stageOf, statusOf } from './outcome.ts'
import type { UnknownRecord } from './read.ts'
import { stepView } from './step.ts'
import { HELD, PROMOTED, REJECTED, rowOf } from './testing/rows.ts'

const viewOf = (more: Partial<MovableRow>) => {
  const rows = [rowOf(0), rowOf(1, more)]
  return stepView(rowOf(1, more), { rows, nameOf: ({ step }) => `v${step}` })
}
const of = (metrics: UnknownRecord) => viewOf({ metrics })

describe('the outcome of a step', () => {
  it.each([
    [rowOf(0), 'Starting point', 'Published', 'plain'],
    [rowOf(1), 'Published', 'Published', 'good'],
    [HELD, 'Held', 'Ready for review', 'warn'],
    [rowOf(1, { result: 'rejected' }), 'Rejected', 'Not selected', 'plain'],
    [rowOf(1, { result: 'skipped' }), 'Skipped', 'No changes', 'plain'],
    [rowOf(1, { result: 'failed' }), 'Failed', 'No changes', 'bad'],
    [rowOf(1, { result: 'pending', pending: true, provisional: true }), 'Provisional', 'Ready for review', 'warn'],
    [rowOf(1, { result: 'pending', pending: true, provisional: false }), 'Provisional, ended', 'Not selected', 'plain'],
    [rowOf(1, { operation: 'promote' }), 'Published', 'Published', 'good'],
    [rowOf(1, { operation: 'rollback' }), 'Published', 'Published', 'good'],
    [rowOf(1, { operation: 'shipped' }), 'Published', 'Published', 'good'],
    [rowOf(1, { result: 'pending', pending: true, operation: 'shipped' }), 'Held', 'Ready for review', 'warn'],
    [rowOf(1, { result: 'pending', pending: true, operation: 'create' }), 'Held', 'Ready for review', 'warn'],
  ])('is one word, a title on its page, and a tone', (row, word, title, tone) => {
    expect(statusOf([row], row)).toMatchObject({ word, title, tone, outcome: STEP_OUTCOMES[row.result].word })
  })

  it('of a held release that was rejected says so, and its reason is with both rows', () => {
    const rows = [rowOf(0), HELD, REJECTED]
    expect(statusOf(rows, HELD)).toMatchObject({ word: 'Rejected by a person', title: 'Not selected', tone: 'bad', outcome: 'held' })
    expect(statusOf(rows, REJECTED)).toMatchObject({ word: 'Rejected by a person', title: 'Not selected' })
    const shown = (row: StepRow) => stepView(row, { rows, nameOf: ({ step }) => `v${step}` })
    expect(shown(HELD).rejection).toEqual({ step: 2, at: REJECTED.recorded_at, reason: 'It deletes files.' })
    expect(shown(REJECTED)).toMatchObject({
      rejection: null,
      reason: { origin: 'Rejected by a person', isQuoted: true, text: 'It deletes files.', line: 'Rejects v1: It deletes files.' },
    })
    const commented = { ...PROMOTED, metrics: { comment: 'fine by me' } }
    expect(shown(commented).reason).toMatchObject({ line: 'Serves the content of v1: fine by me' })
  })

  it('of a seed that is held beside an import says whose place it would take, and why it is held', () => {
    const held = viewOf({ ...HELD, operation: 'shipped', metrics: { held_because: 'it is served as it was' } })
    expect(held.status.meaning).toContain('Not live until promoted')
    expect(held.reason.text).toContain('in place of what was imported')
    expect(held.decision).toBe('it is served as it was')
  })

  it('of a held release that was promoted names the step of the promotion', () => {
    expect(statusOf([rowOf(0), HELD, PROMOTED], HELD)).toMatchObject({
      word: 'Promoted',
      title: `Promoted at step ${PROMOTED.step}`,
      tone: 'good',
      outcome: 'held',
    })
  })

  it('has its reason: the decision, why there was none, or the failure', () => {
    expect(of({ selection: { reason: 'better on 9 of 12' } }).decision).toBe('better on 9 of 12')
    expect(of({ skipped: 'no proposal' }).decision).toBe('no proposal')
    expect(of({ skipped: 'step failed', error: 'out of memory' }).decision).toBe('step failed: out of memory')
    expect(of({ proposal_notes: { failure: 'no answer' } }).decision).toBe('no answer')
    expect(of({ selection: 'text', skipped: 7, error: [] }).decision).toBeNull()
  })
})

it('names the tasks that were counted as one family', () => {
  const { facts } = of({ joined_tasks: [['a', 'b'], ['c', 7, 'd'], 'x', []] })
  expect(facts).toContainEqual(['Counted as one family', 'a, b; c, d'])
  expect(of({ joined_tasks: 'x' }).facts.map(([label]) => label)).not.toContain('Counted as one family')
})

describe('a request', () => {
  it.each<[string, boolean, number]>([
    ['queued', false, 0],
    ['running', false, 1],
    ['proposing', false, 1],
    ['a state to come', false, 1],
    ['settling', false, 2],
    ['rejected', true, 3],
  ])('that is %s (settled: %s) is at its stage', (state, settled, stage) => {
    expect(stageOf({ state, settled })).toBe(stage)
  })

  it('has a word for every state; one that is not known is its own', () => {
    expect(['evaluating', 'pending', 'new'].map((state) => requestStatus(state).word)).toEqual(['Checking the harness', 'Held', 'new'])
  })

  it.each(STEP_RESULTS)('that settled as %s has the word of its step', (result) => {
    expect(requestStatus(result).word.toLowerCase()).toBe(STEP_OUTCOMES[result].word)
  })
})

describe('why a step was made', () => {
  it.each<[Partial<MovableRow>, string, string, boolean]>([
    [{ metrics: { training_request: { text: 'Be brief.' }, proposal: { reason: 'x' } } }, 'Asked for by a person', 'Be brief.', true],
    [{ metrics: { proposal: { reason: 'people asked' } } }, 'Proposed by an agent', 'people asked', true],
    [{ metrics: { proposal: { id: 'p', reason: '' } } }, 'Proposed by an agent', 'It gave no reason.', true],
    [{ operation: 'rollback', rollback_target_release_id: 'release-0' }, 'Rolled back by a person', 'Serves the content of v0.', false],
    [
      { operation: 'promote', rollback_target_release_id: 'gone' },
      'Promoted by a person',
      'Serves the content of an earlier release.',
      false,
    ],
    [{ operation: 'shipped' }, 'Shipped with the service', 'The service updated the entries that it ships.', false],
    [{ metrics: { training_request: 'no object' } }, 'Learned from traffic', 'The step learned from traffic.', false],
    [{ metrics: { traces: 1 } }, 'Learned from traffic', 'The step learned from traffic: 1 reported sample.', false],
  ])('%#', (more, origin, text, isQuoted) => {
    expect(viewOf(more).reason).toMatchObject({ origin, text, isQuoted })
  })
})

describe('the notes of a step', () => {
  it('are the review, and what a machine must have', () => {
    const { review, setup } = of({
      proposal_notes: { review: { result: 'partial', covered: ['the tone', 7], uncovered: ['the length'] } },
      training_request: {
        requires: [{ kind: 'env', name: 'DEEPL_KEY', prompt: 'a key for translations' }],
        refused_requires: [{ item: { kind: 'service', name: 'x' }, reason: 'holds a credential' }],
      },
    })
    expect(review).toMatchObject({ result: 'Partial', tone: 'warn', covered: ['the tone'], uncovered: ['the length'] })
    expect(setup).toEqual({
      own: [{ kind: 'env', name: 'DEEPL_KEY', prompt: 'a key for translations', check: null }],
      carried: [],
      refused: [{ item: 'service x', reason: 'holds a credential' }],
    })
  })

  it.each([{}, { proposal_notes: 'text', training_request: [] }, { proposal_notes: { review: 7 } }])('are none in %j', (metrics) => {
    expect(of(metrics)).toMatchObject({ review: null, design: null, setup: { own: [], carried: [], refused: [] } })
  })
})

describe('the scores of a step', () => {
  it('are means per episode, with the pairs beside them', () => {
    expect(of({ candidate_score: 12, current_score: 4, wins: 9, losses: 1, ties: 6 }).scores).toEqual({
      candidate: 0.75,
      current: 0.25,
      text: '0.25 → 0.75',
      tone: 'good',
      pairs: '9 won, 1 lost, 6 tied',
    })
    expect(of({ candidate_score: 3, passed: 3, failed: 1 }).scores).toMatchObject({ text: '0.75', tone: 'plain', pairs: null })
  })

  it('are none of a step that played nothing', () => {
    expect(of({ wins: 2 }).scores).toBeNull()
  })
})

it('what a step cost is one line', () => {
  const used = { episodes_used: 144, episodes_cached: 16, episodes_saved: 496 }
  expect(of(used).cost).toBe('144 episodes played, 16 known from before, 496 saved by ending early')
  expect(of({ episodes_used: 1 }).cost).toBe('1 episode played')
  expect(of({}).cost).toBeNull()
})

describe('what a step is called', () => {
  it('is the number of its release', () => {
    expect([stepName(rowOf(3)), stepName(HELD), stepName(rowOf(3), 2)]).toEqual(['v3', 'v1', 'v2'])
  })

  it('is never a number where it made none: it is what it was, and when', () => {
    const at = { recorded_at: 1_794_757_869 }
    for (const result of ['rejected', 'skipped', 'failed'] as const)
      expect(stepName(rowOf(3, { result, ...at }))).toBe('try of 2026-11-15 15:51:09 UTC')
    expect(stepName({ ...REJECTED, ...at })).toBe('rejection of 2026-11-15 15:51:09 UTC')
    expect(stepName(rowOf(3, { operation: 'withdraw', result: 'skipped', ...at }))).toBe('withdrawal of 2026-11-15 15:51:09 UTC')
    expect(stepName(rowOf(3, { result: 'failed', recorded_at: Number.NaN }))).toBe('try of an unknown time UTC')
  })
})
