/** SGLang as an engine: its own routes for tokens, adapters and pauses, the chat completions route for chats. */
import {
  unavailable,
  upstream,
  type AdapterFolder,
  type AdapterLimits,
  type ChatAnswer,
  type Engine,
  type EngineChat,
  type EngineModel,
  type GenerateCall,
  type Generation,
  type Json,
  type JsonObject,
  type Refusal,
  type Sampling,
} from '../../../src/contract/index.ts'
import { defined, firstChoice, givenOn, requestOf } from '../common/chat.ts'
import { EngineHttp, type Reply } from '../common/http.ts'
import { filledText, isList, listOf, objectOf, textOf } from '../../../src/dialects/index.ts'
import { limitsOf, shownBy } from '../common/limits.ts'
import { readModels, type Models } from '../common/models.ts'
import { broken, checkCount, checkSame, idsOf, logProbsOf, oneSpan } from '../common/numbers.ts'
import { answerOf, failed, isHeldAlready, isLost, refusalOf, refusedAdapter, wholeOf } from '../common/replies.ts'
import type { EngineSettings } from '../common/settings.ts'

interface Base extends EngineModel {
  readonly id: string
  readonly weightVersion: string | null
  readonly version: string | null
}

const OWN_KEYS = ['meta_info', 'prompt_token_ids']

export class SglangEngine implements Engine {
  readonly capacity: number
  readonly moves = false
  readonly #settings: EngineSettings
  readonly #http: EngineHttp
  readonly #adapters: SglangAdapters
  #base: Base | null = null

  constructor(settings: EngineSettings) {
    this.capacity = settings.capacity
    this.#settings = settings
    this.#http = new EngineHttp(settings)
    this.#adapters = new SglangAdapters(this.#http)
  }

  /** Read once: an engine whose weights changed since then must not pass for the same. */
  async model(signal: AbortSignal): Promise<Base> {
    if (this.#base !== null) return this.#base
    const models = await readModels(this.#http, this.#settings.model, signal)
    const info = answerOf(await this.#modelInfo(signal), null)
    const version = filledText((await this.#serverInfo(signal))['version'])
    this.#base ??= {
      id: models.id,
      name: models.name,
      vocabulary: this.#settings.vocabulary,
      contextTokens: models.contextTokens,
      digest: null,
      shape: null,
      weightVersion: filledText(info['weight_version']),
      version,
    }
    return this.#base
  }

  async #modelInfo(signal: AbortSignal): Promise<Reply> {
    const reply = await this.#http.get('/model_info', signal)
    return reply.status === 404 ? this.#http.get('/get_model_info', signal) : reply
  }

  async limits(signal: AbortSignal): Promise<AdapterLimits> {
    const shown = await this.#serverInfo(signal)
    return limitsOf(shown, shown['max_loaded_loras'], shown['lora_target_modules'], this.#settings.rankMax)
  }

  async #serverInfo(signal: AbortSignal): Promise<JsonObject> {
    const reply = await this.#http.get('/server_info', signal)
    return shownBy(reply.status === 404 ? await this.#http.get('/get_server_info', signal) : reply)
  }

  load(adapter: AdapterFolder, signal: AbortSignal): Promise<void> {
    return this.#adapters.load(adapter, signal)
  }

  unload(name: string, signal: AbortSignal): Promise<void> {
    return this.#adapters.unload(name, signal)
  }

  async adapters(signal: AbortSignal): Promise<readonly string[]> {
    return this.#adapters.held(await readModels(this.#http, this.#settings.model, signal))
  }

  /** Aborts running requests: no answer may span two states of the engine. */
  pause(signal: AbortSignal): Promise<void> {
    return this.#send('/pause_generation', { mode: 'abort' }, signal)
  }

  resume(signal: AbortSignal): Promise<void> {
    return this.#send('/continue_generation', {}, signal)
  }

  async #send(path: string, body: JsonObject, signal: AbortSignal): Promise<void> {
    const reply = await this.#http.post(path, body, signal)
    if (reply.status >= 400) throw failed(reply)
  }

  async health(signal: AbortSignal): Promise<void> {
    const reply = await this.#http.get('/health_generate', signal)
    if (reply.status >= 400) throw failed(reply)
  }

  async chat({ body, adapter, signal }: EngineChat): Promise<ChatAnswer> {
    const base = await this.model(signal)
    // A model `base:adapter` would choose an adapter too, so the client's model is not passed on.
    const own = { model: base.id, lora_path: adapter, return_prompt_token_ids: true, return_meta_info: true }
    const reply = await this.#http.post('/v1/chat/completions', requestOf(body, own), signal)
    this.#noteLost(reply, adapter)
    if (reply.status >= 400) return refusalOf(reply, adapter)
    const answer = wholeOf(reply)
    const choice = firstChoice(answer)
    const meta = objectOf(choice['meta_info'])
    if (isAborted(choice['finish_reason']) || isAborted(meta['finish_reason'])) return { kind: 'aborted' }
    const prompt = idsOf(choice['prompt_token_ids'], 'prompt ids')
    checkCount(prompt, meta['prompt_tokens'], 'prompt ids')
    const { tokens, logProbs } = sampledOf(meta)
    const capture = { prompt, tokens, logProbs, spans: oneSpan(tokens, producerOf(meta, adapter, base)) }
    return { kind: 'answer', answer: givenOn(answer, body, OWN_KEYS), capture }
  }

  async generate({ prompt, adapter, sampling, signal }: GenerateCall): Promise<Generation> {
    const base = await this.model(signal)
    const answer = await this.#native({ input_ids: prompt, sampling_params: samplingParams(sampling) }, adapter, signal)
    const meta = objectOf(answer['meta_info'])
    if (isAborted(meta['finish_reason'])) return { prompt, tokens: [], logProbs: [], spans: [], text: '', finish: 'aborted' }
    checkCount(prompt, meta['prompt_tokens'], 'prompt ids')
    const { tokens, logProbs } = sampledOf(meta)
    const finish = objectOf(meta['finish_reason'])['type'] === 'length' ? 'length' : 'stop'
    return { prompt, tokens, logProbs, spans: oneSpan(tokens, producerOf(meta, adapter, base)), text: textOf(answer['text']), finish }
  }

  async score(tokens: readonly number[], adapter: string | null, signal: AbortSignal): Promise<readonly number[]> {
    const base = await this.model(signal)
    const asked = { input_ids: tokens, sampling_params: { max_new_tokens: 0 }, logprob_start_len: 0 }
    const meta = objectOf((await this.#native(asked, adapter, signal))['meta_info'])
    if (isAborted(meta['finish_reason']) || producerOf(meta, adapter, base) !== adapter)
      throw broken('it was broken off, or its weights changed')
    const rows = listOf(meta['input_token_logprobs']).map(listOf)
    checkSame(
      rows.map((row) => Number(row[1])),
      tokens,
      'the ids that were scored',
    )
    return logProbsOf(rows.slice(1).map(([logProb]) => logProb))
  }

  async #native(asked: JsonObject, adapter: string | null, signal: AbortSignal): Promise<JsonObject> {
    const reply = await this.#http.post('/generate', { ...asked, lora_path: adapter, return_logprob: true, stream: false }, signal)
    this.#noteLost(reply, adapter)
    return answerOf(reply, adapter)
  }

  #noteLost(reply: Reply, adapter: string | null): void {
    if (adapter !== null && isLost(reply, adapter)) this.#adapters.forget(adapter)
  }

  status(): JsonObject {
    const { url, timeoutSeconds } = this.#settings
    return {
      url,
      timeout_s: timeoutSeconds,
      model: this.#base?.name ?? this.#settings.model,
      version: this.#base?.version ?? null,
      weight_version: this.#base?.weightVersion ?? null,
      logprobs_mode: 'after temperature, before filters, unless the engine runs with SGLANG_RETURN_ORIGINAL_LOGPROB',
    }
  }

  close(): Promise<void> {
    return this.#http.close()
  }
}

/** When the base was changed under the adapters, the answer gets a name that no scenario serves. */
function producerOf(meta: JsonObject, adapter: string | null, base: Base): string | null {
  const version = filledText(meta['weight_version'])
  return version === base.weightVersion ? adapter : `weight-version:${version ?? 'none'}`
}

const samplingParams = ({ maxTokens, temperature, topP, topK, seed, stop }: Sampling): JsonObject =>
  defined({ max_new_tokens: maxTokens, temperature, top_p: topP, top_k: topK, sampling_seed: seed, stop })

/** Rows of log-probability, id and text, one per generated token. */
function sampledOf(meta: JsonObject): Pick<Generation, 'tokens' | 'logProbs'> {
  if (!isList(meta['output_token_logprobs'])) throw broken('it came without log-probabilities')
  const rows = meta['output_token_logprobs'].map(listOf)
  const tokens = idsOf(
    rows.map((row) => row[1] ?? null),
    'generated ids',
  )
  checkCount(tokens, meta['completion_tokens'], 'generated ids')
  return { tokens, logProbs: logProbsOf(rows.map((row) => row[0])) }
}

/** A word on one route, an object with a `type` on the other. */
const isAborted = (reason: Json | undefined): boolean => reason === 'abort' || objectOf(reason)['type'] === 'abort'

/** The adapters that the server holds: loaded, unloaded, and listed by its own replies. */
class SglangAdapters {
  readonly #http: EngineHttp
  /** As of its latest reply: older servers say it nowhere else. */
  #latest: ReadonlySet<string> = new Set()

  constructor(http: EngineHttp) {
    this.#http = http
  }

  async load({ name, directory }: AdapterFolder, signal: AbortSignal): Promise<void> {
    const reply = await this.#http.post('/load_lora_adapter', { lora_name: name, lora_path: directory, pinned: false }, signal)
    // One name is one adapter for ever: the reply of an earlier try was lost, and what it loaded is the same.
    if (isHeldAlready(reply)) this.#latest = new Set([...this.#latest, name])
    else if (reply.status >= 400 || wholeOf(reply)['success'] !== true) throw refusalOfLoad(reply)
    else this.#note(reply, (held) => held.add(name))
  }

  async unload(name: string, signal: AbortSignal): Promise<void> {
    const reply = await this.#http.post('/unload_lora_adapter', { lora_name: name }, signal)
    if (isLost(reply, name)) return this.forget(name)
    if (reply.status >= 400 || wholeOf(reply)['success'] !== true) throw failed(reply)
    this.#note(reply, (held) => held.delete(name))
  }

  /** A list that names parents is the truth, also after a restart; without them the latest reply is all there is. */
  held({ adapters, namesParents }: Models): readonly string[] {
    return namesParents ? adapters : [...this.#latest]
  }

  forget(name: string): void {
    this.#latest = new Set([...this.#latest].filter((one) => one !== name))
  }

  /** `loaded_adapters` has names as keys or as a list, by version. */
  #note(reply: Reply, otherwise: (held: Set<string>) => void): void {
    const said = reply.json?.['loaded_adapters'] ?? null
    const held = new Set(said === null ? this.#latest : isList(said) ? said.flatMap((one) => filledText(one) ?? []) : Object.keys(said))
    if (said === null) otherwise(held)
    this.#latest = held
  }
}

function refusalOfLoad(reply: Reply): Refusal {
  if (reply.status === 404 || /LoRA is not enabled/i.test(reply.text))
    return upstream(
      'engine_without_lora',
      'the engine takes no adapters; start it with --enable-lora, --max-lora-rank and --lora-target-modules',
    )
  if (/maximum number of loaded lora/i.test(reply.text))
    return unavailable(
      'engine_full',
      "the engine holds as many adapters as it may; its --max-loaded-loras must not be below this runtime's capacity",
    )
  return reply.status >= 500 ? failed(reply) : refusedAdapter(reply)
}
