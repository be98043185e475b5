/** Server-sent events on the wire: bytes in, whole frames out, byte for byte, wherever the chunks were cut. */

const LF = 0x0a
const CR = 0x0d
const EMPTY = Buffer.alloc(0)

/**
 * Cuts a stream behind its blank lines, for LF, CRLF and CR line ends alike. A frame keeps its blank line, so all frames and the rest,
 * put together, are exactly the bytes that came in.
 */
export class FrameSplitter {
  #held: Buffer = EMPTY
  /** Up to here the held bytes were looked at. */
  #seen = 0
  /** Whether the line being read is empty so far; a line end then closes the frame. */
  #blank = true

  /** The frames this chunk completed. */
  push(chunk: Uint8Array): Buffer[] {
    const data = this.#held.length === 0 ? asBuffer(chunk) : Buffer.concat([this.#held, chunk])
    const frames: Buffer[] = []
    let start = 0
    let at = this.#seen
    while (at < data.length) {
      const byte = data[at]
      if (byte !== LF && byte !== CR) {
        this.#blank = false
        at += 1
        continue
      }
      // A carriage return that ends the chunk may be half of CRLF: its line is not over before the next byte is seen.
      if (byte === CR && at + 1 === data.length) break
      at += byte === CR && data[at + 1] === LF ? 2 : 1
      if (this.#blank) {
        frames.push(data.subarray(start, at))
        start = at
      }
      this.#blank = true
    }
    this.#held = data.subarray(start)
    this.#seen = at - start
    return frames
  }

  /** What came after the last whole frame. */
  get rest(): Buffer {
    return this.#held
  }
}

export interface ServerSentEvent {
  readonly event: string | null
  readonly data: string
}

/** The event a frame holds, or null for comments and empty frames. */
export function readEvent(frame: Uint8Array): ServerSentEvent | null {
  let event: string | null = null
  const data: string[] = []
  for (const line of asBuffer(frame)
    .toString()
    .split(/\r\n|\n|\r/)) {
    if (line.startsWith('data:')) data.push(fieldValue(line, 'data:'))
    else if (line.startsWith('event:')) event = fieldValue(line, 'event:')
  }
  return data.length === 0 ? null : { event, data: data.join('\n') }
}

/** A frame with that data on one line. JSON text holds no line ends of its own. */
export function writeEvent(event: string | null, data: string): Buffer {
  return Buffer.from(event === null ? `data: ${data}\n\n` : `event: ${event}\ndata: ${data}\n\n`)
}

function fieldValue(line: string, field: string): string {
  const value = line.slice(field.length)
  return value.startsWith(' ') ? value.slice(1) : value
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
