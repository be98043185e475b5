/** A minimal HTTP/1.1 reader for the load generator and the canned upstream. */

export interface MessageSink {
  head(text: string): void
  /** The bytes are valid only until this returns: sockets share one buffer. */
  body(bytes: Buffer): void
  end(): void
}

type State = 'head' | 'fixed' | 'size' | 'chunk' | 'chunk-end' | 'trailer'

const CRLF = '\r\n'

/** Reads one message after another. Close-delimited bodies are not supported: connections are kept alive. */
export class MessageReader {
  readonly #sink: MessageSink
  #state: State = 'head'
  #held: Buffer | undefined
  #left = 0

  constructor(sink: MessageSink) {
    this.#sink = sink
  }

  push(bytes: Buffer): void {
    let data = this.#held === undefined ? bytes : Buffer.concat([this.#held, bytes])
    this.#held = undefined
    while (data.length > 0) {
      const used = this.#step(data)
      if (used === 0) {
        this.#held = Buffer.from(data)
        return
      }
      data = data.subarray(used)
    }
  }

  /** How many bytes the current state consumed; 0 when it needs more. */
  #step(data: Buffer): number {
    if (this.#state === 'head') return this.#head(data)
    if (this.#state === 'fixed' || this.#state === 'chunk') return this.#content(data)
    const end = data.indexOf(CRLF)
    if (end === -1) return 0
    this.#line(data.toString('latin1', 0, end))
    return end + CRLF.length
  }

  #head(data: Buffer): number {
    const end = data.indexOf('\r\n\r\n')
    if (end === -1) return 0
    const text = data.toString('latin1', 0, end)
    this.#sink.head(text)
    if (/\r\ntransfer-encoding: *chunked/i.test(text)) {
      this.#state = 'size'
    } else {
      this.#left = Number(/\r\ncontent-length: *(\d+)/i.exec(text)?.[1] ?? 0)
      if (this.#left === 0) this.#end()
      else this.#state = 'fixed'
    }
    return end + 4
  }

  #content(data: Buffer): number {
    const used = Math.min(this.#left, data.length)
    this.#left -= used
    this.#sink.body(used === data.length ? data : data.subarray(0, used))
    if (this.#left === 0) {
      if (this.#state === 'fixed') this.#end()
      else this.#state = 'chunk-end'
    }
    return used
  }

  /** The lines of chunked encoding: sizes, empty lines and trailers. */
  #line(line: string): void {
    if (this.#state === 'size') this.#size(Number.parseInt(line, 16))
    else if (this.#state === 'chunk-end') this.#state = 'size'
    else if (line === '') this.#end()
  }

  #size(bytes: number): void {
    this.#left = bytes
    this.#state = bytes === 0 ? 'trailer' : 'chunk'
  }

  #end(): void {
    this.#state = 'head'
    this.#sink.end()
  }
}
