/**
 * The thread that keeps the index of the search up to date, behind the writer and out of its way: it reads what is durable, writes a file of
 * its own, and rests between its turns. It begins with what an earlier run left, and says when there is nothing left to do.
 */
import { readlinkSync, statfsSync } from 'node:fs'
import { setPriority } from 'node:os'
import type { DatabaseSync } from 'node:sqlite'
import { workerData } from 'node:worker_threads'
import { openForReading } from './open.ts'
import { isDamage } from './refusals.ts'
import { openForIndexing, removeIndex } from './search/file.ts'
import { makeIndexing } from './search/indexing.ts'
import { threadPort } from './thread.ts'
import type { IndexerOrder, IndexerReport, StoreSettings } from './wire.ts'

/** After a turn it rests so many times as long as the turn took: less while nothing is appended. */
const REST_SHARE = 4
const IDLE_REST_SHARE = 0.5
const REST_MS_MIN = 5
/** What fails is tried again: a full disk, a lock of another program. */
const TROUBLE_REST_MS = 2000
/** Without work for so long, it offers to end. */
const RESTING_AFTER_MS = 10_000
/** The last of the disk is for records. */
const ROOM_BYTES_LEAST = 256 * 1024 * 1024
const LOWEST_PRIORITY = 19

const port = threadPort()
const { directory, lockWaitMs }: StoreSettings = workerData
const records = openForReading(directory, lockWaitMs)
let index: DatabaseSync | null = null
let indexing: ReturnType<typeof makeIndexing> | null = null
let timer: NodeJS.Timeout | null = null
let isIdle = false
/** Since the last turn began. */
let isWoken = true

yieldToOthers()
port.on('message', (order: IndexerOrder) => {
  if (order === 'close') return stop()
  if (order === 'rebuild') startOver()
  isWoken = true
  // A rest after a turn is not cut short.
  if (isIdle) soon(0)
})
soon(0)

/** On Linux a thread has a priority of its own. */
function yieldToOthers(): void {
  try {
    setPriority(Number(readlinkSync('/proc/thread-self').split('/').at(-1)), LOWEST_PRIORITY)
  } catch {
    // Elsewhere its rests have to do.
  }
}

function soon(milliseconds: number): void {
  isIdle = false
  after(milliseconds, next)
}

function after(milliseconds: number, work: () => void): void {
  if (timer !== null) clearTimeout(timer)
  timer = setTimeout(work, milliseconds)
}

function next(): void {
  const begun = performance.now()
  const wasWoken = isWoken
  isWoken = false
  try {
    if (!hasRoom()) return soon(TROUBLE_REST_MS)
    if (!turn()) return rest()
    soon(Math.max(REST_MS_MIN, (performance.now() - begun) * (wasWoken ? REST_SHARE : IDLE_REST_SHARE)))
  } catch (error) {
    if (isDamage(error)) startOver()
    soon(TROUBLE_REST_MS)
  }
}

function turn(): boolean {
  if (indexing === null) {
    index = openForIndexing(directory)
    indexing = makeIndexing(index, records)
    indexing.forgetOthers()
  }
  return indexing.turn()
}

function rest(): void {
  isIdle = true
  after(RESTING_AFTER_MS, () => port.postMessage('resting' satisfies IndexerReport))
}

function hasRoom(): boolean {
  const { bavail, bsize } = statfsSync(directory)
  return bavail * bsize >= ROOM_BYTES_LEAST
}

function startOver(): void {
  index?.close()
  index = null
  indexing = null
  removeIndex(directory)
}

function stop(): void {
  if (timer !== null) clearTimeout(timer)
  index?.close()
  records.close()
  port.close()
}
