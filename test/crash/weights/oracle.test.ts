/** The oracle of the weight ordeal can fail: each way in which a job may break its promises is reported. */
import { describe, expect, it } from 'vitest'
import type { Attack, Outcome } from './attempt.ts'
import type { Adapter, Row } from './left.ts'
import { judge } from './oracle.ts'

const BATCH = ['exchange', 'report']
const ROW: Row = { step: 2, operation: 'train', outcome: 'published', consumed: BATCH, error: '' }
const ADAPTER: Adapter = { job: 'job', sha256: 'aa', optimizerSteps: 2, stateSteps: 2 }
const UNDISTURBED: Outcome = {
  rows: [ROW],
  adapter: ADAPTER,
  statesSaved: 1,
  answeredBy: 'folder:2',
  pending: [],
  damage: [],
  answer: 'blue',
  adapters: ['folder.1', 'folder.2'],
  exitCode: 0,
  seconds: 1,
}
const attackOn = (who: Attack['who']): Attack => ({ who, point: 'trained', afterMs: null })
const broken = (change: Partial<Outcome>, who: Attack['who'] = 'service'): readonly string[] =>
  judge(attackOn(who), { ...UNDISTURBED, ...change }, { batch: BATCH, undisturbed: UNDISTURBED })

describe('what the oracle accepts', () => {
  it('what an undisturbed run leaves, however long it took', () => {
    expect(broken({ seconds: 60 })).toEqual([])
  })

  it('an engine that let go of what is no longer served', () => {
    expect(broken({ adapters: ['folder.2'] })).toEqual([])
  })

  it('a job that a trainer which died trained again', () => {
    expect(broken({ statesSaved: 2 }, 'trainer')).toEqual([])
  })
})

describe('what the oracle reports', () => {
  it.each<[string, Partial<Outcome>, RegExp]>([
    ['a batch that was never published', { rows: [] }, /published 0 times/],
    ['a batch that was published twice', { rows: [ROW, { ...ROW, step: 3 }] }, /published 2 times/],
    ['a failure that left a row', { rows: [{ ...ROW, outcome: 'failed', consumed: [] }, ROW] }, /a row of its own: train, failed/],
    ['a record that was consumed twice', { rows: [{ ...ROW, consumed: [...BATCH, 'report'] }] }, /report was consumed 2 times/],
    ['a record that was consumed by no step', { rows: [{ ...ROW, consumed: ['report'] }] }, /exchange was consumed 0 times/],
    ['a record of another batch', { rows: [{ ...ROW, consumed: [...BATCH, 'other'] }] }, /other was consumed and is not/],
    ['a record that still waits', { pending: ['report'] }, /report still waits/],
    ['a release without weights', { adapter: null }, /no release was trained/],
    ['another job', { adapter: { ...ADAPTER, job: 'other' } }, /its job is not/],
    ['other weights', { adapter: { ...ADAPTER, sha256: 'bb' } }, /its weights are not/],
    ['a second optimizer step', { adapter: { ...ADAPTER, optimizerSteps: 3, stateSteps: 3 } }, /provenance counts 3/],
    ['a state of another step', { adapter: { ...ADAPTER, stateSteps: 3 } }, /state counts 3/],
    ['a state that is gone', { statesSaved: 0 }, /kept 0 states/],
    ['a job that was trained again although its trainer lived', { statesSaved: 2 }, /kept 2 states/],
    ['another answer', { answer: 'red' }, /answers otherwise/],
    ['an answer of the weights before', { answeredBy: 'folder:1' }, /the load folder:1 answers/],
    ['a candidate left in the engine', { adapters: ['folder.2', 'candidate-job'] }, /holds candidate-job/],
    ['damage to what is stored', { damage: ['learner report: other bytes'] }, /other bytes/],
    ['a service that does not stop', { exitCode: null }, /ended with null/],
  ])('%s', (_, change, words) => {
    expect(broken(change).join('\n')).toMatch(words)
  })

  it('a job that was trained three times', () => {
    expect(broken({ statesSaved: 3 }, 'trainer').join('\n')).toMatch(/kept 3 states/)
  })
})
