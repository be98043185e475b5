import { expect, it } from 'vitest'
import { Slots } from './slots.ts'

const never = new AbortController().signal

/** Work that lasts until it is told to end. */
function held(slots: Slots, signal = never): { readonly outcome: Promise<void>; readonly begun: Promise<void>; end(): void } {
  const [begin, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const outcome = slots.during(signal, () => {
    begin.resolve()
    return end.promise
  })
  return { outcome, begun: begin.promise, end: end.resolve }
}

it('no more are inside than there are places, and those who wait come in the order they came', async () => {
  const slots = new Slots(1)
  const order: number[] = []
  const first = held(slots)
  await first.begun
  const others = [1, 2, 3].map((one) => slots.during(never, () => Promise.resolve(order.push(one))))
  expect([slots.taken, slots.waiting]).toEqual([1, 3])
  first.end()
  await Promise.all(others)
  expect(order).toEqual([1, 2, 3])
  expect([slots.taken, slots.waiting]).toEqual([0, 0])
})

it('whoever gives up while waiting leaves the queue, and the next comes in', async () => {
  const slots = new Slots(1)
  const first = held(slots)
  await first.begun
  const leaving = new AbortController()
  const second = held(slots, leaving.signal)
  const third = held(slots)
  leaving.abort(new Error('left'))
  await expect(second.outcome).rejects.toThrow('left')
  first.end()
  await third.begun
  third.end()
  await third.outcome
})

it('work that fails gives its place back', async () => {
  const slots = new Slots(1)
  await expect(slots.during(never, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  expect(await slots.during(never, () => Promise.resolve('in'))).toBe('in')
})

it('a shut door lets nobody in, and is shut once those inside are out', async () => {
  const slots = new Slots(2)
  const first = held(slots)
  await first.begun
  const events: string[] = []
  const shut = slots.shut().then(() => events.push('shut'))
  const second = slots.during(never, () => Promise.resolve(events.push('second')))
  first.end()
  await shut
  expect([slots.isShut, events]).toEqual([true, ['shut']])
  slots.open()
  await second
  expect(events).toEqual(['shut', 'second'])
})
