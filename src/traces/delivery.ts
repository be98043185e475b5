/** Sends one batch to the collector, with retries. */
import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf } from '../kit/index.ts'

export interface Destination {
  /** The collector's base address, or the address for traces. */
  readonly endpoint: string
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly retryFirstMs: number
}

/** How many spans of the batch were rejected; null for all. */
interface Delivered {
  readonly rejected: number | null
  readonly error: Error | null
}

interface Attempt extends Delivered {
  /** How long to wait before a retry; null where a retry would not help. */
  readonly retryAfterMs: number | null
}

const ATTEMPTS_MAX = 5
/** The longest wait, whatever the collector asks for: the queue fills meanwhile. */
const RETRY_MAX_MS = 60_000
/** The collector, or a proxy in front of it, is busy. */
const RETRIED = new Set([429, 502, 503, 504])
const ANSWER_BYTES_MAX = 64 * 1024

export class SpanDelivery {
  readonly #destination: Destination
  readonly #url: string
  readonly #headers: Headers
  /** Ends all waits between attempts. */
  readonly #hurry = new AbortController()
  /** Ends all sending. */
  readonly #over = new AbortController()

  constructor(destination: Destination) {
    this.#destination = destination
    this.#url = postUrl(destination.endpoint)
    this.#headers = new Headers(destination.headers)
    this.#headers.set('content-type', 'application/json')
  }

  hurry(): void {
    this.#hurry.abort()
  }

  giveUp(): void {
    this.#over.abort(new Error('the service stopped before the collector answered'))
  }

  async deliver(body: string): Promise<Delivered> {
    for (let attempt = 1; ; attempt += 1) {
      // Read before the attempt: once the service stops, each batch is tried exactly once.
      const isLast = attempt === ATTEMPTS_MAX || this.#hurry.signal.aborted
      const { retryAfterMs, ...delivered } = await this.#post(body)
      if (retryAfterMs === null || isLast) return delivered
      const pauseMs = Math.max(retryAfterMs, this.#destination.retryFirstMs * 2 ** (attempt - 1) * (0.5 + Math.random() / 2))
      await sleep(Math.min(pauseMs, RETRY_MAX_MS), undefined, { signal: this.#hurry.signal, ref: false }).catch(() => undefined)
    }
  }

  /** Never throws: a missing answer is a failure that may be retried. */
  async #post(body: string): Promise<Attempt> {
    const signal = AbortSignal.any([AbortSignal.timeout(this.#destination.timeoutMs), this.#over.signal])
    try {
      // The headers are for this address alone, so redirects are not followed.
      const response = await fetch(this.#url, { method: 'POST', headers: this.#headers, body, signal, redirect: 'manual' })
      const text = await firstBytes(response)
      if (response.ok) return { rejected: rejectedIn(text), error: new Error('the collector refused them'), retryAfterMs: null }
      const error = new Error(`the collector answered with status ${response.status}`)
      return { rejected: null, error, retryAfterMs: RETRIED.has(response.status) ? retryAfter(response) : null }
    } catch (cause) {
      const isOver = this.#over.signal.aborted
      return { rejected: null, error: unreachable(cause), retryAfterMs: isOver ? null : 0 }
    }
  }
}

/** Adds `/v1/traces` to a base address. */
function postUrl(endpoint: string): string {
  const base = endpoint.replace(/(?<!\/)\/+$/, '')
  return base.endsWith('/traces') ? base : `${base}/v1/traces`
}

/** A collector's answer is short; the rest is not read. */
async function firstBytes({ body }: Response): Promise<string> {
  const parts: Uint8Array[] = []
  let bytes = 0
  if (body === null) return ''
  for await (const part of body) {
    parts.push(part)
    bytes += part.length
    if (bytes > ANSWER_BYTES_MAX) break
  }
  return Buffer.concat(parts).toString()
}

/** A collector may accept a batch and reject some of its spans. */
function rejectedIn(text: string): number {
  try {
    const answer: unknown = JSON.parse(text)
    const rejected = Number(Object(Object(answer).partialSuccess).rejectedSpans)
    return Number.isSafeInteger(rejected) && rejected > 0 ? rejected : 0
  } catch {
    return 0
  }
}

/** In seconds, or as a date. */
function retryAfter({ headers }: Response): number {
  const value = headers.get('retry-after') ?? ''
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return Number.isFinite(ms) ? Math.max(0, ms) : 0
}

/** `fetch` gives the reason in the cause of its error. */
function unreachable(error: unknown): Error {
  const { cause } = error instanceof Error ? error : {}
  const reason = cause instanceof Error ? cause : error
  const code = codeOf(reason) ?? ''
  const words = reason instanceof Error ? reason.message : String(reason)
  return new Error(`the collector could not be reached (${words || code})`)
}
