/** The turns of an indexer in its thread: one after the other with rests between them, until nothing is left to do. */
import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import type { IndexerOrder, IndexerReport } from './indexer-thread.ts'

/** After a turn it rests so many times as long as the turn took: less while nothing is appended. */
const REST_SHARE = 4
const IDLE_REST_SHARE = 0.5
const REST_MS_MIN = 5
/** A turn may have been long because it waited itself. */
const REST_MS_MAX = 1000
/** What fails is tried again: a full disk, a lock of another program. */
const TROUBLE_REST_MS = 2000
/** Without work for so long, it offers to end. */
const RESTING_AFTER_MS = 10_000
const LOWEST_PRIORITY = 19

/** What a turn came to; `waiting`: it could not be made now. */
export type IndexerTurn = 'done' | 'nothing left' | 'waiting'

export interface Indexer {
  turn(): IndexerTurn | Promise<IndexerTurn>
  /** Forgets what is indexed. Absent where it cannot be damaged apart from the records. */
  startOver?(): void
  close(): void | Promise<void>
}

/** Throws nothing: a turn that throws is made again a little later. */
export function runIndexer(indexer: Indexer): void {
  const port = parentPort
  if (port === null) throw new Error('this file runs as a thread of the store')
  let timer: NodeJS.Timeout | null = null
  let isIdle = false
  let isClosed = false
  /** Since the last turn began. */
  let isWoken = true

  yieldToOthers()
  port.on('message', (order: IndexerOrder) => {
    if (order === 'close') void stop()
    else woken(order)
  })
  soon(0)

  function woken(order: IndexerOrder): void {
    if (order === 'rebuild') indexer.startOver?.()
    isWoken = true
    // A rest after a turn is not cut short.
    if (isIdle) soon(0)
  }

  function soon(milliseconds: number): void {
    isIdle = false
    after(milliseconds, () => void next())
  }

  function after(milliseconds: number, work: () => void): void {
    if (isClosed) return
    if (timer !== null) clearTimeout(timer)
    timer = setTimeout(work, milliseconds)
  }

  async function next(): Promise<void> {
    const begun = performance.now()
    const wasWoken = isWoken
    isWoken = false
    const result = await made()
    if (result === 'waiting') return soon(TROUBLE_REST_MS)
    if (result === 'nothing left' && !isWoken) return lieIdle()
    const rest = (performance.now() - begun) * (wasWoken ? REST_SHARE : IDLE_REST_SHARE)
    soon(Math.min(REST_MS_MAX, Math.max(REST_MS_MIN, rest)))
  }

  async function made(): Promise<IndexerTurn> {
    try {
      return await indexer.turn()
    } catch {
      return 'waiting'
    }
  }

  function lieIdle(): void {
    isIdle = true
    after(RESTING_AFTER_MS, () => port?.postMessage('resting' satisfies IndexerReport))
  }

  async function stop(): Promise<void> {
    isClosed = true
    if (timer !== null) clearTimeout(timer)
    await indexer.close()
    port?.close()
  }
}

/** On Linux a thread has a priority of its own. */
function yieldToOthers(): void {
  try {
    setPriority(Number(readlinkSync('/proc/thread-self').split('/').at(-1)), LOWEST_PRIORITY)
  } catch {
    // Elsewhere its rests have to do.
  }
}
