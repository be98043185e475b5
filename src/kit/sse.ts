/** Server-sent events on the wire: bytes in, whole frames out, byte for byte, wherever the chunks were cut. */

const LF = 0x0a
const CR = 0x0d
const DATA = Buffer.from('data:')
/** A line that does not begin with it. */
const NO_DATA = DATA.length + 1
/** The first byte of a byte order mark. */
const MARK = 0xef

/**
 * Cuts a stream behind its blank lines, for LF, CRLF and CR line ends alike. A frame keeps its blank line, so all frames and the rest,
 * put together, are exactly the bytes that came in. Frames without data that come together are one: a chunk may hold many thousand blank lines.
 */
export class FrameSplitter {
  /** Pieces of the frame that is not whole yet. They are put together once, when it is. */
  #held: Buffer[] = []
  #heldBytes = 0
  /** Whether the line being read is empty so far; a line end then closes the frame. */
  #isBlank = true
  /** Whether the last byte was a carriage return: it may be half of CRLF, so its line is not over before the next byte is seen. */
  #isCrOpen = false
  /** The number of characters of `data:` that the line being read begins with. */
  #matched = 0
  #hasData = false

  /** The frames this chunk completed. */
  push(chunk: Uint8Array): Buffer[] {
    const data = asBuffer(chunk)
    const frames: Buffer[] = []
    let isBlank = this.#isBlank
    let isCrOpen = this.#isCrOpen
    let matched = this.#matched
    let start = 0
    /** The end of the last frame without data; -1 when none ended since `start`. */
    let bareEnd = -1
    const cut = (end: number): void => {
      frames.push(this.#whole(data.subarray(start, end)))
      start = end
      bareEnd = -1
    }
    let at = 0
    while (at < data.length) {
      const byte = data[at]
      if (!isCrOpen && byte !== LF) {
        if (byte === CR) isCrOpen = true
        else {
          isBlank = false
          if (matched < DATA.length) {
            matched = byte === DATA[matched] ? matched + 1 : NO_DATA
            if (matched === DATA.length || byte === MARK) this.#hasData = true
          }
        }
        at += 1
        continue
      }
      // A line ends here: with this LF, or with the CR before this byte.
      if (byte === LF) at += 1
      isCrOpen = false
      matched = 0
      if (isBlank && this.#hasData) {
        if (bareEnd !== -1) cut(bareEnd)
        cut(at)
        this.#hasData = false
      } else if (isBlank) bareEnd = at
      isBlank = true
    }
    if (bareEnd !== -1) cut(bareEnd)
    this.#isBlank = isBlank
    this.#isCrOpen = isCrOpen
    this.#matched = matched
    if (start < data.length) this.#hold(data.subarray(start))
    return frames
  }

  /** What came after the last whole frame. */
  get rest(): Buffer {
    return Buffer.concat(this.#held)
  }

  get restBytes(): number {
    return this.#heldBytes
  }

  #hold(piece: Buffer): void {
    this.#held.push(piece)
    this.#heldBytes += piece.length
  }

  #whole(end: Buffer): Buffer {
    if (this.#heldBytes === 0) return end
    const frame = Buffer.concat([...this.#held, end])
    this.#held = []
    this.#heldBytes = 0
    return frame
  }
}

export interface ServerSentEvent {
  readonly event: string | null
  readonly data: string
}

/** A stream may begin with it, and it is no part of the first line. */
const BYTE_ORDER_MARK = '\ufeff'

/** The event a frame holds, or null for comments and empty frames. */
export function readEvent(frame: Uint8Array): ServerSentEvent | null {
  const whole = asBuffer(frame).toString()
  const text = whole.startsWith(BYTE_ORDER_MARK) ? whole.slice(1) : whole
  // Nearly every frame of a chat stream is one line of data: it need not be taken apart to be read.
  const isOneLine = text.startsWith('data: ') && text.indexOf('\n') === text.length - 2 && !text.includes('\r')
  if (isOneLine) return { event: null, data: text.slice(6, -2) }
  let event: string | null = null
  const data: string[] = []
  for (const line of text.split(/\r\n|\n|\r/)) {
    if (line.startsWith('data:')) data.push(fieldValue(line, 'data:'))
    else if (line.startsWith('event:')) event = fieldValue(line, 'event:')
  }
  return data.length === 0 ? null : { event, data: data.join('\n') }
}

/** A frame with that data on one line. JSON text holds no line ends of its own. */
export function writeEvent(event: string | null, data: string): Buffer {
  return Buffer.from(event === null ? `data: ${data}\n\n` : `event: ${event}\ndata: ${data}\n\n`)
}

/** The frame with this data on one line in place of its own; all else is as it came. */
export function withData(frame: Uint8Array, data: string): Buffer {
  const lines =
    asBuffer(frame)
      .toString()
      .match(/[^\r\n]*(?:\r\n|\n|\r|$)/g) ?? []
  let isWritten = false
  const written = lines.map((line) => {
    if (!/^\ufeff?data:/.test(line)) return line
    if (isWritten) return ''
    isWritten = true
    return `data: ${data}${/(?<![\r\n])[\r\n]*$/.exec(line)?.[0]}`
  })
  return Buffer.from(written.join(''))
}

function fieldValue(line: string, field: string): string {
  const value = line.slice(field.length)
  return value.startsWith(' ') ? value.slice(1) : value
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
