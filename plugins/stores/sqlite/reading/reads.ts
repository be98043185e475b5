/**
 * The reads of the thread that opened the store. A start makes a few small ones, which are made here; the reader takes time to start and
 * memory to keep, so it starts with the first read that may be long, or when a service turns out to read more than a few.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Worker } from 'node:worker_threads'
import { storeClosed } from '../../../../src/contract/index.ts'
import { StoreSeal } from '../../common/seal.ts'
import { Channel } from '../messages/channel.ts'
import { openForReading } from '../open.ts'
import { perform } from './perform.ts'
import { makeQueries, type Queries } from './queries.ts'
import { startThread, type ThreadLine } from '../thread.ts'
import type { ReaderAnswers, ReaderCall, StoreSettings } from '../messages/wire.ts'

const GROUPS_IN_FLIGHT = 2
/** A scenario that is made and asked for the first time takes eight. */
const READS_HERE_MAX = 64
/** A lock of another program is waited for by the reader alone. */
const NO_WAIT_MS = 0
/** These read bodies or pages of records. */
const LONG: ReadonlySet<ReaderCall['op']> = new Set(['get', 'records', 'pending'])

export type Reader = Pick<Channel<ReaderCall, ReaderAnswers>, 'ask' | 'close'>

export function readerChannel(line: ThreadLine): Channel<ReaderCall, ReaderAnswers> {
  return new Channel<ReaderCall, ReaderAnswers>(line, {
    groupsInFlight: GROUPS_IN_FLIGHT,
    waitingBytesMax: Number.POSITIVE_INFINITY,
    pack: (calls) => ({ message: calls }),
  })
}

export class Reads implements Reader {
  readonly #settings: StoreSettings
  #here: { readonly db: DatabaseSync; readonly queries: Queries } | null = null
  #readsHere = 0
  #started: { readonly thread: Worker; readonly reader: Reader } | null = null
  #isClosed = false

  constructor(settings: StoreSettings) {
    this.#settings = settings
  }

  /** The reader, which runs from here on. */
  get thread(): Worker {
    return this.#start().thread
  }

  async ask<Op extends ReaderCall['op']>(call: Extract<ReaderCall, { op: Op }>): Promise<ReaderAnswers[Op]> {
    if (this.#isClosed) throw storeClosed()
    const isHere = this.#started === null && !LONG.has(call.op) && this.#readsHere < READS_HERE_MAX
    if (!isHere) return this.#start().reader.ask(call)
    try {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same function answers in the reader
      return this.#readHere(call) as ReaderAnswers[Op]
    } catch {
      return this.#start().reader.ask(call)
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#closeHere()
    await this.#started?.reader.close()
  }

  #readHere(call: ReaderCall): unknown {
    this.#readsHere += 1
    this.#here ??= openHere(this.#settings)
    return perform(this.#here.queries, call, [])
  }

  #start(): { readonly thread: Worker; readonly reader: Reader } {
    if (this.#started !== null) return this.#started
    this.#closeHere()
    const thread = startThread('reader', this.#settings)
    this.#started = { thread, reader: readerChannel(thread) }
    return this.#started
  }

  #closeHere(): void {
    this.#here?.db.close()
    this.#here = null
  }
}

function openHere(settings: StoreSettings): { readonly db: DatabaseSync; readonly queries: Queries } {
  const db = openForReading(settings.directory, NO_WAIT_MS)
  try {
    return { db, queries: makeQueries(db, new StoreSeal(settings)) }
  } catch (error) {
    db.close()
    throw error
  }
}
