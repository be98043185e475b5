/** Calls to a trainer: JSON over HTTP, or protocol buffers where it takes nothing else, each with a time limit, retried where that can help, and its result polled. */
import { setTimeout as rest } from 'node:timers/promises'
import { Agent, fetch, type Response } from 'undici'
import {
  conflict,
  invalid,
  isRefusal,
  unavailable,
  unknown,
  upstream,
  UPSTREAM_ANSWER_BYTES_MAX,
  type Json,
  type JsonObject,
  type Refusal,
} from '../../contract/index.ts'
import { objectOf, parsed } from '../../dialects/index.ts'
import { hasMessage, passAnswer, passMessage, PROTOBUF } from './messages.ts'
import { codeOf, withoutKey, wordsOf } from '../../kit/index.ts'

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
/** A working trainer answers a long poll after about twenty seconds; one that is silent for longer than this is gone. */
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
  /** Since the trainer refused JSON for a pass. */
  #sendsMessages = false

  constructor(address: TrainerAddress) {
    const { apiKey } = address
    this.#address = { ...address, url: address.url.replace(/(?<!\/)\/+$/, '') }
    this.#host = hostOf(address.url)
    this.#origin = new URL(address.url).origin
    const credential = apiKey === null ? {} : { 'x-api-key': apiKey, authorization: `Bearer ${apiKey}` }
    this.#headers = { 'content-type': 'application/json', 'accept-encoding': 'identity', ...credential }
  }

  /** The form of passes, as far as it is known. */
  get format(): 'json' | 'protobuf' {
    return this.#sendsMessages ? 'protobuf' : 'json'
  }

  /** A call that is answered at once. */
  post(call: string, body: JsonObject, signal: AbortSignal): Promise<Json> {
    return this.#bounded(call, signal, async (over) => this.#answered(call, await this.#exchange(call, posting(body), over)))
  }

  /** Whether the trainer knows what is asked about; null when it takes no such question. */
  isKnown(call: string, body: JsonObject, signal: AbortSignal): Promise<boolean | null> {
    return this.#bounded(call, signal, async (over) => {
      const answer = await this.#exchange(call, posting(body), over)
      if (answer.status === 400) return null
      return answer.status !== 404 && this.#answered(call, answer) !== null
    })
  }

  /** Null when it is not there. */
  get(path: string, signal: AbortSignal): Promise<Json> {
    return this.#bounded(path, signal, async (over) => {
      const answer = await this.#exchange(path, { method: 'GET' }, over)
      return answer.status === 404 ? null : this.#answered(path, answer)
    })
  }

  /** A call whose result comes later. One that may be repeated is sent again to a trainer that lost it or its ticket. */
  result(call: string, body: JsonObject, signal: AbortSignal, mayRepeat = true): Promise<Json> {
    return this.#bounded(call, signal, async (over) => {
      for (let ticketsLost = 0; ; ticketsLost += 1) {
        const ticket = this.#ticketOf(call, body, await this.#order(call, body, over, mayRepeat))
        const result = await this.#collect(call, ticket, over)
        if (result !== null) return result
        if (ticketsLost > 0 || !mayRepeat) throw unknown('trainer_forgot', `the trainer at ${this.#host} takes ${call} and forgets it`)
      }
    })
  }

  /** Makes a call twice. */
  twice(call: string, body: JsonObject, signal: AbortSignal): Promise<{ readonly isSameTicket: boolean; readonly result: Json }> {
    return this.#bounded(call, signal, async (over) => {
      const first = this.#ticketOf(call, body, await this.#order(call, body, over))
      const again = await this.#order(call, body, over)
      const result = await this.#collect(call, first, over)
      if (result === null) throw unknown('trainer_forgot', `the trainer at ${this.#host} takes ${call} and forgets it`)
      return { isSameTicket: again.status === 200 && this.#ticketOf(call, body, again) === first, result }
    })
  }

  /** The bytes of a saved file, at the first of these paths that is there. A connection that breaks off throws while they are read. */
  download(paths: readonly string[], signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    return this.#bounded('archive', signal, async (over) => {
      let missing: Answer = { status: 404, text: '', message: null }
      for (const path of paths) {
        const open = async () => this.#follow(await this.#fetch(path, { method: 'GET' }, over), over)
        const answer = await this.#retried('archive', over, open, async (response) => response)
        if (answer.status === 200) return this.#chunksOf(answer, signal)
        missing = await readAnswer(answer)
        if (missing.status !== 404) break
      }
      throw this.#refusal('archive', missing)
    })
  }

  /** Best effort: any answer will do. */
  async drop(path: string, signal: AbortSignal): Promise<void> {
    await this.#bounded('delete', signal, (over) => this.#exchange(path, { method: 'DELETE' }, over))
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

  /** A trainer that refuses JSON for a pass has not run it. */
  async #order(call: string, body: JsonObject, signal: AbortSignal, mayRepeat = true): Promise<Answer> {
    if (!hasMessage(call)) return this.#exchange(call, posting(body), signal, mayRepeat)
    const message = (): Sent => ({ method: 'POST', body: passMessage(call, body), headers: { 'content-type': PROTOBUF } })
    const answer = await this.#exchange(call, this.#sendsMessages ? message() : posting(body), signal, mayRepeat)
    if (answer.status !== 415 || this.#sendsMessages) return answer
    this.#sendsMessages = true
    return this.#exchange(call, message(), signal, mayRepeat)
  }

  #ticketOf(call: string, { model_id: asked }: JsonObject, answer: Answer): string {
    const { request_id, model_id } = objectOf(this.#answered(call, answer))
    if (typeof request_id !== 'string') throw badAnswer(call, 'request_id must be a string')
    if (typeof model_id === 'string' && asked !== undefined && model_id !== asked)
      throw badAnswer(call, 'model_id must be the model that was named')
    return request_id
  }

  /** Null when the trainer does not know the ticket. */
  async #collect(call: string, request_id: string, signal: AbortSignal): Promise<Json> {
    for (let seconds = POLL_REST_FIRST_SECONDS; ; seconds = Math.min(seconds * 2, POLL_REST_MAX_SECONDS)) {
      const takes = this.#sendsMessages && hasMessage(call) ? { headers: { accept: PROTOBUF } } : {}
      const answer = await this.#exchange('retrieve_future', { ...posting({ request_id }), ...takes }, signal)
      if (answer.status === 404) return null
      const result = answer.status === 408 ? PENDING : this.#answered(call, answer)
      if (!isPending(result)) return this.#unlessFailed(call, result)
      await rest(seconds * 1000, undefined, { signal })
    }
  }

  #unlessFailed(call: string, result: Json): Json {
    const { error, category } = objectOf(result)
    if (error === undefined) return result
    const words = this.#withoutKey(wordsOf(error))
    if (category === 'user') throw invalid('trainer_refused', `the trainer refused ${call}: ${words}`)
    throw upstream('trainer_call_failed', `the trainer failed at ${call}: ${words}`)
  }

  #exchange(call: string, sent: Sent, signal: AbortSignal, mayRepeat = true): Promise<Answer> {
    const ask = () => this.#fetch(call, sent, AbortSignal.any([signal, AbortSignal.timeout(SILENT_SECONDS_MAX * 1000)]))
    return this.#retried(call, signal, ask, readAnswer, mayRepeat ? ATTEMPTS_MAX : 1)
  }

  /** Tries again while the connection breaks, or the trainer is busy or failing; throws the last failure. */
  async #retried<T>(
    call: string,
    signal: AbortSignal,
    ask: () => Promise<Response>,
    read: (response: Response) => Promise<T>,
    attemptsMax = ATTEMPTS_MAX,
  ): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      let failure: Refusal
      try {
        const response = await ask()
        if (!isFailing(response.status)) return await read(response)
        failure = this.#refusal(call, await readAnswer(response))
      } catch (error) {
        signal.throwIfAborted()
        if (isRefusal(error)) throw error
        failure = this.#unreachable(error)
      }
      if (attempt >= attemptsMax) throw failure
      await rest(REST_FIRST_SECONDS * REST_GROWTH ** (attempt - 1) * 1000, undefined, { signal })
    }
  }

  #fetch(path: string, { headers, ...sent }: Sent, signal: AbortSignal): Promise<Response> {
    const url = `${this.#address.url}${PREFIX}${path}`
    return fetch(url, { ...sent, headers: { ...this.#headers, ...headers }, signal, redirect: 'manual', dispatcher: this.#agent })
  }

  /** Follows redirections, also those that are JSON with a url, and sends the trainer's key to no other origin. */
  async #follow(answer: Response, signal: AbortSignal, redirections = 0): Promise<Response> {
    const address = await addressIn(answer)
    if (address === null) return answer
    const location = URL.parse(address, answer.url)
    if (location === null || !/^https?:$/.test(location.protocol)) throw badAnswer('archive', 'a redirection must name an http address')
    if (redirections === REDIRECTIONS_MAX) throw badAnswer('archive', `it may be redirected ${REDIRECTIONS_MAX} times at most`)
    const headers = location.origin === this.#origin ? this.#headers : {}
    return this.#follow(await fetch(location, { headers, signal, redirect: 'manual', dispatcher: this.#agent }), signal, redirections + 1)
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
    if (answer.message !== null) {
      const read = passAnswer(answer.message)
      if (read === null) throw badAnswer(call, 'it must be the message of a pass')
      return read
    }
    const value = parsed(answer.text)
    if (value === undefined) throw badAnswer(call, 'must be JSON, and JSON has no number that is not finite')
    return value
  }

  #refusal(call: string, { status, text }: Answer): Refusal {
    const words = this.#withoutKey(detailIn(text))
    const said = `the trainer at ${this.#host} answered ${call} with status ${status}${words === '' ? '' : `: ${words}`}`
    if (status === 404) return unknown('trainer_forgot', said)
    if (status === 409) return conflict('trainer_conflict', said)
    return isFailing(status) || status < 400 ? upstream('trainer_failed', said) : invalid('trainer_refused', said)
  }

  #unreachable(error: unknown): Refusal {
    const said = `the trainer at ${this.#host} could not be reached or broke off (${connectionCode(error)})`
    return unavailable('trainer_unreachable', `${said}; start it with \`svc trainer start\``, { cause: error })
  }

  #withoutKey(words: string): string {
    const { apiKey } = this.#address
    return withoutKey(words, apiKey)
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
  /** In protocol buffers; null: it is text. */
  readonly message: Buffer | null
}

/** 425: what was asked for is still being saved. */
const isFailing = (status: number): boolean => status >= 500 || status === 429 || status === 425

/** With headers that are added to those of every call. */
interface Sent {
  readonly method: string
  readonly body?: string | Buffer
  readonly headers?: Readonly<Record<string, string>>
}

const posting = (body: JsonObject): Sent => ({ method: 'POST', body: JSON.stringify(body) })

/** Where an answer points to; null: nowhere, and it is unread. */
async function addressIn(answer: Response): Promise<string | null> {
  if (answer.status >= 300 && answer.status < 400) {
    await answer.body?.cancel()
    return answer.headers.get('location') ?? ''
  }
  if (answer.status !== 200 || !/^application\/json\b/.test(answer.headers.get('content-type') ?? '')) return null
  const { url } = objectOf(parsed((await readAnswer(answer)).text))
  if (typeof url !== 'string') throw badAnswer('archive', 'JSON in place of an archive must have its url')
  return url
}

const PENDING = { type: 'try_again' }
const isPending = (result: Json): boolean => objectOf(result)['type'] === PENDING.type

export const badAnswer = (call: string, rule: string): Refusal =>
  upstream('trainer_answer', `the trainer's answer to ${call} cannot be used: ${rule}`)

/** Leaving the loop closes the connection. */
async function readAnswer({ status, body, headers }: Response): Promise<Answer> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of body ?? []) {
    bytes += part.length
    if (bytes > UPSTREAM_ANSWER_BYTES_MAX) throw badAnswer('a call', 'it is larger than this service holds')
    parts.push(part)
  }
  const whole = Buffer.concat(parts)
  const isMessage = headers.get('content-type')?.startsWith(PROTOBUF) === true
  return isMessage ? { status, text: '', message: whole } : { status, text: whole.toString(), message: null }
}

function detailIn(text: string): string {
  const { detail, error } = objectOf(parsed(text))
  const words = detail ?? error
  return typeof words === 'string' ? wordsOf(words) : ''
}

/** Only the code: the message names addresses. */
function connectionCode(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return codeOf(cause) ?? 'the connection broke off'
}
