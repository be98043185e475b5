/** Small cases that the property test found, each with its own title. */
import { afterEach, beforeEach, describe, it, vi } from 'vitest'
import { STEP_FAILURES_MAX, type TrainingMode } from '../../src/contract/index.ts'
import { live, type Command, type Simple } from './commands.ts'
import type { Breakable } from './power.ts'
import { ScenarioWorld, inMemory, type Settings } from './world.ts'
import type { Line } from './trainer.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const single: Settings = { components: [''], batchSize: 1, maxSteps: 0, stale: 'merge', configuredMode: 'hybrid', turns: 1, delays: [] }
const onSlowDisk: Settings = { ...single, delays: [1] }
const pair: Settings = { ...single, components: ['alpha', 'beta'], turns: 2 }
const slow: Line = { verdict: 'publish', isSlow: true }
const quick: Line = { verdict: 'publish', isSlow: false }
const report: Simple = { do: 'report', exchanges: 1, shared: null }
const infer: Simple = { do: 'infer' }
const instruct: Simple = { do: 'instruct' }
const elsewhere: Simple = { do: 'call elsewhere' }

const finish = (pick = 0): Simple => ({ do: 'finish', pick })
const restart: Command = { do: 'restart' }
const throws = (times: number): readonly Line[] => Array.from({ length: times }, () => ({ verdict: 'throw', isSlow: false }))
const choose = (mode: TrainingMode): Simple => ({ do: 'choose', mode })
const failing = (what: Breakable): Command => ({ do: 'fail next', what })
const together = (...all: readonly Simple[]): Command => ({ do: 'together', all })
const later = (times: number): readonly Command[] => Array.from({ length: times }, () => ({ do: 'later' }))

async function see(settings: Settings, script: readonly Line[], ...all: readonly Command[]): Promise<void> {
  const world = new ScenarioWorld(settings, script, inMemory)
  try {
    await live(world, all)
  } finally {
    await world.close()
  }
}

describe('a read of the store that fails once', () => {
  it('is made again for an instruction, which is not announced a second time', () => see(single, [], report, failing('pending'), instruct))

  it('is made again for traffic', () => see({ ...single, configuredMode: 'auto' }, [], instruct, failing('pending'), report))
})

describe('a scenario that makes room for another', () => {
  it('goes on with what it had left when the service was started', () =>
    see(onSlowDisk, [], elsewhere, infer, choose('auto'), instruct, restart))

  it('goes on after it rested over a failed step', () => see(single, throws(1), report, elsewhere))

  it('goes on after it rested over a failure of the service', () => see(single, [], infer, failing('commit'), instruct, elsewhere))

  it('goes on when the other could not be loaded', () =>
    see({ ...single, configuredMode: 'auto' }, throws(1), report, failing('head'), elsewhere, ...later(1)))

  it('leaves it the place until all of its trainers are done, so that two do not push each other out for ever', () =>
    see({ ...pair, delays: [1] }, [], elsewhere, infer, restart))

  it('goes on also when the other had been waiting for a place itself', () =>
    see(single, [slow, slow], elsewhere, report, restart, failing('commit'), finish(), elsewhere))

  it('is not asked to before the first request it was loaded for is done', () =>
    see(single, [slow, slow], elsewhere, instruct, restart, { do: 'remove' }, instruct))
})

describe('a batch that keeps failing', () => {
  it('is set aside in the end, also when instructions failed in between, and the next one is worked on', () =>
    see(single, throws(STEP_FAILURES_MAX + 1), report, ...later(3), instruct, ...later(STEP_FAILURES_MAX), report))

  it('is set aside in the end, also over restarts', () =>
    see(single, throws(STEP_FAILURES_MAX), report, ...later(3), restart, ...later(STEP_FAILURES_MAX), report))
})

it('a result that is judged again on a new head is given up when a person moved the head meanwhile, also while its trainer rested over a failure', () => {
  const script = [quick, quick, quick, slow, slow]
  const moved: readonly Command[] = [failing('read'), finish(), { do: 'rollback', pick: 3 }]
  return see({ ...pair, stale: 'reevaluate' }, script, report, report, finish(1), ...moved, ...later(1))
})

it('a step that ends while its scenario is removed leaves no row and no pointer', () =>
  see(single, [slow], report, together({ do: 'remove' }, finish())))

it('the pointer of a scenario names the head also when the one it was loaded with is written slowly', () => {
  const crash: Command = { do: 'crash', during: finish(), calls: 0, isLastDone: false }
  return see({ ...single, configuredMode: 'auto', delays: [0, 1, 2] }, [], instruct, crash, report, elsewhere, { do: 'rollback', pick: 10 })
})

it('a person who wants traffic tried at once is heard also while an instruction is under way', () => {
  const again = together(choose('manual'), choose('auto'))
  return see({ ...single, configuredMode: 'manual' }, [{ verdict: 'escape', isSlow: false }], report, choose('auto'), instruct, again)
})

it('an instruction that works, alone, does not end the rest of traffic that failed', () => {
  const first = [together(instruct, report), together(elsewhere, choose('hybrid')), report]
  const then = [together(instruct, { do: 'promote', pick: 0 }), together(finish(), infer), instruct]
  return see({ ...single, configuredMode: 'auto' }, [slow, ...throws(3)], ...first, ...then)
})
