/** A clock that is set back during a trainer's back-off: the back-off still ends. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { report as reportOf } from '../../conformance/processor-samples.ts'
import { commit } from '../../conformance/store-samples.ts'
import { STEP_RETRY_MAX_SECONDS, type Commit } from '../../src/contract/index.ts'
import { trainerOf } from '../fixtures/trainers/orders.ts'
import { StepFailure } from '../../src/training/hosts/host.ts'
import { NO_STEPS, reportedProcessor, tallied, Worker, type TrainingContext } from '../../src/training/index.ts'

const DAY_SECONDS = 24 * 60 * 60
const START = 100 * DAY_SECONDS

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const report = reportOf('r', ['x'], {}, { sequence: 2 })
const release = { release_id: 'a', parent_release_id: null, content_id: 'c' }
const failed: Commit = { ...commit(1), recorded_at: START, outcome: 'failed', metrics: { skipped: 'step failed', error: 'no' } }

interface ScenarioWorld {
  /** Seconds since the epoch, as the machine would say. */
  now: number
  /** Started steps. */
  steps: number
  isBroken: boolean
}

/** A scenario of one report, over which every step fails. */
function workerIn(world: ScenarioWorld, since: number, rows: readonly Commit[] = []): Worker {
  let commits = rows
  const context: TrainingContext = {
    name: 's',
    mode: 'auto',
    model: { model: null, api: 'openai' },
    budgets: { maxSteps: 0, maxFailureStreak: 0 },
    get step() {
      return commits.length
    },
    trained: () => commits.reduce(tallied, NO_STEPS),
    latest: () => commits.at(-1),
    store: {
      pending: ({ after }) => Promise.resolve(after === 0 ? [report] : []),
      chain: () => Promise.resolve([]),
      losses: () => (world.isBroken ? Promise.reject(new Error('no disk')) : Promise.resolve({ records: 0, bytes: 0 })),
    },
    clock: () => world.now,
    head: () => release,
    files: () => Promise.resolve({}),
    loadId: () => undefined,
    rejections: () => Promise.resolve([]),
    keep: () => Promise.resolve('c'),
    admit: () => Promise.resolve(),
    busy: (work) => work(),
    landing: (task) =>
      task(({ component: _component, content: _content, live: _live, ...draft }) => {
        const landed: Commit = { ...failed, ...draft, step: commits.length + 1, recorded_at: world.now }
        commits = [...commits, landed]
        return Promise.resolve(landed)
      }),
  }
  return new Worker({
    context,
    address: trainerOf('s'),
    host: {
      inTurn: (_trainer, _signal, work) =>
        work(() => {
          world.steps += 1
          return Promise.reject(new StepFailure('no'))
        }),
      close: () => Promise.resolve(),
    },
    processor: reportedProcessor({ name: 'p', batchSize: 1 }),
    plan: { lane: 'thread' },
    takesInstructions: true,
    since,
    onRest: () => undefined,
    onStep: () => undefined,
    onInternalFailure: () => undefined,
  })
}

/** Advances clock and timers together, in steps short enough to hit every back-off. */
async function pass(world: ScenarioWorld, seconds: number): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 1) {
    world.now += 1
    await vi.advanceTimersByTimeAsync(1000)
  }
}

describe('a trainer that rests after a failure', () => {
  it.each([false, true])(
    'tries again within the longest rest when the clock is set back by a day (the service failed: %s)',
    async (isBroken) => {
      const world: ScenarioWorld = { now: START, steps: 0, isBroken }
      const worker = workerIn(world, START)
      worker.start()
      await vi.advanceTimersByTimeAsync(0)
      expect(world.steps).toBe(1)
      world.now -= DAY_SECONDS
      await pass(world, STEP_RETRY_MAX_SECONDS + 1)
      expect(world.steps).toBeGreaterThan(1)
      await worker.stop()
    },
  )

  it('tries again within the longest rest when its latest row was written by a clock that ran ahead', async () => {
    const world: ScenarioWorld = { now: START - DAY_SECONDS, steps: 0, isBroken: false }
    const worker = workerIn(world, START - DAY_SECONDS, [failed])
    worker.start()
    await pass(world, STEP_RETRY_MAX_SECONDS + 1)
    expect(world.steps).toBeGreaterThan(0)
    await worker.stop()
  })
})
