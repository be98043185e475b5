/** How far a request is, without a service: by its row, and by the step that holds it. */
import { describe, expect, it } from 'vitest'
import { commit } from '../../conformance/store-samples.ts'
import { ACTIVITY_LINES_SHOWN_MAX, EPISODES_SHOWN_MAX, type Commit, type StepOutcome } from '../contract/index.ts'
import { LiveStep, progressOf, runningStep } from './progress.ts'

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

describe('a running step', () => {
  const EPISODE = { side: 'current', task: 't', repeat: 0, score: 1, words: 'fine', seconds: 4, transcript: null } as const
  const TOOK = { input_tokens: 7, output_tokens: 3, cost: 0.5 }

  it('on traffic tells its phase and its episodes, with what they took and how long the rest may take', () => {
    let now = 100
    const step = new LiveStep(null, () => now)
    const nothing = { episodes: [], episodes_played: 0, input_tokens: 0, output_tokens: 0, seconds_left: null }
    expect(runningStep('a', step)).toMatchObject({
      component: 'a',
      request_id: null,
      state: 'running',
      meaning: 'A step on traffic runs.',
      ...nothing,
    })
    step.episode({ ...EPISODE, ...TOOK, side: 'trial', so_far: { episodes: 1, ...TOOK } })
    step.phase('evaluating', { episodes_total: 10 })
    expect(runningStep('', step).seconds_left).toBeNull()
    now = 108
    step.episode({ ...EPISODE, ...TOOK, so_far: { episodes: 3, input_tokens: 21, output_tokens: 9, cost: 1.5 } })
    expect(runningStep('', step)).toMatchObject({
      state: 'evaluating',
      episodes_played: 3,
      input_tokens: 21,
      cost: 1.5,
      seconds_left: 32,
      episodes: [{ side: 'trial' }, { at: 108, ...EPISODE, ...TOOK }],
    })
  })

  it('keeps the latest episodes, and names its request', () => {
    const step = new LiveStep('i', clock)
    for (let at = 0; at < EPISODES_SHOWN_MAX + 5; at += 1)
      step.episode({ ...EPISODE, ...TOOK, repeat: at, so_far: { episodes: at + 1, ...TOOK } })
    const { episodes, request_id } = runningStep('', step)
    expect([episodes.length, episodes[0]?.repeat, request_id]).toEqual([EPISODES_SHOWN_MAX, 5, 'i'])
  })
})
