/** vLLM as an engine: an adapter is a model of its own, asked for by name and named in the answer. */
import {
  unavailable,
  upstream,
  type AdapterFolder,
  type AdapterLimits,
  type ChatAnswer,
  type Encoded,
  type Engine,
  type EngineChat,
  type EngineModel,
  type GenerateCall,
  type Generation,
  type JsonObject,
  type Refusal,
} from '../../../src/contract/index.ts'
import { defined, firstChoice, givenOn, requestOf } from '../common/chat.ts'
import { EngineHttp, type Reply } from '../common/http.ts'
import { filledText, listOf, objectOf, objectsOf, textOf } from '../../../src/dialects/index.ts'
import { limitsOf, shownBy } from '../common/limits.ts'
import { readModels } from '../common/models.ts'
import { broken, checkCount, checkSame, idsOf, logProbsOf, oneSpan } from '../common/numbers.ts'
import { answerOf, failed, refusalOf, wholeOf, isHeldAlready, isLost, refusedAdapter } from '../common/replies.ts'
import type { EngineSettings } from '../common/settings.ts'

interface Base extends EngineModel {
  readonly id: string
}

const OWN_KEYS = ['prompt_token_ids', 'token_ids']

export class VllmEngine implements Engine {
  readonly capacity: number
  readonly moves = false
  readonly #settings: EngineSettings
  readonly #http: EngineHttp
  #base: Base | null = null
  #pauses: boolean | null = null
  #version: string | null = null

  constructor(settings: EngineSettings) {
    this.capacity = settings.capacity
    this.#settings = settings
    this.#http = new EngineHttp(settings)
  }

  async model(signal: AbortSignal): Promise<Base> {
    if (this.#base !== null) return this.#base
    const { id, name, contextTokens } = await readModels(this.#http, this.#settings.model, signal)
    this.#version = filledText(shownBy(await this.#http.get('/version', signal))['version'])
    this.#base ??= { id, name, vocabulary: this.#settings.vocabulary, contextTokens, digest: null, shape: null }
    return this.#base
  }

  /** Its settings are shown in its development mode alone. Beyond `max_cpu_loras` it drops adapters by itself, so that is how many it holds. */
  async limits(signal: AbortSignal): Promise<AdapterLimits> {
    const shown = shownBy(await this.#http.get('/server_info?config_format=json', signal))
    const lora = objectOf(objectOf(shown['vllm_config'])['lora_config'])
    return limitsOf(lora, lora['max_cpu_loras'] ?? lora['max_loras'], lora['target_modules'], this.#settings.rankMax)
  }

  /** Never in place: then the engine would read the folder again with every step. */
  async load({ name, directory }: AdapterFolder, signal: AbortSignal): Promise<void> {
    const reply = await this.#http.post('/v1/load_lora_adapter', { lora_name: name, lora_path: directory, load_inplace: false }, signal)
    // A name is one adapter for ever: the reply of an earlier try was lost, and that try loaded the same.
    if (reply.status < 400 || isHeldAlready(reply)) return
    if (isRouteOff(reply, name)) throw routeOff()
    if (/max_cpu_loras|max_loras|no free lora/i.test(reply.text)) throw full()
    throw reply.status >= 500 ? failed(reply) : refusedAdapter(reply)
  }

  async unload(name: string, signal: AbortSignal): Promise<void> {
    const reply = await this.#http.post('/v1/unload_lora_adapter', { lora_name: name }, signal)
    if (reply.status < 400 || isLost(reply, name)) return
    throw isRouteOff(reply, name) ? routeOff() : failed(reply)
  }

  async adapters(signal: AbortSignal): Promise<readonly string[]> {
    return (await readModels(this.#http, this.#settings.model, signal)).adapters
  }

  /** Aborts running requests: no answer may span two states of the engine. */
  pause(signal: AbortSignal): Promise<void> {
    return this.#send('/pause?mode=abort', signal)
  }

  resume(signal: AbortSignal): Promise<void> {
    return this.#send('/resume', signal)
  }

  /** Only in its development mode the engine has these routes. A name is one adapter for ever, so it is safe without them. */
  async #send(path: string, signal: AbortSignal): Promise<void> {
    const reply = await this.#http.post(path, {}, signal)
    if (reply.status >= 400 && reply.status !== 404) throw failed(reply)
    this.#pauses = reply.status !== 404
  }

  async health(signal: AbortSignal): Promise<void> {
    const reply = await this.#http.get('/health', signal)
    if (reply.status >= 400) throw failed(reply)
  }

  async chat({ body, adapter, signal }: EngineChat): Promise<ChatAnswer> {
    const asked = adapter ?? (await this.model(signal)).id
    const reply = await this.#http.post('/v1/chat/completions', requestOf(body, { model: asked, return_token_ids: true }), signal)
    if (reply.status >= 400) return refusalOf(reply, adapter)
    const answer = wholeOf(reply)
    const choice = firstChoice(answer)
    if (choice['finish_reason'] === 'abort') return { kind: 'aborted' }
    const usage = objectOf(answer['usage'])
    const prompt = idsOf(answer['prompt_token_ids'], 'prompt ids')
    const tokens = idsOf(choice['token_ids'], 'generated ids')
    const logProbs = logProbsOf(objectsOf(objectOf(choice['logprobs'])['content']).map((row) => row['logprob']))
    checkCount(prompt, usage['prompt_tokens'], 'prompt ids')
    checkCount(tokens, usage['completion_tokens'], 'generated ids')
    checkCount(logProbs, tokens.length, 'log-probabilities')
    const capture = { prompt, tokens, logProbs, spans: oneSpan(tokens, producerOf(answer, asked, adapter)) }
    return { kind: 'answer', answer: givenOn(answer, body, OWN_KEYS), capture }
  }

  async generate({ prompt, adapter, sampling, signal }: GenerateCall): Promise<Generation> {
    const { maxTokens, temperature, topP, topK, seed, stop } = sampling
    const wishes = defined({ max_tokens: maxTokens, temperature, top_p: topP, top_k: topK, seed, stop })
    const { answer, choice, asked } = await this.#complete(prompt, { ...wishes, logprobs: 1, return_token_ids: true }, adapter, signal)
    if (choice['finish_reason'] === 'abort') return { prompt, tokens: [], logProbs: [], spans: [], text: '', finish: 'aborted' }
    checkSame(idsOf(choice['prompt_token_ids'], 'prompt ids'), prompt, 'the prompt ids')
    const tokens = idsOf(choice['token_ids'], 'generated ids')
    const logProbs = logProbsOf(listOf(objectOf(choice['logprobs'])['token_logprobs']))
    checkCount(tokens, objectOf(answer['usage'])['completion_tokens'], 'generated ids')
    checkCount(logProbs, tokens.length, 'log-probabilities')
    const finish = choice['finish_reason'] === 'length' ? 'length' : 'stop'
    return {
      prompt,
      tokens,
      logProbs,
      spans: oneSpan(tokens, producerOf(answer, asked, adapter)),
      text: textOf(choice['text']),
      finish,
    }
  }

  async score(tokens: readonly number[], adapter: string | null, signal: AbortSignal): Promise<readonly number[]> {
    const { answer, choice, asked } = await this.#complete(tokens, { max_tokens: 1, temperature: 0, prompt_logprobs: 0 }, adapter, signal)
    if (choice['finish_reason'] === 'abort' || producerOf(answer, asked, adapter) !== adapter)
      throw broken('it was broken off, or another model gave it')
    const rows = listOf(choice['prompt_logprobs']).map(objectOf)
    checkCount(rows, tokens.length, 'scored ids')
    // Each row maps ids to log-probabilities: the id itself, and likelier ones where they were requested.
    return logProbsOf(rows.slice(1).map((row, at) => objectOf(row[String(tokens[at + 1])])['logprob']))
  }

  /** The only route that takes ids, returns ids, text and log-probabilities, and names the model. */
  async #complete(prompt: readonly number[], wishes: JsonObject, adapter: string | null, signal: AbortSignal) {
    const asked = adapter ?? (await this.model(signal)).id
    const answer = answerOf(await this.#http.post('/v1/completions', { ...wishes, model: asked, prompt, stream: false }, signal), adapter)
    return { answer, choice: firstChoice(answer), asked }
  }

  /** By the engine's own template. Null where it has no such route, refuses the chat, or rewrites the conversation once it goes on. */
  async encode(body: JsonObject, answer: JsonObject | null, signal: AbortSignal): Promise<Encoded | null> {
    const messages = listOf(body['messages'])
    const { tools, chat_template_kwargs } = body
    const common = defined({ model: (await this.model(signal)).id, tools, chat_template_kwargs })
    const prompt = await this.#tokenize({ ...common, messages, add_generation_prompt: true }, signal)
    if (prompt === null || answer === null) return prompt === null ? null : { prompt, answer: [] }
    const turn = { ...answer, role: 'assistant' }
    const whole = await this.#tokenize({ ...common, messages: [...messages, turn], add_generation_prompt: false }, signal)
    if (whole === null || prompt.some((id, at) => id !== whole[at])) return null
    return { prompt, answer: whole.slice(prompt.length) }
  }

  async #tokenize(request: JsonObject, signal: AbortSignal): Promise<readonly number[] | null> {
    const reply = await this.#http.post('/tokenize', request, signal)
    if (reply.status >= 500) throw failed(reply)
    return reply.status >= 400 ? null : idsOf(wholeOf(reply)['tokens'], 'token ids')
  }

  status(): JsonObject {
    const { url, timeoutSeconds, model } = this.#settings
    return {
      url,
      timeout_s: timeoutSeconds,
      model: this.#base?.name ?? model,
      version: this.#version,
      pauses: this.#pauses,
      logprobs_mode: 'needs --logprobs-mode processed_logprobs, and requests without top_p and top_k: vLLM counts filters in',
    }
  }

  close(): Promise<void> {
    return this.#http.close()
  }
}

/** By the model that the answer names. Another name than the requested one is never an adapter of the scenario. */
function producerOf(answer: JsonObject, asked: string, adapter: string | null): string | null {
  const said = filledText(answer['model'])
  return said === asked ? adapter : (said ?? 'model:none')
}

/** A refusal by the route itself names the adapter. */
const isRouteOff = ({ status, text }: Reply, name: string): boolean => [403, 404, 405].includes(status) && !text.includes(name)

const routeOff = (): Refusal =>
  upstream(
    'engine_without_lora',
    'the engine loads no adapters while it runs; start it with VLLM_ALLOW_RUNTIME_LORA_UPDATING=1 and --enable-lora',
  )

const full = (): Refusal =>
  unavailable('engine_full', "the engine holds as many adapters as it may; its --max-cpu-loras must not be below this runtime's capacity")
