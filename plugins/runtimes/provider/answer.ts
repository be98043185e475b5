/** Turns the callbacks of one dispatched request into an answer: whole when it is JSON, in chunks when it is an event stream. */
import type { Socket } from 'node:net'
import type { Dispatcher } from 'undici'
import { upstream, UPSTREAM_HEADERS_MAX, type Refusal, type RuntimeAnswer, type WholeAnswer } from '../../../src/contract/index.ts'
import { BytePieces, withBody } from '../../../src/kit/index.ts'
import type { UpstreamConnection } from '../common/line.ts'
import type { SentBody } from './body.ts'
import type { SentKey } from './sent-key.ts'

/** Follows one attempt at an upstream. */
export interface AnswerWatch {
  readonly name: string
  /** Of a later attempt nobody knows whether an earlier connection still holds the body. */
  readonly isFirst: boolean
  /** The status came: from a success on, nothing is sent again. */
  begun(status: number, headers: Readonly<Record<string, string>>): void
  /** Nothing more comes: all that was wanted came, it broke off, or the caller left. */
  ended(how: 'whole' | 'broken' | 'left'): void
}

type Headers = Readonly<Record<string, string>>

const WAITING_BYTES_MAX = 256 * 1024
/** A stream read to its last event usually ends at once: this long it may, so that its connection can be used again. */
const END_GRACE_MS = 50

export class AnswerHandler implements Dispatcher.DispatchHandler {
  readonly #resolve: (answer: RuntimeAnswer) => void
  readonly #reject: (error: unknown) => void
  readonly #signal: AbortSignal
  readonly #bytesMax: number
  /** A function that is assigned to a member later lives where long-lived things do, and what it holds with it. */
  readonly #onAbort = (): void => this.#giveUp()
  readonly #whyNot: (error: Error) => Refusal
  readonly #key: SentKey
  readonly #body: SentBody | null
  readonly #watch: AnswerWatch | null
  #controller: Dispatcher.DispatchController | null = null
  #status = 0
  #headers: Headers = {}
  #parts: Buffer[] = []
  #bytes = 0
  #chunks: ChunkQueue | null = null
  #line: UpstreamConnection | null = null
  #socket: Socket | null = null

  constructor(
    resolve: (answer: RuntimeAnswer) => void,
    reject: (error: unknown) => void,
    signal: AbortSignal,
    bytesMax: number,
    whyNot: (error: Error) => Refusal,
    key: SentKey,
    body: SentBody | null,
    watch: AnswerWatch | null = null,
  ) {
    this.#body = body
    this.#watch = watch
    this.#whyNot = whyNot
    this.#key = key
    this.#bytesMax = bytesMax
    this.#resolve = resolve
    this.#reject = reject
    this.#signal = signal
    signal.addEventListener('abort', this.#onAbort, { once: true })
    // A signal that aborted before the call emits no further event.
    if (signal.aborted) this.#giveUp()
  }

  /** Told by the connection that takes the request. */
  goesBy(line: UpstreamConnection): void {
    this.#line = line
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#signal.aborted) controller.abort(abortError())
    else this.#line?.awaitsAnswer()
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: Record<string, string | string[] | undefined>): void {
    // Informational answers come before the real one.
    if (status < 200) return
    this.#status = status
    this.#socket = this.#line?.socket ?? null
    const count = countOf(headers)
    this.#headers = count > UPSTREAM_HEADERS_MAX ? {} : flatten(headers, this.#key.secret)
    this.#watch?.begun(status, this.#headers)
    if (count > UPSTREAM_HEADERS_MAX) {
      this.#refuse(controller, tooManyHeaders(status))
    } else if (isEncoded(this.#headers)) {
      this.#refuse(controller, encoded(status, this.#headers))
    } else if (hasAnswer(status) && isEventStream(this.#headers)) {
      this.#chunks = new ChunkQueue(controller, this.#signal)
      this.#resolve({ kind: 'stream', status, headers: this.#headers, chunks: this.#chunks, ...this.#sender() })
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#chunks !== null) {
      this.#chunks.push(chunk)
      return
    }
    this.#bytes += chunk.length
    if (this.#bytes <= this.#bytesMax) {
      this.#parts.push(chunk)
      return
    }
    this.#parts = []
    this.#refuse(controller, tooLarge(this.#bytesMax))
  }

  #refuse(controller: Dispatcher.DispatchController, refusal: Refusal): void {
    this.#reject(refusal)
    controller.abort(refusal)
  }

  onResponseEnd(): void {
    this.#settle()
    this.#watch?.ended('whole')
    if (this.#chunks !== null) this.#chunks.end()
    else this.#resolve(this.#whole())
  }

  onResponseError(controller: Dispatcher.DispatchController | null, error: Error): void {
    this.#settle()
    // A stream that was read to its last event is cancelled where its connection stays open.
    this.#watch?.ended(this.#signal.aborted ? 'left' : controller?.aborted === true ? 'whole' : 'broken')
    const refusal = this.#whyNot(error)
    if (this.#chunks !== null) this.#chunks.fail(refusal)
    else this.#reject(refusal)
  }

  #whole(): WholeAnswer {
    const head = { kind: 'whole', status: this.#status, headers: this.#headers, ...this.#sender() } as const
    return withBody(head, new BytePieces(this.#parts))
  }

  #sender(): Pick<WholeAnswer, 'isBodySent' | 'by'> {
    const { name = null, isFirst = true } = this.#watch ?? {}
    const by = name === null && !this.#key.isClients ? {} : { by: { name, apiKey: this.#key.secret } }
    return isFirst ? { isBodySent: this.#isSent, ...by } : by
  }

  /** All of it was handed to the connection, and the system has taken all that the connection was ever handed. */
  readonly #isSent = (): boolean => {
    const socket = this.#socket
    if (this.#body?.isTaken !== true || socket === null || socket.destroyed) return false
    // Over HTTP/2 there are buffers between.
    return socket.writableLength === 0 && !('alpnProtocol' in socket && socket.alpnProtocol === 'h2')
  }

  /** A call that still waits for its connection has nothing to cancel yet: it is cancelled as soon as it gets one, and given up now. */
  #giveUp(): void {
    if (this.#controller === null) this.#reject(this.#whyNot(abortError()))
    else this.#controller.abort(abortError())
  }

  #settle(): void {
    this.#signal.removeEventListener('abort', this.#onAbort)
  }
}

const tooLarge = (bytes: number): Refusal =>
  upstream(
    'answer_too_large',
    `the upstream answered with more than ${bytes} bytes (inference.max_answer_bytes); raise that, or ask for less`,
  )

/** A success with a body. */
const hasAnswer = (status: number): boolean => status < 300 && status !== 204 && status !== 205

function isEventStream(headers: Headers): boolean {
  return headers['content-type']?.toLowerCase().startsWith('text/event-stream') === true
}

/** Every call asks for identity; compressed bytes could be neither relayed as they are nor kept. */
function isEncoded(headers: Headers): boolean {
  return !['', 'identity'].includes((headers['content-encoding'] ?? '').trim().toLowerCase())
}

function encoded(status: number, headers: Headers): Refusal {
  const refused = status >= 300 ? { upstreamStatus: status, headers } : {}
  return upstream('upstream_encoded', `the upstream answered with status ${status} and a compressed body it was not asked for`, refused)
}

function countOf(headers: Readonly<Record<string, string | string[] | undefined>>): number {
  let count = 0
  for (const name in headers) {
    const value = headers[name]
    count += Array.isArray(value) ? value.length : 1
  }
  return count
}

const tooManyHeaders = (status: number): Refusal =>
  upstream(
    'answer_too_large',
    `the upstream answered with status ${status} and more than ${UPSTREAM_HEADERS_MAX} headers; see what stands between it and this service`,
    status >= 300 ? { upstreamStatus: status } : {},
  )

/** A header that echoes the key is left out. */
function flatten(headers: Record<string, string | string[] | undefined>, key: string | null): Headers {
  const flat: Record<string, string> = {}
  for (const name in headers) {
    const value = headers[name]
    if (value === undefined) continue
    const text = typeof value === 'string' ? value : value.join(', ')
    if (key === null || key === '' || !text.includes(key)) flat[name] = text
  }
  return flat
}

function abortError(): Error {
  return new Error('the caller went away')
}

/** Chunks pushed by a connection, pulled by a loop, with the connection paused while too much waits. */
class ChunkQueue implements AsyncIterableIterator<Uint8Array> {
  readonly #controller: Dispatcher.DispatchController
  readonly #signal: AbortSignal
  #waiting: Buffer[] = []
  #waitingBytes = 0
  #isOver = false
  #error: unknown = null
  #isLeft = false
  #pull: { resolve: (result: IteratorResult<Uint8Array>) => void; reject: (error: unknown) => void } | null = null

  constructor(controller: Dispatcher.DispatchController, signal: AbortSignal) {
    this.#controller = controller
    this.#signal = signal
  }

  push(chunk: Buffer): void {
    if (this.#isLeft) return
    const pull = this.#pull
    if (pull !== null) {
      this.#pull = null
      pull.resolve({ done: false, value: chunk })
      return
    }
    this.#waiting.push(chunk)
    this.#waitingBytes += chunk.length
    if (this.#waitingBytes > WAITING_BYTES_MAX) this.#controller.pause()
  }

  end(): void {
    this.#isOver = true
    this.#pull?.resolve({ done: true, value: undefined })
  }

  fail(error: unknown): void {
    this.#isOver = true
    this.#error = error
    this.#pull?.reject(error)
  }

  /** Once the call is given up nothing follows, whatever came before. */
  next(): Promise<IteratorResult<Uint8Array>> {
    if (this.#signal.aborted) return Promise.reject(this.#error ?? new Error('the caller went away'))
    const chunk = this.#waiting.shift()
    if (chunk !== undefined) {
      this.#waitingBytes -= chunk.length
      if (this.#controller.paused && this.#waitingBytes <= WAITING_BYTES_MAX) this.#controller.resume()
      return Promise.resolve({ done: false, value: chunk })
    }
    if (this.#error !== null) return Promise.reject(this.#error)
    if (this.#isOver) return Promise.resolve({ done: true, value: undefined })
    return new Promise((resolve, reject) => {
      this.#pull = { resolve, reject }
    })
  }

  /** Leaving early lets the rest pass unread for a moment, then cancels the call. */
  return(): Promise<IteratorResult<Uint8Array>> {
    this.#isLeft = true
    this.#waiting = []
    if (!this.#isOver) {
      if (this.#controller.paused) this.#controller.resume()
      setTimeout(() => {
        if (!this.#isOver) this.#controller.abort(new Error('the stream was left'))
      }, END_GRACE_MS).unref()
    }
    return Promise.resolve({ done: true, value: undefined })
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}
