/** How far a request is, without a service: by its row, and by the step that holds it. */
import { describe, expect, it } from 'vitest'
import { commit } from '../../conformance/store-samples.ts'
import { ACTIVITY_LINES_SHOWN_MAX, type Commit, type StepOutcome } from '../contract/index.ts'
import { LiveStep, progressOf } from './progress.ts'

const clock = () => 17.5
const row = (step: number, id: string, outcome: StepOutcome): Commit => ({
  ...commit(step, [id]),
  outcome,
  metrics: { training_request: { id } },
})
const idle = { started_at: null, episodes_total: null, step_record: null, activity: [] }

describe('a request', () => {
  it('is queued while no step holds it', () => {
    const view = { request_id: 'i', settled: false, step: null, state: 'queued', meaning: expect.any(String), ...idle }
    expect(progressOf('i', [], [])).toEqual(view)
    expect(progressOf('i', [row(1, 'other', 'published')], [new LiveStep('other', clock), new LiveStep(null, clock)])).toEqual(view)
  })

  it('is in the phase of its step, with the reports of the step so far', () => {
    const step = new LiveStep('i', clock)
    expect(progressOf('i', [], [step])).toMatchObject({ state: 'running', started_at: 17.5, episodes_total: null })
    step.phase('proposing', { step_record: 'steps/3' })
    expect(progressOf('i', [], [step])).toMatchObject({ state: 'proposing', step_record: 'steps/3' })
    step.phase('evaluating', { episodes_total: 4 })
    expect(progressOf('i', [], [step])).toMatchObject({ state: 'evaluating', episodes_total: 4, step_record: 'steps/3' })
    step.phase('settling')
    expect(progressOf('i', [], [step])).toMatchObject({ state: 'settling', settled: false, episodes_total: 4 })
  })

  it.each<StepOutcome>(['published', 'pending', 'rejected', 'skipped', 'failed'])(
    'whose row is %s is settled, even if a step still holds it',
    (state) => {
      const step = new LiveStep('i', clock)
      step.line('model', 'asked')
      const settled = { request_id: 'i', settled: true, step: 2, state, meaning: null, ...idle }
      expect(progressOf('i', [row(1, 'other', 'failed'), row(2, 'i', state)], [step])).toEqual(settled)
    },
  )

  it('is not settled by a row that only consumed it: its own names it', () => {
    for (const metrics of [{}, { training_request: 'i' }])
      expect(progressOf('i', [{ ...row(1, 'i', 'published'), metrics }], [])).toMatchObject({ settled: false })
  })
})

describe('the activity of a step', () => {
  it('has its lines oldest first, and marks the failed ones alone', () => {
    const step = new LiveStep('i', clock)
    step.line('model', 'asked')
    step.line('check', 'refused', true)
    expect(step.view().activity).toEqual([
      { at: 17.5, kind: 'model', text: 'asked' },
      { at: 17.5, kind: 'check', text: 'refused', failed: true },
    ])
  })

  it('keeps the latest lines and forgets the rest', () => {
    const step = new LiveStep('i', clock)
    for (let at = 0; at < ACTIVITY_LINES_SHOWN_MAX + 5; at += 1) step.line('agent', `line ${at}`)
    const { activity } = step.view()
    expect(activity).toHaveLength(ACTIVITY_LINES_SHOWN_MAX)
    expect([activity[0]?.text, activity.at(-1)?.text]).toEqual(['line 5', `line ${ACTIVITY_LINES_SHOWN_MAX + 4}`])
  })

  it('that was shown does not change under the reader', () => {
    const step = new LiveStep('i', clock)
    const { activity } = step.view()
    step.line('agent', 'later')
    expect(activity).toEqual([])
  })
})
