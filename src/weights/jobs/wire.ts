/** How a trainer is spoken to: JSON over HTTP, each call bounded, tried again where that can help, and its result waited for. */
import { setTimeout as rest } from 'node:timers/promises'
import { Agent, fetch, type RequestInit, type Response } from 'undici'
import {
  conflict,
  invalid,
  isObject,
  isRefusal,
  unavailable,
  unknown,
  upstream,
  UPSTREAM_ANSWER_BYTES_MAX,
  type Json,
  type JsonObject,
  type Refusal,
} from '../../contract/index.ts'
import { codeOf, wordsOf } from '../../kit/index.ts'

export interface TrainerAddress {
  readonly url: string
  readonly apiKey: string | null
  /** For one call together with its result. */
  readonly timeoutSeconds: number
}

const PREFIX = '/api/v1/'
const ATTEMPTS_MAX = 5
const REST_FIRST_SECONDS = 0.02
const REST_GROWTH = 4
/** A trainer that is working answers a long poll after some twenty seconds: one that is silent for longer than this is not there. */
const SILENT_SECONDS_MAX = 60
const POLL_REST_FIRST_SECONDS = 0.005
const POLL_REST_MAX_SECONDS = 1
const REDIRECTIONS_MAX = 5

export class TrainerWire {
  readonly #address: TrainerAddress
  readonly #host: string
  readonly #origin: string
  readonly #headers: Readonly<Record<string, string>>
  /** Every call has a time limit of its own. */
  readonly #agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 })

  constructor(address: TrainerAddress) {
    const { apiKey } = address
    this.#address = { ...address, url: address.url.replace(/\/+$/, '') }
    this.#host = hostOf(address.url)
    this.#origin = new URL(address.url).origin
    const credential = apiKey === null ? {} : { 'x-api-key': apiKey, authorization: `Bearer ${apiKey}` }
    this.#headers = { 'content-type': 'application/json', 'accept-encoding': 'identity', ...credential }
  }

  /** A call that is answered at once. */
  post(call: string, body: JsonObject, signal: AbortSignal): Promise<Json> {
    return this.#bounded(call, signal, async (over) => this.#answered(call, await this.#exchange(call, body, over)))
  }

  /** The same for what may not be there: null when the trainer does not know it. */
  find(call: string, body: JsonObject, signal: AbortSignal): Promise<Json | null> {
    return this.#bounded(call, signal, async (over) => {
      const answer = await this.#exchange(call, body, over)
      return answer.status === 404 ? null : this.#answered(call, answer)
    })
  }

  /** A call whose result comes later. Sent twice it is one call, so a trainer that no longer knows the ticket is given the call again. */
  result(call: string, body: JsonObject, signal: AbortSignal): Promise<Json> {
    return this.#bounded(call, signal, async (over) => {
      for (let ticketsLost = 0; ; ticketsLost += 1) {
        const ticket = this.#answered(call, await this.#exchange(call, body, over))
        const result = await this.#collect(call, ticket, over)
        if (result !== null) return result
        if (ticketsLost > 0) throw unknown('trainer_forgot', `the trainer at ${this.#host} takes ${call} and forgets it`)
      }
    })
  }

  /** The bytes of a saved file, which may lie elsewhere. Whatever breaks off on the way is thrown out of the loop over them. */
  download(path: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    return this.#bounded('archive', signal, async (over) => {
      const answer = await this.#again(over, () => this.#opened(path, over))
      if (answer.status !== 200) throw this.#refusal('archive', { status: answer.status, text: await readAll(answer) })
      return this.#chunksOf(answer, signal)
    })
  }

  /** A courtesy: what comes of it is nobody's business. */
  async drop(path: string, signal: AbortSignal): Promise<void> {
    await this.#bounded('delete', signal, (over) => this.#exchange(path, null, over))
  }

  async close(): Promise<void> {
    await this.#agent.destroy()
  }

  async #bounded<T>(call: string, signal: AbortSignal, work: (over: AbortSignal) => Promise<T>): Promise<T> {
    const { timeoutSeconds } = this.#address
    const limit = AbortSignal.timeout(timeoutSeconds * 1000)
    try {
      return await work(AbortSignal.any([signal, limit]))
    } catch (error) {
      signal.throwIfAborted()
      if (!limit.aborted) throw error
      const cure = 'look at the trainer; a step that is tried again goes on waiting for the same call'
      throw unavailable('trainer_timeout', `the trainer at ${this.#host} did not finish ${call} within ${timeoutSeconds} s; ${cure}`)
    }
  }

  /** Null when the trainer does not know the ticket. */
  async #collect(call: string, ticket: Json, signal: AbortSignal): Promise<Json | null> {
    const request_id = isObject(ticket) ? ticket['request_id'] : undefined
    if (typeof request_id !== 'string') throw badAnswer(call, 'request_id must be a string')
    for (let seconds = POLL_REST_FIRST_SECONDS; ; seconds = Math.min(seconds * 2, POLL_REST_MAX_SECONDS)) {
      const answer = await this.#exchange('retrieve_future', { request_id }, signal)
      if (answer.status === 404) return null
      const result = answer.status === 408 ? PENDING : this.#answered(call, answer)
      if (!isPending(result)) return this.#unlessFailed(call, result)
      await rest(seconds * 1000, undefined, { signal })
    }
  }

  #unlessFailed(call: string, result: Json): Json {
    if (!isObject(result) || result['error'] === undefined) return result
    const words = this.#withoutKey(wordsOf(result['error']))
    if (result['category'] === 'user') throw invalid('trainer_refused', `the trainer refused ${call}: ${words}`)
    throw upstream('trainer_call_failed', `the trainer failed at ${call}: ${words}`)
  }

  /** One question until there is an answer. */
  #exchange(call: string, body: JsonObject | null, signal: AbortSignal): Promise<Answer> {
    const sent = body === null ? { method: 'DELETE' } : { method: 'POST', body: JSON.stringify(body) }
    return this.#again<Answer>(signal, async () => {
      try {
        const response = await this.#attempt(call, sent, AbortSignal.any([signal, AbortSignal.timeout(SILENT_SECONDS_MAX * 1000)]))
        const answer = { status: response.status, text: await readAll(response) }
        return isStumbling(answer.status) ? this.#refusal(call, answer) : answer
      } catch (error) {
        signal.throwIfAborted()
        if (isRefusal(error)) throw error
        return this.#unreachable(error)
      }
    })
  }

  /** A connection that fails, a trainer that is busy or stumbles: what comes to a refusal is tried again, and thrown in the end. */
  async #again<T>(signal: AbortSignal, once: () => Promise<T | Error>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const answer = await once()
      if (!(answer instanceof Error)) return answer
      if (attempt === ATTEMPTS_MAX) throw answer
      await rest(REST_FIRST_SECONDS * REST_GROWTH ** (attempt - 1) * 1000, undefined, { signal })
    }
  }

  async #opened(path: string, signal: AbortSignal): Promise<Response | Error> {
    try {
      const answer = await this.#led(await this.#attempt(path, { method: 'GET' }, signal), signal)
      return isStumbling(answer.status) ? this.#refusal('archive', { status: answer.status, text: await readAll(answer) }) : answer
    } catch (error) {
      signal.throwIfAborted()
      if (isRefusal(error)) throw error
      return this.#unreachable(error)
    }
  }

  #attempt(path: string, sent: RequestInit, signal: AbortSignal): Promise<Response> {
    const url = `${this.#address.url}${PREFIX}${path}`
    return fetch(url, { ...sent, headers: this.#headers, signal, redirect: 'manual', dispatcher: this.#agent })
  }

  /** To where it is. The key is the trainer's: whoever keeps its files for it does not see it, however the way there leads. */
  async #led(answer: Response, signal: AbortSignal, redirections = 0): Promise<Response> {
    if (answer.status < 300 || answer.status >= 400) return answer
    await answer.body?.cancel()
    const location = URL.parse(answer.headers.get('location') ?? '', answer.url)
    if (location === null || !/^https?:$/.test(location.protocol)) throw badAnswer('archive', 'a redirection must name an http address')
    if (redirections === REDIRECTIONS_MAX) throw badAnswer('archive', `it may be redirected ${REDIRECTIONS_MAX} times at most`)
    const headers = location.origin === this.#origin ? this.#headers : {}
    return this.#led(await fetch(location, { headers, signal, redirect: 'manual', dispatcher: this.#agent }), signal, redirections + 1)
  }

  async *#chunksOf(answer: Response, signal: AbortSignal): AsyncIterable<Uint8Array> {
    try {
      yield* answer.body ?? []
    } catch (error) {
      signal.throwIfAborted()
      throw this.#unreachable(error)
    }
  }

  #answered(call: string, answer: Answer): Json {
    if (answer.status !== 200) throw this.#refusal(call, answer)
    try {
      return JSON.parse(answer.text)
    } catch {
      throw badAnswer(call, 'must be JSON, and JSON has no number that is not finite')
    }
  }

  #refusal(call: string, { status, text }: Answer): Refusal {
    const words = this.#withoutKey(detailIn(text))
    const said = `the trainer at ${this.#host} answered ${call} with status ${status}${words === '' ? '' : `: ${words}`}`
    if (status === 404) return unknown('trainer_forgot', said)
    if (status === 409) return conflict('trainer_conflict', said)
    return isStumbling(status) || status < 400 ? upstream('trainer_failed', said) : invalid('trainer_refused', said)
  }

  #unreachable(error: unknown): Refusal {
    const said = `the trainer at ${this.#host} could not be reached or broke off (${connectionCode(error)})`
    return unavailable('trainer_unreachable', `${said}; start it with \`svc trainer start\``, { cause: error })
  }

  #withoutKey(words: string): string {
    const { apiKey } = this.#address
    return apiKey === null || apiKey === '' ? words : words.replaceAll(apiKey, '(key)')
  }
}

function hostOf(url: string): string {
  const { protocol = '', host = '', username = '', password = '' } = URL.parse(url) ?? {}
  if (/^https?:$/.test(protocol) && username + password === '') return host
  throw invalid(
    'trainer_url',
    'the address of the trainer must be an http address without a name or password; its key has a setting of its own',
  )
}

interface Answer {
  readonly status: number
  readonly text: string
}

const isStumbling = (status: number): boolean => status >= 500 || status === 429

const PENDING = { type: 'try_again' }
const isPending = (result: Json): boolean => isObject(result) && result['type'] === PENDING.type

export const badAnswer = (call: string, rule: string): Refusal =>
  upstream('trainer_answer', `the trainer's answer to ${call} cannot be used: ${rule}`)

/** Leaving the loop lets the connection go. */
async function readAll({ body }: Response): Promise<string> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of body ?? []) {
    bytes += part.length
    if (bytes > UPSTREAM_ANSWER_BYTES_MAX) throw badAnswer('a call', 'it is larger than this service holds')
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}

function detailIn(text: string): string {
  try {
    const body: Json = JSON.parse(text)
    const detail = isObject(body) ? (body['detail'] ?? body['error']) : undefined
    return typeof detail === 'string' ? wordsOf(detail) : ''
  } catch {
    return ''
  }
}

/** Of a connection that failed, the code alone: the words name addresses. */
function connectionCode(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return codeOf(cause) ?? 'the connection broke off'
}
