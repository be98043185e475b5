/** A step whose trainer or engine cannot be reached. */
import { describe, expect, it } from 'vitest'
import { until } from '../../../test/support/wait.ts'
import { unavailable, type Examiner, type WeightRuntime } from '../../contract/index.ts'
import { benches, ONE, orderOf, refuse, weightsOf } from './testing/steps.ts'

const on = benches()

describe('a trainer that cannot be reached', () => {
  it('is waited for inside the step with a report, and no step is taken twice', async () => {
    let isAway = false
    on.at.trainer.faults = (call) => {
      const isReported = on.at.lines.some((line) => line.includes('could not be reached'))
      isAway = !isReported && (isAway || call === 'optim_step')
      return isAway ? 'lost after' : undefined
    }
    expect(await on.at.step()).toMatchObject({ kind: 'publish' })
    expect(on.at.lines.join('\n')).toMatch(/could not be reached.*svc trainer start.*trying again in 1 s/)
    expect(on.at.trainer.optimizerSteps).toBe(1)
  })

  it('for ever is waited for until the step is aborted', async () => {
    on.at.trainer.faults = () => 'lost before'
    const stopping = new AbortController()
    const stepping = on.at.step({}, orderOf(ONE), stopping.signal)
    await until(() => on.at.lines.length > 0)
    stopping.abort(new Error('aborted by the caller'))
    await expect(stepping).rejects.toThrow('aborted by the caller')
  })

  it('with its memory, since it forgets everything, fails the step with its own words', async () => {
    on.at.trainer.faults = (call) => (call === 'forward_backward' ? { status: 404, body: '{"detail":"no such model"}' } : undefined)
    await expect(on.at.step()).rejects.toMatchObject({ code: 'trainer_forgot', message: expect.stringContaining('no such model') })
  })
})

it('an engine that cannot be reached while a candidate is examined is waited for, and nothing is trained again', async () => {
  let trials = 0
  const trial: WeightRuntime['trial'] = async (_candidate, work) => {
    trials += 1
    if (trials === 1) throw unavailable('engine_unreachable', 'the engine does not answer; try again later')
    return work({ chat: refuse })
  }
  const examiner: Examiner = { examine: (candidate) => candidate.try(async () => ({ select: true })) }
  expect(await on.at.step({ examiner, weights: weightsOf({ trial }) })).toMatchObject({ kind: 'publish' })
  expect(on.at.lines.join('\n')).toContain('the engine does not answer')
  expect([trials, on.at.trainer.optimizerSteps]).toEqual([2, 1])
})
