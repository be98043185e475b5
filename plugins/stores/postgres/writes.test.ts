/** Which appends go together, and when a second group is sent before the first is answered. The writer here is ours: it answers when told. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { record } from '../../../conformance/store-samples.ts'
import { Pipe } from './pipe.ts'
import { Writes, type AppendCall } from './writes.ts'

const ANSWER = { rows: [], step: 0 }

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setImmediate'] }))
afterEach(() => void vi.useRealTimers())

interface Sent {
  readonly calls: readonly AppendCall[]
  readonly pipe: Pipe
  /** After so many milliseconds. */
  answer(ms?: number): Promise<void>
}

/** Slots of writes, and the groups that are on their way, the oldest first. */
function world(slots: number) {
  const sent: Sent[] = []
  const writes = new Writes(slots, {
    pipe: () => new Pipe(() => Promise.reject(new Error('no database here'))),
    write: (calls, pipe) =>
      new Promise((resolve) => {
        const group: Sent = {
          calls,
          pipe,
          answer: async (ms = 0) => {
            sent.splice(sent.indexOf(group), 1)
            vi.advanceTimersByTime(ms)
            for (const { settle } of calls) settle.resolve(ANSWER)
            resolve()
            await turn()
          },
        }
        sent.push(group)
      }),
  })
  const append = (count: number, scenario = 'a'): void => {
    for (let at = 0; at < count; at += 1) void writes.append(scenario, [record(`r-${at}`)])
  }
  /** Tells the writes what a commit takes. */
  const know = async (ms: number): Promise<void> => {
    append(1)
    await turn()
    await sent[0]?.answer(ms)
  }
  return { writes, sent, append, know, sizes: () => sent.map(({ calls }) => calls.length) }
}

async function turn(): Promise<void> {
  vi.advanceTimersToNextTimer()
  await vi.advanceTimersByTimeAsync(0)
}

it('before the first answer all that waits is one group', async () => {
  const { append, sizes } = world(4)
  append(200)
  await turn()
  expect(sizes()).toEqual([200])
})

it('many are sent as two groups, on one connection, and the next follow as soon as one is answered', async () => {
  const { append, know, sent, sizes } = world(4)
  await know(1)
  append(128)
  await turn()
  expect(sizes()).toEqual([64, 64])
  expect(sent[0]?.pipe).toBe(sent[1]?.pipe)
  append(64)
  await turn()
  expect(sizes()).toEqual([64, 64])
  await sent[0]?.answer(1)
  expect(sizes()).toEqual([64, 64])
  expect(sent[0]?.pipe).toBe(sent[1]?.pipe)
})

it('many of several scenarios are two groups as well', async () => {
  const { append, know, sent, sizes } = world(4)
  await know(1)
  for (const scenario of ['a', 'b', 'c', 'd', 'e']) append(40, scenario)
  await turn()
  expect(sizes()).toEqual([100, 100])
  expect(sent[0]?.pipe).toBe(sent[1]?.pipe)
})

it('few stay one group, and so do many where a commit takes long', async () => {
  const fast = world(4)
  await fast.know(1)
  fast.append(20)
  await turn()
  expect(fast.sizes()).toEqual([20])
  const slow = world(4)
  await slow.know(10)
  slow.append(128)
  await turn()
  expect(slow.sizes()).toEqual([128])
  slow.append(128)
  await turn()
  expect(slow.sizes()).toEqual([128])
})

it('what a commit takes is learnt anew while the disk gets slower, and faster again', async () => {
  const { append, know, sent, sizes } = world(4)
  await know(1)
  for (let round = 0; round < 12; round += 1) await know(20)
  append(128)
  await turn()
  expect(sizes()).toEqual([128])
  await sent[0]?.answer(20)
  for (let round = 0; round < 24; round += 1) await know(1)
  append(128)
  await turn()
  expect(sizes()).toEqual([64, 64])
})

it('a task that runs alone waits for both groups, and those that came after it wait for it', async () => {
  const { writes, append, know, sent, sizes } = world(4)
  await know(1)
  append(128)
  const { promise, resolve } = Promise.withResolvers<void>()
  const run = vi.fn(() => promise)
  void writes.alone('a', run)
  append(128)
  await turn()
  expect(sizes()).toEqual([64, 64])
  await sent[0]?.answer()
  expect(sizes()).toEqual([64])
  expect(run).not.toHaveBeenCalled()
  await sent[0]?.answer()
  expect(run).toHaveBeenCalledOnce()
  expect(sizes()).toEqual([])
  resolve()
  await turn()
  await turn()
  expect(sizes()).toEqual([64, 64])
})

it('a scenario that is always written to keeps no slot from another one', async () => {
  const { writes, append, know, sent, sizes } = world(1)
  await know(1)
  append(128)
  await turn()
  const run = vi.fn(() => Promise.resolve())
  void writes.alone('b', run)
  append(128)
  await sent[0]?.answer()
  expect(sizes()).toEqual([64])
  await sent[0]?.answer()
  expect(run).toHaveBeenCalledOnce()
  await turn()
  expect(sizes()).toEqual([64, 64])
})

it('is idle once the last group is answered', async () => {
  const { writes, append, know, sent } = world(4)
  await know(1)
  append(128)
  await turn()
  const idle = vi.fn()
  void writes.idle().then(idle)
  await sent[0]?.answer()
  expect(idle).not.toHaveBeenCalled()
  await sent[0]?.answer()
  expect(idle).toHaveBeenCalledOnce()
})
