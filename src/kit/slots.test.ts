import { expect, it } from 'vitest'
import { Slots } from './slots.ts'

/** Work that lasts until `end` is called. */
function held(slots: Slots, signal?: AbortSignal): { readonly outcome: Promise<void>; readonly begun: Promise<void>; end(): void } {
  const [begin, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const outcome = slots.run(() => {
    begin.resolve()
    return end.promise
  }, signal)
  return { outcome, begun: begin.promise, end: end.resolve }
}

it('no more run at once than there are slots, and the others follow in the order they asked', async () => {
  const slots = new Slots(1)
  const order: number[] = []
  const first = held(slots)
  await first.begun
  const others = [1, 2, 3].map((one) => slots.run(() => Promise.resolve(order.push(one))))
  expect([slots.taken, slots.waiting]).toEqual([1, 3])
  first.end()
  await Promise.all(others)
  expect(order).toEqual([1, 2, 3])
  expect([slots.taken, slots.waiting]).toEqual([0, 0])
})

it('an abort while waiting leaves the queue, and the next one runs', async () => {
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

it('work that fails gives its slot back', async () => {
  const slots = new Slots(1)
  await expect(slots.run(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  expect(await slots.run(() => Promise.resolve('in'))).toBe('in')
})

it('shut slots are not given, and are shut once all are given back', async () => {
  const slots = new Slots(2)
  const first = held(slots)
  await first.begun
  const events: string[] = []
  const shut = slots.shut().then(() => events.push('shut'))
  const second = slots.run(() => Promise.resolve(events.push('second')))
  first.end()
  await shut
  expect([slots.isShut, events]).toEqual([true, ['shut']])
  slots.open()
  await second
  expect(events).toEqual(['shut', 'second'])
})
