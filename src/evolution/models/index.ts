/** The models that a step may ask: one budget of calls for all, every call kept for the step's record, and told to whoever follows it. */
import type { ChatMessage, ChatOptions, ChatTool, JsonObject, Model, ModelAddress, Reporter } from '../../contract/index.ts'
import { dialectsByApi, readModelAnswer, type ModelAnswer } from '../../dialects/index.ts'
import { wordsOf } from '../../kit/index.ts'
import { ModelRefusal, send, withoutSecret } from './send.ts'

export { withoutSecret } from './send.ts'

const TIMEOUT_SECONDS_DEFAULT = 120
const TOKENS_MAX_DEFAULT = 8192
/** What a model that has no name is called: an address that answers for one model takes any. */
const UNNAMED = 'default'
/** The words of calls, printed as JSON, that fit into one file of the step's record. */
const CALLS_BYTES_MAX = 3 * 1024 * 1024
/** Under this name the served model is found. */
const SERVED = 'served'

export interface ModelsOptions {
  /** 0: no limit. */
  readonly callsMax: number
  readonly report: Reporter
  readonly signal: AbortSignal
}

export interface OpenedModels {
  readonly models: Readonly<Record<string, Model>>
  /** One for each call so far, in the order they ended; without its words where there is no room for them. */
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
  const name = address.model ?? UNNAMED
  const calls: JsonObject[] = []
  let begun = 0
  let room = CALLS_BYTES_MAX
  let usage: Usage = { proposer_calls: 0, proposer_seconds: 0, proposer_input_tokens: 0, proposer_output_tokens: 0 }

  /** A call counts when it begins, so that many at once cannot pass the limit together. */
  const spend = (): void => {
    if (options.callsMax > 0 && begun >= options.callsMax)
      throw new Error(`the step has spent its ${options.callsMax} model calls; raise evolution.max_model_calls_per_step`)
    begun += 1
  }

  /** A gate may ask a judge thousands of times: what all of them said is neither held nor kept. */
  const keep = (record: JsonObject): void => {
    const bytes = Buffer.byteLength(JSON.stringify(record))
    const { messages: _messages, reply: _reply, response: _response, ...brief } = record
    calls.push(bytes <= room ? record : { ...brief, left_out_bytes: bytes })
    if (bytes <= room) room -= bytes
  }

  const call = async (question: Question): Promise<ModelAnswer> => {
    spend()
    options.report.line('model', `asking ${name}`)
    const started = performance.now()
    const seconds = (): number => Math.round(performance.now() - started) / 1000
    const record = { model: name, messages: plain(question.messages, address), params: paramsOf(question) }
    try {
      const { response, answer } = await ask(address, name, question, options.signal)
      const { text, inputTokens, outputTokens } = answer
      const tokens = { input_tokens: inputTokens, output_tokens: outputTokens }
      keep({ ...record, reply: text, response, seconds: seconds(), usage: tokens })
      usage = sum(usage, { seconds: seconds(), inputTokens, outputTokens })
      options.report.line('model', `${name} answered in ${seconds()} s, ${inputTokens} -> ${outputTokens} tokens`)
      return answer
    } catch (error) {
      const words = withoutSecret(wordsOf(error), address.apiKey)
      keep({ ...record, error: words, seconds: seconds() })
      usage = sum(usage, { seconds: seconds(), inputTokens: 0, outputTokens: 0 })
      options.report.line('model', `${name} failed after ${seconds()} s: ${words}`, true)
      throw options.signal.aborted ? error : new Error(words)
    }
  }

  /** A model that thinks may spend all it was given before the first word. */
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
  return { models: { [SERVED]: served }, calls, usage: () => usage }
}

interface Question {
  readonly messages: readonly ChatMessage[]
  readonly tools: readonly ChatTool[]
  readonly tokensMax: number
  readonly timeoutSeconds: number
}

function questionOf(messages: readonly ChatMessage[], tools: readonly ChatTool[], given: ChatOptions = {}): Question {
  const { tokensMax = TOKENS_MAX_DEFAULT, timeoutSeconds = TIMEOUT_SECONDS_DEFAULT } = given
  return { messages, tools, tokensMax, timeoutSeconds }
}

/** The messages as they are kept. */
function plain(messages: readonly ChatMessage[], { apiKey }: ModelAddress): readonly JsonObject[] {
  return JSON.parse(withoutSecret(JSON.stringify(messages), apiKey))
}

const paramsOf = ({ tokensMax, timeoutSeconds, tools }: Question): JsonObject => ({
  max_tokens: tokensMax,
  timeout_s: timeoutSeconds,
  ...(tools.length > 0 && { tools: tools.map((tool) => tool.name) }),
})

interface Exchange {
  readonly response: JsonObject
  readonly answer: ModelAnswer
}

/** The time limit is on the whole call, its attempts together. */
async function ask(address: ModelAddress, model: string, question: Question, signal: AbortSignal): Promise<Exchange> {
  const limit = AbortSignal.timeout(question.timeoutSeconds * 1000)
  const over = AbortSignal.any([signal, limit])
  try {
    const response = await asked(address, model, question, over)
    const answer = readModelAnswer(dialectsByApi[address.api], response)
    if (answer === null) throw new Error('the model answered with something that is no answer of its format')
    return { response, answer }
  } catch (error) {
    throw limit.aborted && !signal.aborted ? new Error(`no answer after ${question.timeoutSeconds} s`) : error
  }
}

const TOKENS_REFUSED = /max_?(?:completion_|output_?)?tokens/i

/** Models differ in how many tokens they let an answer have, and in how that is said: one that refuses the number is asked without it. */
async function asked(address: ModelAddress, model: string, question: Question, signal: AbortSignal): Promise<JsonObject> {
  const dialect = dialectsByApi[address.api]
  const letter = {
    url: `${address.url.replace(/\/+$/, '')}${dialect.askPath(model)}`,
    headers: { ...credential(address), ...dialect.defaultHeaders },
    secret: address.apiKey,
  }
  try {
    return await send({ ...letter, body: dialect.writeRequest({ ...question, model }) }, signal)
  } catch (error) {
    if (!(error instanceof ModelRefusal) || error.status !== 400 || !TOKENS_REFUSED.test(error.message)) throw error
    return send({ ...letter, body: dialect.writeRequest({ ...question, model, tokensMax: null }) }, signal)
  }
}

const credential = ({ apiKey }: ModelAddress): Record<string, string> => (apiKey === null ? {} : { authorization: `Bearer ${apiKey}` })

function sum(usage: Usage, more: { readonly seconds: number; readonly inputTokens: number; readonly outputTokens: number }): Usage {
  return {
    proposer_calls: usage.proposer_calls + 1,
    proposer_seconds: Math.round((usage.proposer_seconds + more.seconds) * 1000) / 1000,
    proposer_input_tokens: usage.proposer_input_tokens + more.inputTokens,
    proposer_output_tokens: usage.proposer_output_tokens + more.outputTokens,
  }
}

const isEmpty = ({ text, calls }: ModelAnswer): boolean => text.trim() === '' && calls.length === 0
