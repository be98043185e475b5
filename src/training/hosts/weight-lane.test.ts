/** The weight lane: one step of the whole process at a time, held to the same rules as a thread. */
import { describe, expect, it } from 'vitest'
import { heard, never, oneStep } from '../../../test/fixtures/trainers/hosts.ts'
import { orderTo, trainerOf } from '../../../test/fixtures/trainers/orders.ts'
import memory from '../../../plugins/stores/memory/index.ts'
import type { StepResult, Store, Trainer } from '../../contract/index.ts'
import { makeWeightLane } from './weight-lane.ts'

type Step = Trainer['step']

/** Of a store whose leases are always free. */
const laneOf = () =>
  makeWeightLane({ lease: async (name) => ({ name, token: 1, signal: new AbortController().signal, release: async () => undefined }) })

const order = orderTo('anything')
const rejected: StepResult = { kind: 'reject' }

/** A host whose trainers all take this step, and the names of the scenarios it opened. */
function hostOf(step: Step, lane = laneOf()) {
  const opened: string[] = []
  const open = ({ scenario }: { readonly scenario: string }): Trainer => {
    opened.push(scenario)
    return { step }
  }
  return { host: lane.hostFor(open), opened }
}

/** A step that waits until it is let go, and says when it began. */
function held() {
  const [begun, free] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const step: Step = async () => {
    begun.resolve()
    await free.promise
    return rejected
  }
  return { step, begun: begun.promise, letGo: free.resolve }
}

describe('the weight lane', () => {
  it('opens a trainer once, and hands it the exchanges parsed', async () => {
    const seen: unknown[] = []
    const { host, opened } = hostOf(async ({ batch }) => {
      seen.push(batch.samples.map(({ exchanges }) => exchanges))
      return rejected
    })
    await oneStep(host, trainerOf('one'), orderTo('', {}, { r1: '{"a":1}' }))
    await oneStep(host, trainerOf('one'), order)
    await oneStep(host, trainerOf('two'), order)
    expect(opened).toEqual(['one', 'two'])
    expect(seen).toEqual([[[{ a: 1 }]], [], []])
  })

  it('takes one step at a time among all gateways of a store, and the next one when a lease is free again', async () => {
    const store: Store = await memory.plugin.make({})
    const [first, second] = [held(), held()]
    let isBegun = false
    const one = oneStep(hostOf(first.step, makeWeightLane(store)).host, trainerOf('one'), order)
    await first.begun
    const other = hostOf((...asked) => ((isBegun = true), second.step(...asked)), makeWeightLane(store))
    const two = oneStep(other.host, trainerOf('two'), order)
    // It asks, and does not get it.
    expect(await store.lease('weight-jobs')).toBeNull()
    expect(isBegun).toBe(false)
    first.letGo()
    await one
    await second.begun
    second.letGo()
    expect(await two).toEqual(rejected)
  })

  it('ends a step whose lease was lost: another gateway may have a job at the trainer', async () => {
    const lost = new AbortController()
    const lane = makeWeightLane({
      lease: async (name) => ({ name, token: 1, signal: lost.signal, release: async () => undefined }),
    })
    const begun = Promise.withResolvers<void>()
    const step: Step = async (_order, _report, signal) => {
      begun.resolve()
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      return rejected
    }
    const ended = expect(oneStep(hostOf(step, lane).host, trainerOf('one'), order)).rejects.toThrow('lease was lost')
    await begun.promise
    lost.abort(new Error('the lease was lost'))
    await ended
  })

  it('takes one step at a time across all its hosts, oldest asker first', async () => {
    const [lane, first, second] = [laneOf(), held(), held()]
    const ended: string[] = []
    const one = oneStep(hostOf(first.step, lane).host, trainerOf('one'), order).then(() => ended.push('one'))
    const two = oneStep(hostOf(second.step, lane).host, trainerOf('two'), order).then(() => ended.push('two'))
    second.letGo()
    await first.begun
    expect(ended).toEqual([])
    first.letGo()
    await Promise.all([one, two])
    expect(ended).toEqual(['one', 'two'])
  })

  it('lets a waiting trainer give its place up', async () => {
    const [lane, first, stop] = [laneOf(), held(), new AbortController()]
    const one = oneStep(hostOf(first.step, lane).host, trainerOf('one'), order)
    const { host, opened } = hostOf(first.step, lane)
    const two = oneStep(host, trainerOf('two'), order, heard(), stop.signal)
    await first.begun
    stop.abort(new Error('no longer'))
    await expect(two).rejects.toThrow('no longer')
    first.letGo()
    await one
    expect(opened).toEqual([])
  })

  it.each([
    ['throws', () => Promise.reject(new Error('two\nlines')), /^two lines$/],
    ['answers nonsense', () => Promise.resolve(JSON.parse('"fine"')), "the trainer's answer is no step result"],
  ])('fails a step that %s, and opens the trainer anew for the next', async (_what, step: Step, message) => {
    const { host, opened } = hostOf(step)
    for (let turn = 0; turn < 2; turn += 1) {
      const failing = oneStep(host, trainerOf('one'), order)
      await expect(failing).rejects.toThrow(message)
      await expect(failing).rejects.toHaveProperty('name', 'StepFailure')
    }
    expect(opened).toEqual(['one', 'one'])
  })

  it('fails the step of a trainer that cannot be opened', async () => {
    const host = laneOf().hostFor(() => {
      throw new Error('no runtime trains here')
    })
    const failing = oneStep(host, trainerOf('one'), order)
    await expect(failing).rejects.toMatchObject({ name: 'StepFailure', message: 'no runtime trains here' })
  })

  it('fails a step that takes too long, aborts the trainer, and continues without it', async () => {
    const reasons: unknown[] = []
    const { host } = hostOf((_order, _report, signal) => {
      signal.addEventListener('abort', () => reasons.push(signal.reason))
      return new Promise(() => undefined)
    })
    const trainer = trainerOf('one', { limits: { timeoutSeconds: 0.02 } })
    const message = 'took longer than 0.02 s and was ended; raise training.step_timeout_s'
    await expect(oneStep(host, trainer, order)).rejects.toThrow(message)
    await expect(oneStep(host, trainer, order)).rejects.toMatchObject({ name: 'StepFailure' })
    expect(reasons).toMatchObject([{ name: 'StepFailure' }, { name: 'StepFailure' }])
  })

  it('rejects an aborted step at once, and frees the lane when its trainer stopped', async () => {
    const [lane, stop, first] = [laneOf(), new AbortController(), held()]
    const report = heard()
    const { host } = hostOf(async (given, to, signal) => {
      to.line('agent', 'begun')
      const result = await first.step(given, to, signal)
      to.line('agent', 'too late')
      return result
    }, lane)
    const one = oneStep(host, trainerOf('one'), order, report, stop.signal)
    await report.first
    const served = oneStep(hostOf(() => Promise.resolve(rejected), lane).host, trainerOf('two'), order)
    stop.abort(new Error('stopped'))
    await expect(one).rejects.toThrow('stopped')
    first.letGo()
    expect(await served).toEqual(rejected)
    expect(report.said).toEqual([['line', 'agent', 'begun', false]])
  })

  it('turns away what waits and stops what runs when it is closed, without blaming a trainer', async () => {
    const lane = laneOf()
    const [begun, aborted] = [Promise.withResolvers<void>(), Promise.withResolvers<StepResult>()]
    const { host } = hostOf((_order, _report, signal) => {
      signal.addEventListener('abort', () => aborted.resolve(rejected))
      begun.resolve()
      return aborted.promise
    }, lane)
    const ends = Promise.allSettled([oneStep(host, trainerOf('one'), order), oneStep(host, trainerOf('two'), order)])
    await begun.promise
    await lane.close()
    for (const end of await ends) expect(end).toMatchObject({ status: 'rejected', reason: { name: 'Refusal', code: 'stopping' } })
    await expect(host.inTurn(trainerOf('three'), never, () => Promise.resolve())).rejects.toMatchObject({ code: 'stopping' })
  })

  it('begins no step after it was closed, not even in a turn that was taken before', async () => {
    const lane = laneOf()
    const { host, opened } = hostOf(() => Promise.resolve(rejected), lane)
    const late = host.inTurn(trainerOf('one'), never, async (step) => {
      await lane.close()
      return step(order, heard(), never)
    })
    await expect(late).rejects.toMatchObject({ name: 'Refusal', code: 'stopping' })
    expect(opened).toEqual([])
  })
})
