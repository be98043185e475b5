/** Everything a trainer can do wrong in its thread: each ends as a failure in words, and the next step begins afresh. */
import { describe, expect, it } from 'vitest'
import { oneStep, threadHost, ThreadCount } from '../../../test/fixtures/trainers/hosts.ts'
import { orderTo, trainerOf } from '../../../test/fixtures/trainers/orders.ts'
import { until } from '../../../test/support/wait.ts'
import { STEP_TEXT_CHARACTERS_MAX } from '../../contract/index.ts'
import type { StepLimits, StoredOrder } from './host.ts'

const REAL_ENTRY = new URL('../../trainer-thread.ts', import.meta.url)
const count = orderTo('count')

/** The step fails with these words, and the next one has a thread that remembers nothing. */
async function expectFailure(order: StoredOrder, message: string | RegExp, limits: Partial<StepLimits> = {}): Promise<void> {
  const threads = new ThreadCount()
  const host = threadHost({ threads: 1 })
  const failing = oneStep(host, trainerOf('one', { limits }), order)
  await expect(failing).rejects.toThrow(message)
  await expect(failing).rejects.toHaveProperty('name', 'StepFailure')
  expect((await oneStep(host, trainerOf('one'), count)).metrics).toMatchObject({ taken: 1 })
  expect(threads).toMatchObject({ started: 2, most: 1 })
}

const cut = new RegExp(`^(🦀){${STEP_TEXT_CHARACTERS_MAX}}$`, 'u')
const tooLong = 'took longer than 0.5 s and was ended; raise training.step_timeout_s'
const tooMuch = 'held more than 64 MiB and was ended; raise training.memory_mib'
const damaged = orderTo('exchanges', {}, { r1: '{"a":1}', r2: '{"a":' })

it.each<[string, StoredOrder, string | RegExp, Partial<StepLimits>?]>([
  ['it throws: in the words of the error, on one line', orderTo('throw'), /^first line second line$/],
  ['it rejects: so much of the words as the contract says', orderTo('reject', { words: '🦀'.repeat(3000) }), cut],
  ['it rejects without a word', orderTo('reject', { words: '' }), /^Error$/],
  ['what it throws has no words at all', orderTo('throwNothing'), 'it failed without saying why'],
  ['it takes too long in a loop', orderTo('loop'), tooLong, { timeoutSeconds: 0.5 }],
  ['it takes too long without doing anything', orderTo('hang'), tooLong, { timeoutSeconds: 0.5 }],
  ['it holds too much of the heap', orderTo('heap'), tooMuch, { memoryMib: 64 }],
  ['it holds too much in buffers', orderTo('buffers'), tooMuch, { memoryMib: 64 }],
  ['it ends the process, which is only its thread', orderTo('exit'), 'ended its thread with exit code 3'],
  ['it leaves an error uncaught', orderTo('uncaught'), 'left an error uncaught: left alone'],
  ['it leaves a rejection unhandled', orderTo('unhandled'), 'left an error uncaught: left alone too'],
  ['its answer is no result', orderTo('answer', { answer: 'fine' }), "the trainer's answer is no step result"],
  ['its answer cannot be printed', orderTo('holdItself'), 'metrics: must be plain JSON'],
  ['its answer is too large for a row', orderTo('holdTooMuch'), 'state: must print to at most 16 MiB'],
  ['an exchange was stored damaged: naming the record', damaged, 'record r2: its stored body is not a JSON object'],
])('a step fails when %s', (_what, order, message, limits) => expectFailure(order, message, limits))

it.each(['throwLater', 'exitLater'])('between steps a thread that ends (%s) is replaced, and no step is blamed', async (deed) => {
  const threads = new ThreadCount()
  const host = threadHost()
  await oneStep(host, trainerOf('one'), orderTo(deed))
  await until(() => threads.alive === 0)
  expect((await oneStep(host, trainerOf('one'), count)).metrics).toMatchObject({ taken: 1 })
})

it('a limit that no timer can hold is as long as a timer can be, not no time at all', async () => {
  const result = await oneStep(threadHost(), trainerOf('one', { limits: { timeoutSeconds: 1e9 } }), count)
  expect(result.kind).toBe('reject')
})

describe('the thread of the service', () => {
  it('loads the recipe by its name and hands over the exchanges parsed', async () => {
    const order = orderTo('exchanges', {}, { r1: '{"a":1}', r2: '{"ü":[]}' })
    const result = await oneStep(threadHost({ entry: REAL_ENTRY }), trainerOf('one'), order)
    expect(result.metrics).toEqual({ exchanges: [[{ a: 1 }, { ü: [] }]] })
  })

  it('fails the step of a plug-in that cannot be loaded, opened, or has no such trainer', async () => {
    const host = threadHost({ entry: REAL_ENTRY })
    const plugin = { name: 'no-such-recipe', baseDirectory: import.meta.dirname }
    for (const [more, words] of [
      [{ plugin }, 'no-such-recipe is neither built in nor an installed package'],
      [{ component: 'broken' }, 'cannot be opened'],
      [{ component: 'ghost' }, 'has no trainer named "ghost"'],
      [{ component: 'constructor' }, 'has no trainer named "constructor"'],
    ] as const)
      await expect(oneStep(host, trainerOf('one', more), count)).rejects.toThrow(words)
  })
})
