/** A runtime on an engine: it answers in every format, and serves adapters to scenarios. */
import {
  invalid,
  isObject,
  isRefusal,
  PRODUCT,
  upstream,
  type Capture,
  type Engine,
  type JsonObject,
  type Runtime,
  type RuntimeAnswer,
  type RuntimeCall,
  type WholeAnswer,
} from '../../contract/index.ts'
import {
  dialects,
  listOf,
  objectOf,
  objectsOf,
  parsed,
  textOf,
  type DialectSpec,
  type ModelReply,
  type ReplyCall,
  type Tool,
} from '../../dialects/index.ts'
import { newId } from '../../kit/index.ts'
import { parseAdapterName } from '../load-id.ts'
import { ownedEngine } from './owned.ts'
import { untilGone } from './leases.ts'
import { Weights } from './weights.ts'

export interface WeightRuntimeSettings {
  readonly name: string
  /** The public name of the base; null: the engine's. */
  readonly modelName: string | null
  /** For an engine that other services may use too; null: it is this service's alone. */
  readonly adapterPrefix?: string | null
  readonly clock?: () => number
  /** How long requests of a scenario may run on before an update that has no other slot aborts them. */
  readonly drainSeconds?: number
}

const DRAIN_SECONDS = 30

export function makeWeightRuntime(given: Engine, settings: WeightRuntimeSettings): Runtime {
  const { name, modelName, adapterPrefix = null, clock = () => Date.now() / 1000, drainSeconds = DRAIN_SECONDS } = settings
  const engine = adapterPrefix === null ? given : ownedEngine(given, adapterPrefix)
  const weights = new Weights(engine, drainSeconds)
  const parts: RuntimeParts = { engine, weights, clock, modelName: async (signal) => modelName ?? (await weights.model(signal)).name }
  return {
    infer: (call) => infer(parts, call),
    models: async ({ signal }) => whole(200, modelList(await parts.modelName(signal))),
    weights,
    status: () => Promise.resolve({ runtime: name, ...engine.status(), adapters: weights.status() }),
    stop: () => weights.stop(),
    close: () => weights.close(),
  }
}

interface RuntimeParts {
  readonly engine: Engine
  readonly weights: Weights
  readonly modelName: (signal: AbortSignal) => Promise<string>
  readonly clock: () => number
}

async function infer(parts: RuntimeParts, call: RuntimeCall): Promise<RuntimeAnswer> {
  try {
    return await untilGone(answerCall(parts, call), call.signal)
  } catch (error) {
    if (call.signal.aborted) throw upstream('call_aborted', 'the call was given up before the model answered', { cause: error })
    if (parts.weights.noteFailure(error)) return { kind: 'interrupted' }
    if (!isRefusal(error)) throw upstream('engine_failed', 'the engine failed without an answer; try again', { cause: error })
    if (error.kind !== 'invalid') throw error
    return whole(400, writeRefusal(dialects[call.dialect], 400, { message: error.message, code: error.code }))
  }
}

async function answerCall(parts: RuntimeParts, call: RuntimeCall): Promise<RuntimeAnswer> {
  const { adapter, body } = readBody(call)
  const dialect = dialects[call.dialect]
  const model = dialect.modelIn(call.path, body) || (await parts.modelName(call.signal))
  const fault = dialect.faultIn(body, model)
  if (fault !== null) throw invalid(fault.code ?? 'invalid_request_error', fault.message)
  const { writeCount } = dialect
  return writeCount === undefined ? ask(parts, call, { dialect, adapter, model, body }) : count(parts, call, { dialect, body, writeCount })
}

/** Removes the keys of the fence, which are for this runtime only. */
function readBody(call: RuntimeCall): { readonly adapter: string | null; readonly body: JsonObject } {
  const { lora_path: adapter = null, return_meta_info: _proof, ...body } = parseBody(call.body)
  if (adapter !== null && (typeof adapter !== 'string' || parseAdapterName(adapter) === null))
    throw invalid('foreign_lora_path', 'lora_path: no such adapter is served here; leave it out')
  return { adapter, body }
}

function parseBody(bytes: Uint8Array): JsonObject {
  const value = parsed(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString())
  if (isObject(value)) return value
  throw invalid('invalid_json', 'the body must be a JSON object')
}

interface Counted {
  readonly dialect: DialectSpec
  readonly body: JsonObject
  readonly writeCount: (tokens: number) => JsonObject
}

/** By the model's own template; an engine without one is asked for a single token, and counts the prompt. */
async function count({ engine, weights, modelName }: RuntimeParts, { signal }: RuntimeCall, asked: Counted): Promise<RuntimeAnswer> {
  const { dialect, body, writeCount } = asked
  const chat = { ...dialect.chatRequest(body), model: await modelName(signal) }
  const encoded = await weights.encode(chat, null, signal)
  if (encoded !== null) return whole(200, writeCount(encoded.prompt.length))
  const said = await engine.chat({ body: { ...chat, max_tokens: 1 }, adapter: null, signal })
  if (said.kind === 'aborted') return { kind: 'interrupted' }
  if (said.kind === 'refused') return whole(said.status, writeRefusal(dialect, said.status, said.answer))
  return whole(200, writeCount(said.capture.prompt.length))
}

interface AskedChat {
  readonly dialect: DialectSpec
  readonly adapter: string | null
  readonly model: string
  readonly body: JsonObject
}

async function ask({ engine, weights, modelName, clock }: RuntimeParts, call: RuntimeCall, asked: AskedChat): Promise<RuntimeAnswer> {
  const { dialect, adapter, model, body } = asked
  // It was unloaded after the request was made.
  if (adapter !== null && !weights.isResident(adapter)) return { kind: 'interrupted' }
  const chat = { ...dialect.chatRequest(body), model: await modelName(call.signal) }
  const said = await engine.chat({ body: chat, adapter, signal: call.signal })
  if (said.kind === 'aborted') return { kind: 'interrupted' }
  if (said.kind === 'refused') return whole(said.status, writeRefusal(dialect, said.status, said.answer))
  const { tools } = dialect.reader.read(body)
  const reply = replyOf(said.answer, said.capture, { model, createdSeconds: Math.floor(clock()), chat, tools })
  const written = dialect.writeAnswer(reply, body)
  if (!dialect.isStreamed(call.path, body)) return whole(200, written, said.capture)
  return {
    kind: 'stream',
    status: 200,
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' },
    chunks: inTurn(dialect.frames(written, body, atOnce), call.signal),
    whole: { answer: written, capture: said.capture },
  }
}

/** The answer is complete, so each text is one piece. */
const atOnce = (text: string): readonly string[] => (text === '' ? [] : [text])

async function* inTurn(frames: Iterable<Buffer>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for (const frame of frames) {
    if (signal.aborted) throw upstream('call_aborted', 'the call was given up before the answer ended', { cause: signal.reason })
    yield frame
  }
}

const whole = (status: number, body: JsonObject, capture?: Capture): WholeAnswer => ({
  kind: 'whole',
  status,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify(body)),
  ...(capture === undefined ? {} : { capture }),
})

/** OpenAI's shape with the fields that Anthropic's clients read. A base has no date. */
function modelList(id: string): JsonObject {
  const dates = { created: 0, created_at: new Date(0).toISOString() }
  const model = { id, object: 'model', type: 'model', ...dates, owned_by: PRODUCT, display_name: id }
  return { object: 'list', data: [model], has_more: false, first_id: id, last_id: id }
}

interface AskedOf {
  readonly model: string
  readonly createdSeconds: number
  /** The chat request that the engine answered. */
  readonly chat: JsonObject
  readonly tools: readonly Tool[]
}

/** Tokens are counted by the capture: it is what was generated. */
function replyOf(answer: JsonObject, { prompt, tokens }: Capture, { model, createdSeconds, chat, tools }: AskedOf): ModelReply {
  const id = newId()
  const usage = { input: prompt.length, output: tokens.length }
  const choice = objectOf(objectsOf(answer['choices'])[0])
  const message = objectOf(choice['message'])
  const finish = textOf(choice['finish_reason']) || 'stop'
  const completion = {
    id: `chatcmpl-${id}`,
    created: createdSeconds,
    usage: { prompt_tokens: usage.input, completion_tokens: usage.output, total_tokens: usage.input + usage.output },
    ...answer,
    object: 'chat.completion',
    model,
    choices: [{ ...choice, index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason: finish }],
  }
  const calls = objectsOf(message['tool_calls']).map((call) => readCall(call, tools))
  const ending = endingOf(finish, stopOf(choice, chat), calls.length > 0)
  return { id, createdSeconds, model, text: textOf(message['content']), calls, ending, usage, completion }
}

/** A custom tool takes plain text: the engine called a function of one text. */
function readCall(call: JsonObject, tools: readonly Tool[]): ReplyCall {
  const { name: called, arguments: given } = objectOf(call['function'])
  const name = textOf(called)
  const tool = tools.find((offered) => offered.name === name)
  const isCustom = tool?.shape === 'custom'
  const text = textOf(given) || '{}'
  return {
    id: textOf(call['id']) || `call_${newId()}`,
    name,
    input: isCustom ? textOf(objectOf(parsed(text))['input']) : text,
    shape: isCustom ? 'custom' : 'function',
    namespace: tool?.namespace ?? null,
  }
}

function endingOf(finish: string, sequence: string | null, isCall: boolean): ModelReply['ending'] {
  if (sequence !== null) return { kind: 'stop', sequence }
  if (finish === 'length') return { kind: 'length' }
  if (finish === 'content_filter') return { kind: 'refusal' }
  return { kind: isCall ? 'call' : 'end' }
}

/** Engines name it differently, and put the number of an end token there too. */
function stopOf(choice: JsonObject, chat: JsonObject): string | null {
  const matched = textOf(choice['matched_stop']) || textOf(choice['stop_reason'])
  return listOf(chat['stop']).includes(matched) ? matched : null
}

/** What the engine said when it refused, in the shape of the format's provider. Engines put the words in different places. */
function writeRefusal(dialect: DialectSpec, status: number, answer: JsonObject): JsonObject {
  const said = { ...answer, ...objectOf(answer['error']) }
  const message = textOf(said['message']) || textOf(said['detail']) || textOf(answer['error']) || 'the engine refused the request'
  const { type, param = null, code = null } = said
  return dialect.writeError(status, { message, param, code, ...(textOf(type) !== '' && { type: textOf(type) }) })
}
