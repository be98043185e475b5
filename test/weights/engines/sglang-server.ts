/** A simulated SGLang server: chats, token ids, adapters and pauses as documented. */
import type { JsonObject } from '../../../src/contract/index.ts'
import type { Decoded } from './decoder.ts'
import { memberIn, textIn } from '../../crash/http.ts'
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

const WEIGHT_VERSION = 'default'

export const startSglang = (options: EngineOptions = {}): Promise<EngineServer> => startEngine(routes, options)

const routes = (engine: EngineState) => ({
  'GET /v1/models': () => ok({ object: 'list', data: models(engine) }),
  'GET /model_info': () => (engine.faults.has('old') ? missing : ok(modelInfo(engine))),
  'GET /get_model_info': () => ok(modelInfo(engine)),
  'GET /server_info': () => (engine.faults.has('old') ? missing : ok(serverInfo(engine))),
  'GET /get_server_info': () => ok(serverInfo(engine)),
  'GET /health_generate': () => ({ status: 200, body: '' }),
  'POST /load_lora_adapter': (body: JsonObject) => load(engine, body),
  'POST /unload_lora_adapter': (body: JsonObject) => unload(engine, body),
  'POST /pause_generation': () => {
    engine.pause()
    return ok({ message: 'Generation paused successfully.', status: 'ok' })
  },
  'POST /continue_generation': () => {
    engine.resume()
    return ok({ message: 'Generation continued successfully.', status: 'ok' })
  },
  'POST /generate': (body: JsonObject) => generate(engine, body),
  'POST /v1/chat/completions': (body: JsonObject) => chat(engine, body),
})

const serverInfo = ({ capacity, rankMax, modules }: EngineState): JsonObject => ({
  version: '0.5.23',
  max_lora_rank: rankMax,
  max_loaded_loras: finiteOf(capacity),
  lora_target_modules: modules,
})

function models({ adapters, faults, decoder }: EngineState): readonly JsonObject[] {
  const base = { id: BASE_MODEL, object: 'model', owned_by: 'sglang', root: BASE_MODEL, max_model_len: decoder.contextTokens }
  if (faults.has('old')) return [base]
  return [
    { ...base, parent: null },
    ...[...adapters].map(([id, root]) => ({ id, object: 'model', owned_by: 'sglang', root, parent: BASE_MODEL, max_model_len: null })),
  ]
}

const versionOf = ({ faults }: EngineState): string => (faults.has('otherWeightVersion') ? 'other' : WEIGHT_VERSION)

const modelInfo = (engine: EngineState): JsonObject => ({
  model_path: BASE_MODEL,
  tokenizer_path: BASE_MODEL,
  is_generation: true,
  weight_version: versionOf(engine),
})

async function load(engine: EngineState, body: JsonObject): Promise<Answer> {
  const [name, directory] = [textIn(body, 'lora_name'), textIn(body, 'lora_path')]
  if (engine.faults.has('loraOff')) return refused(engine, 'LoRA is not enabled. Please set `--enable-lora` to enable LoRA.')
  if (engine.adapters.has(name)) return refused(engine, `LoRA with name ${name} already exists.`)
  if (engine.adapters.size >= engine.capacity)
    return refused(
      engine,
      `Cannot load LoRA adapter ${name} at path ${directory}. Maximum number of loaded LoRA adapters is ${engine.capacity}.`,
    )
  try {
    await engine.load(name, directory, false)
  } catch (error) {
    return refused(engine, `Failed to load LoRA adapter ${name}: ${String(error)}`)
  }
  return ok(account(engine, true, ''))
}

function unload(engine: EngineState, body: JsonObject): Answer {
  const name = textIn(body, 'lora_name')
  if (!engine.adapters.delete(name)) return refused(engine, `LoRA with name ${name} does not exist.`)
  return ok(account(engine, true, ''))
}

const refused = (engine: EngineState, why: string): Answer => ({ status: 400, body: account(engine, false, why) })

const account = ({ adapters }: EngineState, success: boolean, error_message: string): JsonObject => ({
  success,
  error_message,
  loaded_adapters: Object.fromEntries(adapters),
})

/** Why the named adapter is invalid, or null. Without `lora_path` the base answers. */
function strange({ adapters }: EngineState, adapter: string | null): Answer | null {
  if (adapter === null || adapters.has(adapter)) return null
  const message = `The following requested LoRA adapters are not loaded: ${adapter}\nLoaded adapters: ${[...adapters.keys()].join(', ')}.`
  return badRequest(message, null)
}

const badRequest = (message: string, param: string | null): Answer => ({
  status: 400,
  body: { object: 'error', message, type: 'BadRequest', param, code: 400 },
})

const adapterOf = (body: JsonObject): string | null => (typeof body['lora_path'] === 'string' ? body['lora_path'] : null)

async function generate(engine: EngineState, body: JsonObject): Promise<Answer> {
  const prompt = ids(body['input_ids'])
  const params = memberIn(body, 'sampling_params')
  const refusal = strange(engine, adapterOf(body))
  if (refusal !== null) return refusal
  if (params['max_new_tokens'] === 0) return score(engine, prompt, adapterOf(body))
  const wishes = { ...params, seed: params['sampling_seed'] ?? 0 }
  const decoded = await engine.generate(prompt, adapterOf(body), samplingOf(wishes, params['max_new_tokens']))
  return ok({ text: decoded?.text ?? '', output_ids: decoded?.tokens ?? [], meta_info: metaInfo(engine, prompt, decoded) })
}

async function score(engine: EngineState, tokens: readonly number[], adapter: string | null): Promise<Answer> {
  const logProbs = [null, ...(await engine.score(tokens, adapter))]
  const rows = tokens.map((token, at) => [logProbs[at] ?? null, token, null])
  const meta = { finish_reason: { type: 'length', length: 0 }, prompt_tokens: tokens.length, weight_version: versionOf(engine) }
  return ok({
    text: '',
    output_ids: [],
    meta_info: { ...meta, completion_tokens: 0, input_token_logprobs: rows, output_token_logprobs: [] },
  })
}

async function chat(engine: EngineState, body: JsonObject): Promise<Answer> {
  // `base:adapter` chooses an adapter too, and wins over lora_path.
  const adapter = textIn(body, 'model').split(':')[1] ?? adapterOf(body)
  const refusal = strange(engine, adapter)
  if (refusal !== null) return refusal
  if (messagesOf(body).length === 0) return badRequest('Messages cannot be empty.', 'messages')
  const prompt = await engine.decoder.encodeChat(messagesOf(body), true)
  const decoded = await engine.generate(prompt, adapter, samplingOf(body, body['max_completion_tokens'] ?? body['max_tokens']))
  const choice = {
    index: 0,
    message: { role: 'assistant', content: decoded?.text ?? '', reasoning_content: null, tool_calls: null },
    logprobs: body['logprobs'] === true ? { content: content(decoded) } : null,
    finish_reason: decoded?.finish ?? 'abort',
    matched_stop: null,
    ...(body['return_prompt_token_ids'] === true && { prompt_token_ids: reportedPrompt(prompt, engine.faults) }),
    ...(body['return_meta_info'] === true && { meta_info: metaInfo(engine, prompt, decoded) }),
  }
  return ok({
    id: 'chat',
    object: 'chat.completion',
    created: 0,
    model: body['model'] ?? '',
    choices: [choice],
    usage: usageOf(prompt, decoded),
    metadata: { weight_version: versionOf(engine) },
  })
}

const content = (decoded: Decoded | null): readonly JsonObject[] =>
  (decoded?.logProbs ?? []).map((logprob) => ({ token: '', bytes: [], logprob, top_logprobs: [] }))

function metaInfo(engine: EngineState, prompt: readonly number[], decoded: Decoded | null): JsonObject {
  const common = {
    id: 'x',
    prompt_tokens: prompt.length,
    weight_version: versionOf(engine),
    completion_tokens: decoded?.tokens.length ?? 0,
  }
  if (decoded === null) return { ...common, finish_reason: { type: 'abort', message: 'Abort in pause' }, output_token_logprobs: [] }
  const { tokens, logProbs } = reported(decoded, engine.faults)
  const rows = tokens.map((token, at) => [logProbs[at] ?? null, token, null])
  return { ...common, finish_reason: { type: decoded.finish }, output_token_logprobs: engine.faults.has('noLogProbs') ? null : rows }
}
