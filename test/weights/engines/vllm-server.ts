/** A simulated vLLM server: chats, token ids, adapters and pauses as documented. */
import type { Json, JsonObject } from '../../../src/contract/index.ts'
import type { Decoded } from './decoder.ts'
import { textIn } from '../../crash/http.ts'
import { missing, ok, startEngine, type Answer, type EngineServer } from './server.ts'
import {
  BASE_MODEL,
  finiteOf,
  ids,
  messagesOf,
  reported,
  reportedPrompt,
  samplingOf,
  usageOf,
  type EngineOptions,
  type EngineState,
} from './state.ts'

export const startVllm = (options: EngineOptions = {}): Promise<EngineServer> => startEngine(routes, options)

const routes = (engine: EngineState) => ({
  'GET /v1/models': () => ok({ object: 'list', data: models(engine) }),
  'GET /version': () => ok({ version: '0.32.0' }),
  'GET /server_info': () => (engine.faults.has('noDevMode') ? missing : ok({ vllm_config: { lora_config: loraConfig(engine) } })),
  'GET /health': () => ({ status: 200, body: '' }),
  'POST /v1/load_lora_adapter': (body: JsonObject) => load(engine, body),
  'POST /v1/unload_lora_adapter': (body: JsonObject) => unload(engine, body),
  'POST /pause': (_: JsonObject, query: URLSearchParams) => pause(engine, query),
  'POST /resume': () => resume(engine),
  'POST /tokenize': (body: JsonObject) => tokenize(engine, body),
  'POST /v1/completions': (body: JsonObject) => complete(engine, body),
  'POST /v1/chat/completions': (body: JsonObject) => chat(engine, body),
})

const loraConfig = ({ capacity, rankMax, modules }: EngineState): JsonObject => ({
  max_lora_rank: rankMax,
  max_loras: finiteOf(capacity),
  max_cpu_loras: finiteOf(capacity),
  target_modules: modules,
})

const refused = (status: number, type: string, message: string): Answer => ({
  status,
  body: { error: { message, type, param: null, code: status } },
})

const models = ({ adapters, decoder }: EngineState): readonly JsonObject[] => [
  { id: BASE_MODEL, object: 'model', owned_by: 'vllm', root: BASE_MODEL, parent: null, max_model_len: decoder.contextTokens },
  ...[...adapters].map(([id, root]) => ({ id, object: 'model', owned_by: 'vllm', root, parent: BASE_MODEL, max_model_len: null })),
]

/** Only in-place loading may load a name twice. */
async function load(engine: EngineState, body: JsonObject): Promise<Answer> {
  const [name, directory, inPlace] = [textIn(body, 'lora_name'), textIn(body, 'lora_path'), body['load_inplace'] === true]
  if (engine.faults.has('loraOff')) return missing
  if (engine.adapters.has(name) && !inPlace)
    return refused(400, 'InvalidUserInput', `The lora adapter '${name}' has already been loaded. To load it in place, set 'load_inplace'.`)
  if (engine.adapters.size >= engine.capacity) return refused(500, 'InternalServerError', `No free lora slots for '${name}'`)
  try {
    await engine.load(name, directory, inPlace)
  } catch (error) {
    return refused(404, 'NotFoundError', `Loading lora ${name} failed: No adapter found for ${directory}: ${String(error)}`)
  }
  return { status: 200, body: `Success: LoRA adapter '${name}' added successfully.` }
}

function unload(engine: EngineState, body: JsonObject): Answer {
  const name = textIn(body, 'lora_name')
  if (engine.faults.has('loraOff')) return missing
  if (!engine.adapters.delete(name)) return refused(404, 'NotFoundError', `The lora adapter '${name}' cannot be found.`)
  return { status: 200, body: `Success: LoRA adapter '${name}' removed successfully.` }
}

function pause(engine: EngineState, query: URLSearchParams): Answer {
  if (engine.faults.has('noDevMode')) return missing
  if (query.get('mode') !== 'abort') return refused(400, 'BadRequestError', 'only the mode abort is known here')
  engine.pause()
  return ok({ status: 'paused' })
}

function resume(engine: EngineState): Answer {
  if (engine.faults.has('noDevMode')) return missing
  engine.resume()
  return ok({ status: 'resumed' })
}

async function tokenize(engine: EngineState, body: JsonObject): Promise<Answer> {
  const tokens = await engine.decoder.encodeChat(messagesOf(body), body['add_generation_prompt'] !== false)
  return ok({ count: tokens.length, max_model_len: engine.decoder.contextTokens, tokens, token_strs: null })
}

/** Refuses an unknown model; the base is the adapter null. */
function adapterOf({ adapters }: EngineState, body: JsonObject): { adapter: string | null } | Answer {
  const model = textIn(body, 'model')
  if (model === BASE_MODEL) return { adapter: null }
  return adapters.has(model) ? { adapter: model } : refused(404, 'NotFoundError', `The model \`${model}\` does not exist.`)
}

const echoOf = ({ faults }: EngineState, body: JsonObject): Json => (faults.has('otherModel') ? 'another-model' : (body['model'] ?? null))

async function complete(engine: EngineState, body: JsonObject): Promise<Answer> {
  const asked = adapterOf(engine, body)
  if ('status' in asked) return asked
  const prompt = ids(body['prompt'])
  const decoded = await engine.generate(prompt, asked.adapter, samplingOf(body, body['max_tokens']))
  const { tokens, logProbs } = reported(decoded ?? nothing, engine.faults)
  const choice = {
    index: 0,
    text: decoded?.text ?? '',
    finish_reason: decoded?.finish ?? 'abort',
    stop_reason: null,
    logprobs: 'logprobs' in body && !engine.faults.has('noLogProbs') ? { token_logprobs: logProbs, tokens: logProbs.map(() => '') } : null,
    prompt_logprobs: 'prompt_logprobs' in body ? rowsOf(prompt, await engine.score(prompt, asked.adapter)) : null,
    ...(body['return_token_ids'] === true && { prompt_token_ids: reportedPrompt(prompt, engine.faults), token_ids: tokens }),
  }
  return ok({
    id: 'c',
    object: 'text_completion',
    created: 0,
    model: echoOf(engine, body),
    choices: [choice],
    usage: usageOf(prompt, decoded),
  })
}

const nothing: Decoded = { tokens: [], logProbs: [], text: '', finish: 'stop' }

const rowsOf = (tokens: readonly number[], logProbs: readonly number[]): readonly Json[] =>
  tokens.map((token, at) => (at === 0 ? null : { [String(token)]: { logprob: logProbs[at - 1] ?? null, rank: 1, decoded_token: '' } }))

async function chat(engine: EngineState, body: JsonObject): Promise<Answer> {
  const asked = adapterOf(engine, body)
  if ('status' in asked) return asked
  if (messagesOf(body).length === 0) return refused(400, 'BadRequestError', 'messages must not be empty')
  if ('stream_options' in body) return refused(400, 'BadRequestError', 'Stream options can only be defined when stream=True.')
  const prompt = await engine.decoder.encodeChat(messagesOf(body), true)
  const decoded = await engine.generate(prompt, asked.adapter, samplingOf(body, body['max_completion_tokens'] ?? body['max_tokens']))
  const { tokens, logProbs } = reported(decoded ?? nothing, engine.faults)
  const content = logProbs.map((logprob) => ({ token: '', bytes: [], logprob, top_logprobs: [] }))
  const choice = {
    index: 0,
    message: { role: 'assistant', content: decoded?.text ?? '', tool_calls: [] },
    logprobs: body['logprobs'] === true && !engine.faults.has('noLogProbs') ? { content } : null,
    finish_reason: decoded?.finish ?? 'abort',
    stop_reason: null,
    ...(body['return_token_ids'] === true && { token_ids: tokens }),
  }
  const returned = body['return_token_ids'] === true ? { prompt_token_ids: reportedPrompt(prompt, engine.faults) } : {}
  return ok({
    id: 'chatcmpl',
    object: 'chat.completion',
    created: 0,
    model: echoOf(engine, body),
    choices: [choice],
    usage: usageOf(prompt, decoded),
    prompt_logprobs: null,
    ...returned,
  })
}
