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

describe('a step fails', () => {
  it('when it throws: in the words of the error, on one line', () => expectFailure(orderTo('throw'), /^first line second line$/))

  it('when it rejects: so much of the words as the contract says', () =>
    expectFailure(orderTo('reject', { words: '🦀'.repeat(3000) }), new RegExp(`^(🦀){${STEP_TEXT_CHARACTERS_MAX}}$`, 'u')))

  it('when it rejects without a word', () => expectFailure(orderTo('reject', { words: '' }), /^Error$/))

  it('when what it throws has no words at all', () => expectFailure(orderTo('throwNothing'), 'it failed without saying why'))

  it.each(['loop', 'hang'])('when it takes too long (%s)', (deed) =>
    expectFailure(orderTo(deed), 'took longer than 0.5 s and was ended; raise training.step_timeout_s', { timeoutSeconds: 0.5 }),
  )

  it.each(['heap', 'buffers'])('when it holds too much (%s)', (deed) =>
    expectFailure(orderTo(deed), 'held more than 64 MiB and was ended; raise training.memory_mib', { memoryMib: 64 }),
  )

  it('when it ends the process, which is only its thread', () => expectFailure(orderTo('exit'), 'ended its thread with exit code 3'))

  it('when it leaves an error uncaught', () => expectFailure(orderTo('uncaught'), 'left an error uncaught: left alone'))

  it('when it leaves a rejection unhandled', () => expectFailure(orderTo('unhandled'), 'left an error uncaught: left alone too'))

  it('when its answer is no result', () => expectFailure(orderTo('answer', { answer: 'fine' }), "the trainer's answer is no step result"))

  it('when its answer cannot be printed', () => expectFailure(orderTo('holdItself'), 'metrics: must be plain JSON'))

  it('when its answer is too large for a row', () => expectFailure(orderTo('holdTooMuch'), 'state: must print to at most 16 MiB'))

  it('when an exchange was stored damaged: naming the record', () =>
    expectFailure(orderTo('exchanges', {}, { r1: '{"a":1}', r2: '{"a":' }), 'record r2: its stored body is not a JSON object'))
})

describe('between steps', () => {
  it.each(['throwLater', 'exitLater'])('a thread that ends (%s) is replaced, and no step is blamed', async (deed) => {
    const threads = new ThreadCount()
    const host = threadHost()
    await oneStep(host, trainerOf('one'), orderTo(deed))
    await until(() => threads.alive === 0)
    expect((await oneStep(host, trainerOf('one'), count)).metrics).toMatchObject({ taken: 1 })
  })
})

describe('a limit that no timer can hold', () => {
  it('is as long as a timer can be, not no time at all', async () => {
    const result = await oneStep(threadHost(), trainerOf('one', { limits: { timeoutSeconds: 1e9 } }), count)
    expect(result.kind).toBe('reject')
  })
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
    await expect(oneStep(host, trainerOf('one', { plugin }), count)).rejects.toThrow(
      'no-such-recipe is neither built in nor an installed package',
    )
    await expect(oneStep(host, trainerOf('one', { component: 'broken' }), count)).rejects.toThrow('cannot be opened')
    await expect(oneStep(host, trainerOf('one', { component: 'ghost' }), count)).rejects.toThrow('has no trainer named "ghost"')
    await expect(oneStep(host, trainerOf('one', { component: 'constructor' }), count)).rejects.toThrow('has no trainer named "constructor"')
  })
})
