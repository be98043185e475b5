/** The request line over frames: each passes as it came; the terminal one waits until the record is durable and then carries the receipt. */
import { STREAM_FRAME_BYTES_MAX, type ExchangeSummary, type JsonObject, type Refusal } from '../contract/index.ts'
import type { StreamReader } from '../dialects/index.ts'
import { CollectedBytes, FrameSplitter, readEvent, withoutKey, withoutSecrets } from '../kit/index.ts'
import { answerTooLarge, isAnswerTooLarge, print } from './payload.ts'
import { besides, giveBack, isInFull, keep, summarize, type Exchange, type ServedStream } from './serve.ts'

/** Where frames go. Writing resolves when there is room for more, and rejects when the client is gone. */
export interface Outlet {
  write(bytes: Buffer): Promise<void> | void
  end(bytes: Buffer): void
  /** Cuts the connection, so that the client cannot take what it got for the whole. */
  cut(): void
}

export interface StreamEnd {
  /** Null where the exchange is not kept. */
  readonly receipt: string | null
  /** Why the answer is not whole; null when it is. */
  readonly cause: string | null
  /** Whether the upstream said so, in words of its own. */
  readonly isQuoted: boolean
  readonly summary: ExchangeSummary
  /** What the answer is as JSON, put together. */
  readonly answerBytes: number
}

const NO_BYTES = Buffer.alloc(0)
const CLOSED_BY_CLIENT = 'the client closed the connection'
const ENDED_EARLY = 'the upstream ended the stream before its terminal event'
const OWN_CAUSES: ReadonlySet<string> = new Set([CLOSED_BY_CLIENT, ENDED_EARLY])
const BLANK_LINE = Buffer.from('\n\n')
/** A comment of the format, which every client passes over. */
const WITHHELD = ': an error of the upstream is withheld\n\n'

export async function serveStream(
  { exchange, reader, answer, training, translation }: ServedStream,
  outlet: Outlet,
  keepRaw: boolean,
): Promise<StreamEnd> {
  try {
    const end = await new Relay(exchange, reader, outlet, keepRaw, training, { by: answer.by, translation }).run(answer.chunks)
    giveBack(exchange, answer)
    return end
  } finally {
    exchange.letGo()
  }
}

interface Taken {
  readonly passed: readonly Buffer[]
  readonly terminal: Buffer | null
}

/** Who answered, and in which format. */
type Origin = Parameters<typeof summarize>[2]

class Relay {
  readonly #exchange: Exchange
  readonly #reader: StreamReader
  readonly #outlet: Outlet
  readonly #splitter = new FrameSplitter()
  readonly #raw: CollectedBytes | null
  readonly #training: JsonObject | null
  readonly #origin: Origin
  /** The frame that is the terminal one if the stream ends after it, and the comments that came since. */
  #held: { readonly terminal: Buffer; readonly comments: CollectedBytes } | null = null

  constructor(exchange: Exchange, reader: StreamReader, outlet: Outlet, keepRaw: boolean, training: JsonObject | null, origin: Origin) {
    this.#origin = origin
    this.#exchange = exchange
    this.#reader = reader
    this.#outlet = outlet
    this.#raw = keepRaw && isInFull(exchange.call) ? new CollectedBytes() : null
    this.#training = training
  }

  async run(chunks: AsyncIterable<Uint8Array>): Promise<StreamEnd> {
    let terminal: Buffer | null
    try {
      terminal = await this.#relay(chunks)
    } catch (error) {
      return this.#interrupt(error)
    }
    return terminal === null ? this.#endEarly() : this.#complete(terminal)
  }

  /** Passes frames on up to the terminal one, which it answers with; null when the stream ended without one. */
  async #relay(chunks: AsyncIterable<Uint8Array>): Promise<Buffer | null> {
    const { trace, answerBytesMax } = this.#exchange.call
    let bytes = 0
    for await (const chunk of chunks) {
      trace?.chunk()
      bytes += chunk.byteLength
      if (bytes > answerBytesMax) throw answerTooLarge(answerBytesMax)
      const frames = this.#splitter.push(chunk)
      if (this.#splitter.restBytes > STREAM_FRAME_BYTES_MAX) throw new Error('the upstream sent an event longer than this service holds')
      const { passed, terminal } = this.#reader.endsWithStream === true ? this.#takeAll(frames) : this.#takeUpToEnd(frames)
      if (passed.length > 0) await this.#outlet.write(this.#withoutEcho(oneBuffer(passed)))
      if (terminal !== null) return terminal
    }
    return this.#reader.endsWithStream === true ? this.#heldAtEnd() : this.#terminalWithoutBlankLine()
  }

  /** What the upstream was asked with. */
  get #key(): string | null {
    return (this.#origin.by ?? this.#exchange.model).apiKey
  }

  /** Only an error of the upstream may hold the key that it was asked with; answers pass as they came. */
  get #mayEcho(): boolean {
    return this.#reader.failure !== null || this.#reader.holdsError === true
  }

  #withoutEcho(frames: Buffer): Buffer {
    const apiKey = this.#key
    if (!this.#mayEcho || apiKey === null) return frames
    const text = frames.toString()
    const clean = withoutKey(text, apiKey)
    if (clean === text) return frames
    return Buffer.from(/^(?:data|event|id|retry|:)/.test(clean) ? clean : WITHHELD)
  }

  #takeUpToEnd(frames: readonly Buffer[]): Taken {
    const end = frames.findIndex((frame) => this.#take(frame))
    return end === -1 ? { passed: frames, terminal: null } : { passed: frames.slice(0, end), terminal: frames[end] ?? null }
  }

  /** The last frame waits if it may be the terminal one: only the end of the stream says so. Comments end nothing, and wait with it. */
  #takeAll(frames: readonly Buffer[]): Taken {
    const passed: Buffer[] = []
    for (const frame of frames) {
      if (this.#held !== null && readEvent(frame) !== null) {
        passed.push(this.#held.terminal, this.#held.comments.whole)
        this.#held = null
      }
      const isTerminal = this.#take(frame)
      if (this.#held !== null) this.#held.comments.push(frame)
      else if (isTerminal) this.#held = { terminal: frame, comments: new CollectedBytes() }
      else passed.push(frame)
    }
    return { passed, terminal: null }
  }

  /** What came without a blank line is a frame like any other; one that is not the terminal one is left for the end. */
  async #heldAtEnd(): Promise<Buffer | null> {
    const { rest } = this.#splitter
    const passed = this.#takeAll(rest.length > 0 ? [rest] : []).passed.filter((frame) => frame !== rest)
    if (passed.length > 0) await this.#outlet.write(this.#withoutEcho(oneBuffer(passed)))
    const terminal = this.#held?.terminal ?? null
    return terminal === rest ? Buffer.concat([rest, BLANK_LINE]) : terminal
  }

  #take(frame: Buffer): boolean {
    this.#raw?.push(frame)
    return this.#reader.take(frame)
  }

  /** Some upstreams close right after the last line, without the blank line that ends a frame. */
  #terminalWithoutBlankLine(): Buffer | null {
    const { rest } = this.#splitter
    return rest.length > 0 && this.#take(rest) ? Buffer.concat([rest, BLANK_LINE]) : null
  }

  /** Durable first, then the terminal frame with the receipt. A client that closes after it has simply read enough. */
  async #complete(terminal: Buffer): Promise<StreamEnd> {
    try {
      const end = await this.#keep(this.#reader.failure)
      const ending = end.receipt === null ? terminal : this.#reader.ending(terminal, end.receipt)
      this.#outlet.end(this.#withoutEcho(oneBuffer([ending, this.#held?.comments.whole ?? NO_BYTES])))
      return end
    } catch (error) {
      this.#outlet.cut()
      throw error
    }
  }

  async #endEarly(): Promise<StreamEnd> {
    const end = await this.#keep(this.#reader.failure ?? ENDED_EARLY)
    this.#outlet.end(this.#withoutEcho(this.#splitter.rest))
    return end
  }

  async #interrupt(error: unknown): Promise<StreamEnd> {
    const isGone = this.#exchange.call.signal.aborted
    if (isAnswerTooLarge(error) && !isGone) return this.#endWith(error)
    this.#outlet.cut()
    if (isGone) return this.#keep(CLOSED_BY_CLIENT)
    return this.#keep(error instanceof Error ? error.message : String(error))
  }

  /** The service cut the answer off and the client is still there: it gets an error of its format. */
  async #endWith({ message, code }: Refusal): Promise<StreamEnd> {
    try {
      const end = await this.#keep(message)
      this.#outlet.end(this.#reader.failing(message, code))
      return end
    } catch (error) {
      this.#outlet.cut()
      throw error
    }
  }

  /** Looking for the key in all of a long answer takes seconds. */
  #withoutKey(response: string, end: JsonObject): string {
    if (!this.#mayEcho) return response
    const clean = withoutKey(response, this.#key)
    return clean.startsWith('{') ? clean : print({ stream: true, ...end })
  }

  async #keep(cause: string | null): Promise<StreamEnd> {
    const raw = this.#raw === null ? {} : { raw: this.#raw.whole.toString() }
    const said = cause === null || OWN_CAUSES.has(cause) ? cause : withoutSecrets(withoutKey(cause, this.#key))
    const end = said === null ? { complete: true } : { complete: false, cause: said }
    const answer = this.#reader.answer()
    const response: JsonObject = { ...answer, ...besides(this.#training, this.#origin.translation), stream: true, ...end, ...raw }
    const summary: ExchangeSummary = {
      ...summarize(this.#exchange, answer, this.#origin),
      stream: true,
      ...(cause === null ? {} : { complete: false }),
    }
    const { id, interruptedId = id } = this.#exchange.call
    const bytes = Buffer.from(this.#withoutKey(print(response), end))
    const receipt = await keep(this.#exchange, [bytes], summary, cause === null ? id : interruptedId)
    return { receipt, cause: said, isQuoted: this.#reader.failure !== null, summary, answerBytes: bytes.length }
  }
}

const oneBuffer = (frames: readonly Buffer[]): Buffer => (frames.length === 1 ? (frames[0] ?? NO_BYTES) : Buffer.concat(frames))
