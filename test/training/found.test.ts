/** Small cases that the property test found, each with its own title. */
import { afterEach, beforeEach, describe, it, vi } from 'vitest'
import { STEP_FAILURES_MAX } from '../../src/contract/index.ts'
import { live, type Command, type Simple } from './commands.ts'
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

const throws = (times: number): readonly Line[] => Array.from({ length: times }, () => ({ verdict: 'throw', isSlow: false }))
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
  it('is made again for an instruction, which nobody would announce a second time', () =>
    see(single, [], report, { do: 'fail next', what: 'pending' }, instruct))

  it('is made again for traffic', () =>
    see({ ...single, configuredMode: 'auto' }, [], instruct, { do: 'fail next', what: 'pending' }, report))
})

describe('a scenario that makes room for another', () => {
  it('goes on with what it had left when the service was started', () =>
    see(onSlowDisk, [], elsewhere, infer, { do: 'choose', mode: 'auto' }, instruct, { do: 'restart' }))

  it('goes on after it rested over a failed step', () => see(single, [{ verdict: 'throw', isSlow: false }], report, elsewhere))

  it('goes on after it rested over a failure of the service', () =>
    see(single, [], infer, { do: 'fail next', what: 'commit' }, instruct, elsewhere))

  it('leaves it the place until all of its trainers are done, so that two do not push each other out for ever', () =>
    see({ ...pair, delays: [1] }, [], elsewhere, infer, { do: 'restart' }))

  it('goes on also when the other had been waiting for a place itself', () =>
    see(
      single,
      [slow, slow],
      elsewhere,
      report,
      { do: 'restart' },
      { do: 'fail next', what: 'commit' },
      { do: 'finish', pick: 0 },
      elsewhere,
    ))

  it('is not asked to before the first request it was loaded for is done', () =>
    see(single, [slow, slow], elsewhere, instruct, { do: 'restart' }, { do: 'remove' }, instruct))
})

describe('a batch that keeps failing', () => {
  it('is set aside in the end, also when instructions failed in between, and the next one is worked on', () =>
    see(single, throws(STEP_FAILURES_MAX + 1), report, ...later(3), instruct, ...later(STEP_FAILURES_MAX), report))

  it('is set aside in the end, also over restarts', () =>
    see(single, throws(STEP_FAILURES_MAX), report, ...later(3), { do: 'restart' }, ...later(STEP_FAILURES_MAX), report))
})

describe('a result that is judged again on a new head', () => {
  const bothPublish: readonly Line[] = [quick, quick, quick]
  const back: Command = { do: 'rollback', pick: 3 }

  it('is given up when somebody moved the head meanwhile, also while its trainer rested over a failure', () =>
    see(
      { ...pair, stale: 'reevaluate' },
      [...bothPublish, slow, slow],
      report,
      report,
      { do: 'finish', pick: 1 },
      { do: 'fail next', what: 'read' },
      { do: 'finish', pick: 0 },
      back,
      { do: 'later' },
    ))
})

describe('a step that ends while its scenario is removed', () => {
  it('leaves no row and no pointer', () =>
    see(single, [slow], report, { do: 'together', all: [{ do: 'remove' }, { do: 'finish', pick: 0 }] }))
})

describe('the pointer of a scenario', () => {
  it('names the head also when the one it was loaded with is written slowly', () =>
    see(
      { ...single, configuredMode: 'auto', delays: [0, 1, 2] },
      [],
      instruct,
      { do: 'crash', during: { do: 'finish', pick: 0 }, calls: 0, isLastDone: false },
      report,
      elsewhere,
      { do: 'rollback', pick: 10 },
    ))
})

describe('a person who wants traffic tried at once', () => {
  it('is heard also while an instruction is under way', () =>
    see({ ...single, configuredMode: 'manual' }, [{ verdict: 'escape', isSlow: false }], report, { do: 'choose', mode: 'auto' }, instruct, {
      do: 'together',
      all: [
        { do: 'choose', mode: 'manual' },
        { do: 'choose', mode: 'auto' },
      ],
    }))
})

describe('an instruction that works, alone', () => {
  it('does not end the rest of traffic that failed', () =>
    see(
      { ...single, configuredMode: 'auto' },
      [{ verdict: 'publish', isSlow: true }, ...throws(3)],
      { do: 'together', all: [instruct, report] },
      { do: 'together', all: [elsewhere, { do: 'choose', mode: 'hybrid' }] },
      report,
      { do: 'together', all: [instruct, { do: 'promote', pick: 0 }] },
      { do: 'together', all: [{ do: 'finish', pick: 0 }, infer] },
      instruct,
    ))
})
