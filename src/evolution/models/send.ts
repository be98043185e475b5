/** One question to a model's address: asked again when it may help, over when its time is, and never more of an answer than fits. */
import { setTimeout as wait } from 'node:timers/promises'
import { Agent, fetch } from 'undici'
import { isObject, type Json, type JsonObject } from '../../contract/index.ts'
import { codeOf, firstCodePoints } from '../../kit/index.ts'

export interface Letter {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: JsonObject
  /** What must not be in anything that is kept or shown of the answer. */
  readonly secret: string | null
}

const ATTEMPTS_MAX = 3
const REST_FIRST_SECONDS = 0.25
const REST_MAX_SECONDS = 10
const ANSWER_BYTES_MAX = 16 * 1024 * 1024
const REFUSAL_CHARACTERS_MAX = 500
const TRY_AGAIN = new Set([408, 429])

/** A model's refusal, with what it said. */
export class ModelRefusal extends Error {
  readonly status: number
  constructor(status: number, words: string) {
    super(`the model answered with status ${status}${words === '' ? '' : `: ${words}`}`)
    this.name = 'ModelRefusal'
    this.status = status
  }
}

/** The signal says when the time is over; then the failure is its reason, whatever was under way. */
export async function send(letter: Letter, signal: AbortSignal): Promise<JsonObject> {
  for (let attempt = 1; ; attempt += 1) {
    const { status, restSeconds, text } = await attemptOf(letter, signal)
    if (status === 200) return answerOf(text)
    const isLast = attempt === ATTEMPTS_MAX
    if (status !== null && (isLast || (status < 500 && !TRY_AGAIN.has(status)))) throw new ModelRefusal(status, wordsIn(text))
    if (isLast) throw new Error(`the model could not be reached: ${text}`)
    const rest = restSeconds ?? REST_FIRST_SECONDS * 2 ** (attempt - 1)
    await wait(Math.min(rest, REST_MAX_SECONDS) * 1000, undefined, { signal }).catch(() => signal.throwIfAborted())
  }
}

interface Attempt {
  /** Null when there was no whole answer; then the text says why. */
  readonly status: number | null
  readonly restSeconds: number | null
  readonly text: string
}

async function attemptOf({ url, headers, body, secret }: Letter, signal: AbortSignal): Promise<Attempt> {
  signal.throwIfAborted()
  try {
    const sent = { ...headers, 'content-type': 'application/json' }
    const answer = await fetch(url, {
      method: 'POST',
      headers: sent,
      body: JSON.stringify(body),
      signal,
      redirect: 'error',
      dispatcher: patient,
    })
    const text = withoutSecret(await readAll(answer.body), secret)
    return { status: answer.status, restSeconds: secondsIn(answer.headers.get('retry-after')), text }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof TooLong) throw error
    return { status: null, restSeconds: null, text: connectionCode(error) }
  }
}

/** A time limit of its own is on every call, and an answer that is not streamed may take longer to begin than a client waits by itself. */
const patient = new Agent({ headersTimeout: 0, bodyTimeout: 0 })

class TooLong extends Error {}

/** Leaving the loop lets the connection go. */
async function readAll(body: AsyncIterable<Uint8Array> | null): Promise<string> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of body ?? []) {
    bytes += part.length
    if (bytes > ANSWER_BYTES_MAX) throw new TooLong(`the model's answer is larger than ${ANSWER_BYTES_MAX} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}

export const withoutSecret = (text: string, secret: string | null): string =>
  secret === null || secret === '' ? text : text.replaceAll(secret, '(key)')

function secondsIn(header: string | null): number | null {
  const seconds = Number(header ?? Number.NaN)
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : null
}

/** Of a connection that failed, the code alone: the words name addresses. */
function connectionCode(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return codeOf(cause) ?? 'the connection broke off'
}

function answerOf(text: string): JsonObject {
  const body = parsed(text)
  if (!isObject(body)) throw new Error('the model answered with something that is no JSON object')
  return body
}

function wordsIn(text: string): string {
  const body = parsed(text)
  const error = isObject(body) ? body['error'] : undefined
  const message = isObject(error) ? error['message'] : error
  return firstCodePoints((typeof message === 'string' ? message : '').replaceAll(/\s+/g, ' ').trim(), REFUSAL_CHARACTERS_MAX)
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
