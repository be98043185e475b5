/** The models that a step may call: one budget of calls for all of them. Every call is kept for the step's record and reported. */
import { setTimeout as wait } from 'node:timers/promises'
import { Agent, fetch } from 'undici'
import { isObject } from '../../contract/index.ts'
import type { ChatMessage, ChatOptions, ChatTool, JsonObject, Model, ModelAddress, Reporter } from '../../contract/index.ts'
import { dialectsByApi, parsed, readModelAnswer, type ModelAnswer } from '../../dialects/index.ts'
import { wordsOf, codeOf, dataWithoutKnownSecrets, firstCodePoints, knowPassingSecret, withoutKnownSecrets } from '../../kit/index.ts'
import { CapReached } from '../money/caps.ts'
import { Attempts, type AttemptsOptions } from './attempts.ts'

const TIMEOUT_SECONDS_DEFAULT = 120
const TOKENS_MAX_DEFAULT = 8192
/** The name of a model without one: an address that serves one model accepts any name. */
const UNNAMED = 'default'
/** One file of the step's record holds this much JSON. */
const CALLS_BYTES_MAX = 3 * 1024 * 1024

/** The reporter of models whose calls no person follows. */
export const SILENT: Reporter = { phase: () => undefined, line: () => undefined }

export interface ModelsOptions extends AttemptsOptions {
  /** 0: no limit. */
  readonly callsMax: number
  readonly report: Reporter
  readonly signal: AbortSignal
}

export interface OpenedModels {
  readonly models: Readonly<Record<string, Model>> & { readonly served: Model }
  /** One for each ended call, in order; without its texts where there is no room for them. */
  readonly calls: readonly JsonObject[]
  usage(): Usage
}
interface Usage {
  readonly proposer_calls: number
  readonly proposer_seconds: number
  readonly proposer_input_tokens: number
  readonly proposer_output_tokens: number
  readonly [key: string]: number
}

export function openModels(address: ModelAddress, options: ModelsOptions): OpenedModels {
  knowPassingSecret(address.apiKey)
  const name = address.model ?? UNNAMED
  const calls: JsonObject[] = []
  let begun = 0
  let room = CALLS_BYTES_MAX
  let usage: Usage = { proposer_calls: 0, proposer_seconds: 0, proposer_input_tokens: 0, proposer_output_tokens: 0 }

  /** A call counts when it begins, so that concurrent calls cannot exceed the limit together. */
  const spend = (): void => {
    if (options.callsMax > 0 && begun >= options.callsMax)
      throw new Error(`the step has spent its ${options.callsMax} model calls; raise evolution.max_model_calls_per_step`)
    begun += 1
  }

  /** A gate may call a judge thousands of times: beyond the limit the texts are dropped. */
  const keep = (record: JsonObject): void => {
    const bytes = Buffer.byteLength(JSON.stringify(record))
    const { messages: _messages, reply: _reply, response: _response, ...brief } = record
    calls.push(bytes <= room ? record : { ...brief, left_out_bytes: bytes })
    if (bytes <= room) room -= bytes
  }

  const call = async (question: Question): Promise<ModelAnswer> => {
    const attempts = new Attempts(address, options)
    const asking = { address, model: name, question, attempts }
    await attempts.hold(requestOf(asking).body, options.signal)
    try {
      spend()
    } catch (error) {
      attempts.refused()
      throw error
    }
    options.report.line('model', `asking ${name}`)
    const started = performance.now()
    const seconds = (): number => Math.round(performance.now() - started) / 1000
    const messages: readonly JsonObject[] = JSON.parse(JSON.stringify(dataWithoutKnownSecrets(question.messages)))
    const record = { model: name, messages, params: paramsOf(question) }
    try {
      const { response, answer } = await ask(asking, options.signal)
      const { text, inputTokens, outputTokens } = answer
      keep({ ...record, reply: text, response, seconds: seconds(), usage: { input_tokens: inputTokens, output_tokens: outputTokens } })
      usage = sum(usage, { seconds: seconds(), inputTokens, outputTokens })
      attempts.answered(messages, response, answer)
      options.report.line('model', `${name} answered in ${seconds()} s, ${inputTokens} -> ${outputTokens} tokens`)
      return answer
    } catch (error) {
      const words = wordsOf(error)
      attempts.lost()
      keep({ ...record, error: words, seconds: seconds() })
      usage = sum(usage, { seconds: seconds(), inputTokens: 0, outputTokens: 0 })
      options.report.line('model', `${name} failed after ${seconds()} s: ${words}`, true)
      throw options.signal.aborted || error instanceof CapReached ? error : new Error(words)
    }
  }

  /** A model that reasons may spend all its tokens before the first word. */
  const answered = async (question: Question): Promise<ModelAnswer> => {
    const first = await call(question)
    if (!isEmpty(first)) return first
    const second = await call({ ...question, tokensMax: question.tokensMax * 2 })
    if (isEmpty(second)) throw new Error(`${name} answered twice without a word`)
    return second
  }

  const served: Model = {
    name,
    chat: async (messages, given) => (await answered(questionOf(messages, [], given))).text,
    turn: async (messages, tools, given) => {
      const { text, calls: wanted } = await answered(questionOf(messages, tools, given))
      return { text, calls: wanted }
    },
  }
  return { models: { served }, calls, usage: () => usage }
}

interface Question {
  readonly messages: readonly ChatMessage[]
  readonly tools: readonly ChatTool[]
  readonly tokensMax: number
  readonly timeoutSeconds: number
}

function questionOf(messages: readonly ChatMessage[], tools: readonly ChatTool[], given: ChatOptions = {}): Question {
  return { messages, tools, tokensMax: TOKENS_MAX_DEFAULT, timeoutSeconds: TIMEOUT_SECONDS_DEFAULT, ...given }
}

const paramsOf = ({ tokensMax, timeoutSeconds, tools }: Question): JsonObject => ({
  max_tokens: tokensMax,
  timeout_s: timeoutSeconds,
  ...(tools.length > 0 && { tools: tools.map((tool) => tool.name) }),
})

interface ModelRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: JsonObject
}

interface Asking {
  readonly address: ModelAddress
  readonly model: string
  readonly question: Question
  /** The first is held. */
  readonly attempts: Attempts
}

function requestOf({ address, model, question }: Asking, tokensMax: number | null = question.tokensMax): ModelRequest {
  const dialect = dialectsByApi[address.api]
  return {
    url: `${address.url.replace(/(?<!\/)\/+$/, '')}${dialect.reader.askPath(model)}`,
    headers: { ...(address.apiKey !== null && { authorization: `Bearer ${address.apiKey}` }), ...dialect.defaultHeaders },
    body: dialect.writeRequest({ ...question, model, tokensMax }),
  }
}

/** The time limit is for all attempts of the call together. */
async function ask(asking: Asking, signal: AbortSignal) {
  const { address, question } = asking
  const limit = AbortSignal.timeout(question.timeoutSeconds * 1000)
  const over = AbortSignal.any([signal, limit])
  try {
    const response = await asked(asking, over)
    const answer = readModelAnswer(dialectsByApi[address.api], response)
    if (answer === null) throw new Error('the model answered with something that is no answer of its format')
    return { response, answer }
  } catch (error) {
    throw limit.aborted && !signal.aborted ? new Error(`no answer after ${question.timeoutSeconds} s`) : error
  }
}

const TOKENS_REFUSED = /max_?(?:completion_|output_?)?tokens/i

/** Models differ in their limit of tokens and in the name of that parameter: one that refuses it is called again without it. */
async function asked(asking: Asking, signal: AbortSignal): Promise<JsonObject> {
  const { attempts } = asking
  try {
    return await send(requestOf(asking), attempts, signal)
  } catch (error) {
    if (!(error instanceof ModelRefusal) || error.status !== 400 || !TOKENS_REFUSED.test(error.message)) throw error
    const unbounded = requestOf(asking, null)
    await attempts.hold(unbounded.body, signal)
    return send(unbounded, attempts, signal)
  }
}

function sum(usage: Usage, more: { readonly seconds: number; readonly inputTokens: number; readonly outputTokens: number }): Usage {
  return {
    proposer_calls: usage.proposer_calls + 1,
    proposer_seconds: Math.round((usage.proposer_seconds + more.seconds) * 1000) / 1000,
    proposer_input_tokens: usage.proposer_input_tokens + more.inputTokens,
    proposer_output_tokens: usage.proposer_output_tokens + more.outputTokens,
  }
}

const isEmpty = ({ text, calls }: ModelAnswer): boolean => text.trim() === '' && calls.length === 0

const ATTEMPTS_MAX = 3
const REST_FIRST_SECONDS = 0.25
const REST_MAX_SECONDS = 10
const ANSWER_BYTES_MAX = 16 * 1024 * 1024
const REFUSAL_CHARACTERS_MAX = 500
const TRY_AGAIN = new Set([408, 429])
/** No connection was made. */
const NEVER_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'])

class ModelRefusal extends Error {
  readonly status: number
  constructor(status: number, words: string) {
    super(`the model answered with status ${status}${words === '' ? '' : `: ${words}`}`)
    this.status = status
  }
}

/** Sends a request, and again where that may help; its last attempt counts once the answer is read. After an abort it throws the signal's reason. */
async function send(request: ModelRequest, attempts: Attempts, signal: AbortSignal): Promise<JsonObject> {
  for (let attempt = 1; ; attempt += 1) {
    const { status, restSeconds, text } = await attemptOf(request, signal)
    if (status === 200) return answerOf(text)
    if (status !== null || NEVER_SENT.has(text)) attempts.refused()
    else attempts.lost()
    const isLast = attempt === ATTEMPTS_MAX
    if (status !== null && (isLast || (status < 500 && !TRY_AGAIN.has(status)))) throw new ModelRefusal(status, wordsIn(text))
    if (isLast) throw new Error(`the model could not be reached: ${text}`)
    const rest = restSeconds ?? REST_FIRST_SECONDS * 2 ** (attempt - 1)
    await wait(Math.min(rest, REST_MAX_SECONDS) * 1000, undefined, { signal }).catch(() => signal.throwIfAborted())
    await attempts.hold(request.body, signal)
  }
}

interface Attempt {
  /** Null without a whole answer; the text says why. */
  readonly status: number | null
  readonly restSeconds: number | null
  readonly text: string
}

async function attemptOf({ url, headers, body }: ModelRequest, signal: AbortSignal): Promise<Attempt> {
  signal.throwIfAborted()
  try {
    const options = { method: 'POST', redirect: 'error', dispatcher: patient, signal } as const
    const answer = await fetch(url, { ...options, headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) })
    const text = withoutKnownSecrets(await readAll(answer.body))
    return { status: answer.status, restSeconds: secondsIn(answer.headers.get('retry-after')), text }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof TooLong) throw error
    return { status: null, restSeconds: null, text: connectionCode(error) }
  }
}

/** Every call has its own time limit, and an answer that is not streamed may begin later than undici waits by default. */
const patient = new Agent({ headersTimeout: 0, bodyTimeout: 0 })

class TooLong extends Error {}

/** Leaving the loop closes the connection. */
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

function secondsIn(header: string | null): number | null {
  const seconds = Number(header ?? Number.NaN)
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : null
}

/** The code of a failed connection; its message would name addresses. */
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
