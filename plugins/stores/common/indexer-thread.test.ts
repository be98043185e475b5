/** When the thread of an index works: while nothing is appended, after a minute of waiting at the latest, and when somebody searches. */
import { EventEmitter } from 'node:events'
import type { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { IndexerThread } from './indexer-thread.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function watched() {
  const told: string[] = []
  const start = (): Worker => {
    told.push('start')
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that is used of a thread
    return Object.assign(new EventEmitter(), { postMessage: (order: string) => void told.push(order) }) as unknown as Worker
  }
  const indexer = new IndexerThread(start)
  const busyFor = async (seconds: number): Promise<void> => {
    for (let tenth = 0; tenth < seconds * 10; tenth += 1) {
      indexer.wake()
      await vi.advanceTimersByTimeAsync(100)
    }
  }
  return { told, indexer, busyFor }
}

describe('the thread of an index', () => {
  it('starts once nothing was appended for a second', async () => {
    const { told, busyFor } = watched()
    await busyFor(10)
    expect(told).toEqual([])
    await vi.advanceTimersByTimeAsync(2000)
    expect(told).toEqual(['start'])
  })

  it('that is at work waits while records come again, and goes on after them', async () => {
    const { told, busyFor } = watched()
    await busyFor(1)
    await vi.advanceTimersByTimeAsync(2000)
    await busyFor(5)
    expect(told).toEqual(['start', 'wait'])
    await vi.advanceTimersByTimeAsync(2000)
    expect(told).toEqual(['start', 'wait', 'wake'])
  })

  it('is due after a minute in which records came all the time', async () => {
    const { told, busyFor } = watched()
    await busyFor(62)
    expect(told.slice(0, 2)).toEqual(['start', 'due'])
  })

  it('works when somebody searches, however much comes', async () => {
    const { told, indexer, busyFor } = watched()
    await busyFor(3)
    indexer.wakeNow()
    expect(told).toEqual(['start', 'asked'])
  })
})
