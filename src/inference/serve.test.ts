/** The request line over a scripted runtime: which release an exchange names, and how long it is tried. */
import { describe, expect, it } from 'vitest'
import type { Release, RuntimeAnswer } from '../contract/index.ts'
import { serve } from './serve.ts'
import { callOf, releaseOf, servingOf } from './testing/scenario.ts'

const whole: RuntimeAnswer = { kind: 'whole', status: 200, headers: {}, body: Buffer.from('{}') }

/** A scenario whose head a test can move while a call is under way. */
function scripted(infer: (attempt: number, move: (next: Release) => void) => RuntimeAnswer) {
  let [head, attempts] = [releaseOf('r1'), 0]
  const move = (next: Release): void => void (head = next)
  return servingOf(() => Promise.resolve(infer((attempts += 1), move)), { head: () => head })
}

/** Time stands still, so that the pauses alone decide how often a call is tried. */
const call = (retryTimeoutSeconds: number, signal = new AbortController().signal) => callOf({ retryTimeoutSeconds, signal })

describe('an exchange', () => {
  it('names the release that was current when it began, also when an update lands meanwhile [inference.rule-1]', async () => {
    const { scenario, records, asked } = scripted((_attempt, move) => {
      move(releaseOf('r2'))
      return whole
    })
    const served = await serve(scenario, call(0))
    expect(served).toMatchObject({ kind: 'whole', receipt: 'receipt-1' })
    expect(asked).toEqual(['r1'])
    expect(records).toMatchObject([{ agent_record_id: 'receipt-1', artifact_ref: 'r1' }])
    await serve(scenario, call(0))
    expect(records.at(-1)).toMatchObject({ artifact_ref: 'r2' })
  })

  it('that lost to an update is built again against the release of the new attempt', async () => {
    const { scenario, records, asked } = scripted((attempt, move) => {
      move(releaseOf('r2'))
      return attempt === 1 ? { kind: 'interrupted' } : whole
    })
    await serve(scenario, call(1))
    expect(asked).toEqual(['r1', 'r2'])
    expect(records).toMatchObject([{ artifact_ref: 'r2' }])
  })

  it('of an evaluation is not kept', async () => {
    const { scenario, records } = scripted(() => whole)
    const { keep: _keep, ...evaluation } = scenario
    expect(await serve(evaluation, call(0))).toMatchObject({ receipt: null })
    expect(records).toEqual([])
  })
})

describe('a call that keeps losing', () => {
  it.each([
    [0, 1],
    [0.04, 1],
    [0.05, 2],
    [0.1, 3],
    [0.2, 4],
    [0.39, 4],
  ])('with %d seconds to try pauses 0.05, 0.1, 0.2, ... and is tried %i times [decisions.inference-race]', async (seconds, attempts) => {
    const { scenario, records, asked } = scripted(() => ({ kind: 'interrupted' }))
    await expect(serve(scenario, call(seconds))).rejects.toMatchObject({ kind: 'unavailable', code: 'weight_update_race' })
    expect(asked).toHaveLength(attempts)
    expect(records).toEqual([])
  })

  it('never pauses longer than a second [decisions.inference-race]', async () => {
    const controller = new AbortController()
    const { scenario } = scripted((attempt) => {
      // After 0.05, 0.1, 0.2, 0.4 and 0.8 the next pause would be 1.6, which is more than there is time for.
      if (attempt === 6) controller.abort()
      return { kind: 'interrupted' }
    })
    await expect(serve(scenario, call(1.5, controller.signal))).rejects.toMatchObject({ code: 'client_gone' })
  })
})
