/** Where the service says what it stored: the receipts in its answers, found without changing or holding back a byte of them. */
import type { IncomingHttpHeaders } from 'node:http'
import { RECEIPT_FIELD, RECEIPT_HEADER } from '@svc-ai/client/shared'

const RECEIPT_CHARACTERS_MAX = 256
/** More than the service puts into one event; what is longer is none of its, and is not kept in memory. */
const EVENT_BYTES_MAX = 32 * 1024 * 1024
const LF = 0x0a
const CR = 0x0d

/** The routes whose answers are receipted and worth a report. Counting tokens is stored too, but says nothing about how an agent did. */
export const isReceipted = (method: string, path: string): boolean =>
  method === 'POST' && /^\/v1\/(?:chat\/completions|responses|messages)$/.test(path)

export function receiptInHeaders(headers: IncomingHttpHeaders): string | null {
  return receiptOf(headers[RECEIPT_HEADER])
}

/**
 * Reads server-sent events as they pass. A receipt is reported with the chunk that completes its event: a client cannot have read the event before
 * that chunk is passed on.
 */
export class ReceiptReader {
  #line: Buffer[] = []
  #lineBytes = 0
  /** The data lines of the event so far. */
  #data: string[] = []
  #dataBytes = 0
  /** A line end of CR was seen; a LF right after it belongs to it. */
  #isAfterCr = false
  /** A stream of the responses format says its receipt twice. */
  #reported = new Set<string>()

  /** The receipts of the events that this chunk completed. */
  take(chunk: Buffer): readonly string[] {
    const receipts: string[] = []
    let start = this.#isAfterCr && chunk[0] === LF ? 1 : 0
    if (chunk.length > 0) this.#isAfterCr = false
    for (let at = lineEnd(chunk, start); at !== -1; at = lineEnd(chunk, start)) {
      this.#hold(chunk.subarray(start, at))
      const receipt = this.#endLine()
      if (receipt !== null) receipts.push(receipt)
      start = at + 1
      if (chunk[at] !== CR) continue
      if (chunk[start] === LF) start += 1
      else this.#isAfterCr = start === chunk.length
    }
    this.#hold(chunk.subarray(start))
    return receipts
  }

  #hold(piece: Buffer): void {
    if (piece.length === 0) return
    this.#lineBytes += piece.length
    if (this.#lineBytes + this.#dataBytes <= EVENT_BYTES_MAX) this.#line.push(piece)
    else this.#line = []
  }

  #endLine(): string | null {
    if (this.#lineBytes === 0) return this.#endEvent()
    const isWhole = this.#lineBytes + this.#dataBytes <= EVENT_BYTES_MAX
    const text = isWhole ? Buffer.concat(this.#line).toString() : ''
    this.#dataBytes += this.#lineBytes
    this.#line = []
    this.#lineBytes = 0
    if (text.startsWith('data:')) this.#data.push(text.slice('data:'.length))
    return null
  }

  #endEvent(): string | null {
    const receipt = receiptInEvent(this.#data.join('\n'))
    this.#data = []
    this.#dataBytes = 0
    if (receipt === null || this.#reported.has(receipt)) return null
    this.#reported.add(receipt)
    return receipt
  }
}

function lineEnd(chunk: Buffer, start: number): number {
  const lf = chunk.indexOf(LF, start)
  const cr = chunk.subarray(0, lf === -1 ? chunk.length : lf).indexOf(CR, start)
  return cr === -1 ? lf : cr
}

/** Only the event's own field counts: a model may well write the same words. */
function receiptInEvent(data: string): string | null {
  if (!data.includes(RECEIPT_FIELD)) return null
  try {
    const event: unknown = JSON.parse(data)
    if (typeof event !== 'object' || event === null) return null
    return receiptOf(Object.getOwnPropertyDescriptor(event, RECEIPT_FIELD)?.value)
  } catch {
    return null
  }
}

function receiptOf(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' && value.length <= RECEIPT_CHARACTERS_MAX ? value : null
}
