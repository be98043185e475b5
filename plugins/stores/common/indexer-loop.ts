/** The turns of an indexer in its thread: one after the other with rests between them, until nothing is left to do. */
import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import type { IndexerOrder, IndexerReport } from './indexer-thread.ts'

/** After a turn it rests so many times as long as the turn took: longer where requests are served meanwhile. */
const REST_SHARE = { quiet: 0.5, asked: 0.5, due: 4 } as const
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
  yieldToOthers()
  const take = makeTurns(
    indexer,
    () => port.postMessage('resting' satisfies IndexerReport),
    () => port.close(),
  )
  port.on('message', take)
}

/** Begins at once, and answers what takes its orders. */
export function makeTurns(indexer: Indexer, isResting: () => void, isOver: () => void): (order: IndexerOrder) => void {
  let timer: NodeJS.Timeout | null = null
  let isTurning = false
  let isIdle = false
  /** What is left can wait. */
  let isWaiting = false
  let isClosed = false
  /** Since the last turn began. */
  let isWoken = true
  /** Why it works now. */
  let why: keyof typeof REST_SHARE = 'quiet'

  soon(0)
  return (order) => {
    if (order === 'close') void stop()
    else if (order === 'wait') waitUntilWoken()
    else woken(order)
  }

  function woken(order: Exclude<IndexerOrder, 'close' | 'wait'>): void {
    if (order === 'rebuild') indexer.startOver?.()
    if (order === 'due' || order === 'asked') why = order
    const isStill = isIdle || (isWaiting && !isTurning)
    isWaiting = false
    isWoken = true
    // A rest after a turn is not cut short.
    if (isStill) soon(0)
  }

  /** Requests come again. What somebody asked for, or what waited long already, is finished all the same. */
  function waitUntilWoken(): void {
    if (why !== 'quiet' || isIdle) return
    isWaiting = true
    if (timer !== null) clearTimeout(timer)
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
    isWoken = false
    isTurning = true
    const result = await made()
    isTurning = false
    if (isWaiting) return
    if (result === 'waiting') return soon(TROUBLE_REST_MS)
    if (result === 'nothing left' && !isWoken) return lieIdle()
    const rest = (performance.now() - begun) * REST_SHARE[why]
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
    why = 'quiet'
    isIdle = true
    after(RESTING_AFTER_MS, isResting)
  }

  async function stop(): Promise<void> {
    isClosed = true
    if (timer !== null) clearTimeout(timer)
    await indexer.close()
    isOver()
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
