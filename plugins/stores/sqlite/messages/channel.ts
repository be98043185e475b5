/** Questions to one thread, in groups: what is asked while the thread is busy waits and goes over as one message. */
import { storeClosed, unavailable, type Refusal } from '../../../../src/contract/index.ts'
import { storageFailed } from '../refusals.ts'
import { onEnd, onMessage, type ThreadLine } from '../thread.ts'
import { fromWire, GROUP_BYTES_MAX, isRefused, type Notice, type StoreAnswers } from './wire.ts'

export interface ChannelOptions<Call> {
  /** How many groups may be under way: with two the thread finds its next one waiting. */
  readonly groupsInFlight: number
  /** More waiting than this is refused rather than piled up. */
  readonly waitingBytesMax: number
  /** `answered` is called when the group's answers are there. */
  pack(calls: readonly Call[]): { readonly message: unknown; readonly answered?: () => void }
  /** What came with answers comes before they are given. */
  onNotice?(notice: Notice): void
}

interface Waiter<Call> {
  readonly call: Call
  readonly bytes: number
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: Refusal) => void
}

interface Group<Call> {
  readonly waiters: readonly Waiter<Call>[]
  readonly answered: (() => void) | undefined
}

/** Groups are answered in the order sent, each by one list with an answer per call. */
export class Channel<Call extends { readonly op: string }, Answers extends Readonly<Record<Call['op'], unknown>>> {
  readonly #line: ThreadLine
  readonly #options: ChannelOptions<Call>
  readonly #inFlight: Group<Call>[] = []
  readonly #ended: Promise<void>
  #waiting: Waiter<Call>[] = []
  #waitingBytes = 0
  #sending = false
  #refusal: Refusal | null = null
  #onIdle: (() => void) | null = null

  constructor(line: ThreadLine, options: ChannelOptions<Call>) {
    this.#line = line
    this.#options = options
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#ended = promise
    onMessage(line, (reply) => {
      if (!('answers' in reply)) return options.onNotice?.(reply)
      this.#settle(reply)
    })
    onEnd(line, (error) => {
      this.#fail(this.#refusal ?? storageFailed(error))
      resolve()
    })
  }

  ask<Op extends Call['op']>(call: Extract<Call, { op: Op }>, bytes = 0): Promise<Answers[Op]> {
    if (this.#refusal !== null) return Promise.reject(this.#refusal)
    if (this.#waitingBytes > 0 && this.#waitingBytes + bytes > this.#options.waitingBytesMax) return Promise.reject(overloaded())
    const { promise, resolve, reject } = Promise.withResolvers<Answers[Op]>()
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the thread answers each call with what the table of answers says
    this.#waiting.push({ call, bytes, resolve: resolve as (answer: unknown) => void, reject })
    this.#waitingBytes += bytes
    this.#sendSoon()
    return promise
  }

  /** Answers what was asked, then lets the thread close what it holds. */
  async close(): Promise<void> {
    this.#refusal ??= storeClosed()
    if (this.#waiting.length + this.#inFlight.length > 0) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#onIdle = resolve
      await promise
    }
    this.#line.postMessage('close', [])
    await this.#ended
  }

  /** Once this turn of the event loop is over, so that everything it asks goes over together. */
  #sendSoon(): void {
    if (this.#sending || this.#inFlight.length >= this.#options.groupsInFlight) return
    this.#sending = true
    setImmediate(() => {
      this.#sending = false
      this.#send()
    })
  }

  #send(): void {
    if (this.#waiting.length === 0 || this.#inFlight.length >= this.#options.groupsInFlight) return
    const waiters = this.#takeGroup()
    const { message, answered } = this.#options.pack(waiters.map((waiter) => waiter.call))
    this.#inFlight.push({ waiters, answered })
    this.#line.postMessage(message, [])
  }

  #takeGroup(): Waiter<Call>[] {
    let count = 0
    let bytes = 0
    for (const waiter of this.#waiting) {
      if (count > 0 && bytes + waiter.bytes > GROUP_BYTES_MAX) break
      count += 1
      bytes += waiter.bytes
    }
    const group = this.#waiting
    this.#waiting = group.splice(count)
    return group
  }

  /** The next group leaves first: the thread works while the waiters of this one go on. */
  #settle({ answers, changes = [] }: StoreAnswers): void {
    const { waiters = [], answered } = this.#inFlight.shift() ?? {}
    answered?.()
    this.#send()
    if (changes.length > 0) this.#options.onNotice?.({ changes })
    waiters.forEach((waiter, index) => {
      this.#waitingBytes -= waiter.bytes
      const answer = answers[index]
      if (isRefused(answer)) waiter.reject(fromWire(answer))
      else waiter.resolve(answer)
    })
    if (this.#waiting.length + this.#inFlight.length === 0) this.#onIdle?.()
  }

  /** The thread is gone: these calls get no answer, and no later ones do. */
  #fail(refusal: Refusal): void {
    this.#refusal = refusal
    const lost = [...this.#inFlight.flatMap(({ waiters }) => waiters), ...this.#waiting]
    this.#inFlight.length = 0
    this.#waiting = []
    this.#waitingBytes = 0
    for (const waiter of lost) waiter.reject(refusal)
    this.#onIdle?.()
  }
}

const overloaded = () =>
  unavailable('store_overloaded', 'more records wait for the disk than the service holds; send the request again', { retryAfterSeconds: 1 })
