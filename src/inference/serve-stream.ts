/** The request line over frames: each passes as it came; the terminal one waits until the record is durable and then carries the receipt. */
import { STREAM_FRAME_BYTES_MAX, upstream, type JsonObject, type StreamedAnswer } from '../contract/index.ts'
import { FrameSplitter } from '../kit/index.ts'
import { streamDialects, type StreamReader } from './dialects/index.ts'
import { print } from './payload.ts'
import { keep, type Exchange } from './serve.ts'

/** Where frames go. Writing resolves when there is room for more, and rejects when the client is gone. */
export interface Outlet {
  write(bytes: Buffer): Promise<void> | void
  end(bytes: Buffer): void
  /** Cuts the connection, so that the client cannot take what it got for the whole. */
  cut(): void
}

export interface StreamEnd {
  readonly isComplete: boolean
  readonly cause: string | null
}

const NO_BYTES = Buffer.alloc(0)
const CLOSED_BY_CLIENT = 'the client closed the connection'
const ENDED_EARLY = 'the upstream ended the stream before its terminal event'
const BLANK_LINE = Buffer.from('\n\n')

export async function serveStream(exchange: Exchange, answer: StreamedAnswer, outlet: Outlet, keepRaw: boolean): Promise<StreamEnd> {
  const { dialect } = exchange.call
  if (dialect === 'count_tokens') throw upstream('upstream_not_json', 'the upstream streamed the answer to a token count')
  const stream = new Relay(exchange, streamDialects[dialect].open(), outlet, keepRaw)
  try {
    return await stream.run(answer.chunks)
  } finally {
    exchange.letGo()
  }
}

class Relay {
  readonly #exchange: Exchange
  readonly #reader: StreamReader
  readonly #outlet: Outlet
  readonly #splitter = new FrameSplitter()
  readonly #raw: Buffer[] | null

  constructor(exchange: Exchange, reader: StreamReader, outlet: Outlet, keepRaw: boolean) {
    this.#exchange = exchange
    this.#reader = reader
    this.#outlet = outlet
    this.#raw = keepRaw ? [] : null
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
    for await (const chunk of chunks) {
      const frames = this.#splitter.push(chunk)
      if (this.#splitter.rest.length > STREAM_FRAME_BYTES_MAX) throw new Error('the upstream sent an event longer than this service holds')
      const end = frames.findIndex((frame) => this.#take(frame))
      const passed = end === -1 ? frames : frames.slice(0, end)
      if (passed.length > 0) await this.#outlet.write(oneBuffer(passed))
      const terminal = frames[end]
      if (terminal !== undefined) return terminal
    }
    return this.#terminalWithoutBlankLine()
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
      const receipt = await this.#keep(true, null)
      this.#outlet.end(receipt === null ? terminal : this.#reader.ending(terminal, receipt))
    } catch (error) {
      this.#outlet.cut()
      throw error
    }
    return { isComplete: true, cause: null }
  }

  async #endEarly(): Promise<StreamEnd> {
    await this.#keep(false, ENDED_EARLY)
    this.#outlet.end(this.#splitter.rest)
    return { isComplete: false, cause: ENDED_EARLY }
  }

  async #interrupt(error: unknown): Promise<StreamEnd> {
    const cause = this.#exchange.call.signal.aborted ? CLOSED_BY_CLIENT : messageOf(error)
    this.#outlet.cut()
    await this.#keep(false, cause)
    return { isComplete: false, cause }
  }

  #keep(complete: boolean, cause: string | null): Promise<string | null> {
    const raw = this.#raw === null ? {} : { raw: Buffer.concat(this.#raw).toString() }
    const response: JsonObject = { ...this.#reader.answer(), stream: true, complete, ...(cause !== null && { error: cause }), ...raw }
    return keep(this.#exchange, Buffer.from(print(response)))
  }
}

function oneBuffer(frames: readonly Buffer[]): Buffer {
  return frames.length === 1 ? (frames[0] ?? NO_BYTES) : Buffer.concat(frames)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
