/** The state of a test engine, independent of its API: adapters, generations that can be held and aborted, and faults. */
import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isObject, type Json, type JsonObject, type Sampling } from '../../../src/contract/index.ts'
import { listIn } from '../../crash/http.ts'
import { scriptedDecoder, type Decoded, type Decoder } from './decoder.ts'

/** Faults of engines, as seen in real ones, and false reports. */
export type Fault =
  /** Accepts adapters but answers with the base. */
  | 'ignoreAdapters'
  /** Answers with the first adapter that ever had the name. */
  | 'staleNames'
  | 'loraOff'
  | 'noDevMode'
  /** Blocks all answers while an adapter loads. */
  | 'loadBlocks'
  /** An old version: no adapters in the list of models, and old route names. */
  | 'old'
  /** Never answers again. */
  | 'hangs'
  /** Disconnects during a load. */
  | 'diesInLoad'
  | 'dropsToken'
  /** Printed as Python does, which is no JSON. */
  | 'nanLogProb'
  /** The same, printed as null: what JSON has for it. Scores with an adapter are all like that. */
  | 'nullLogProb'
  | 'noLogProbs'
  | 'wrongPromptIds'
  | 'otherWeightVersion'
  | 'otherModel'

/** What can be held. */
export type Held = 'generations' | 'loads'

export interface EngineOptions {
  readonly port?: number
  readonly decoder?: Decoder
  readonly faults?: readonly Fault[]
  /** Absent: no limit. */
  readonly capacity?: number
  /** The rank it was started for; absent: 64. */
  readonly rankMax?: number
  /** The modules it was started for; absent: those of a Llama. */
  readonly modules?: readonly string[]
}

export const BASE_MODEL = 'tiny'
const MODULES = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj']

/** A number as JSON has it. */
export const finiteOf = (value: number): number | null => (Number.isFinite(value) ? value : null)

/** Everything a route may use. */
export class EngineState {
  readonly decoder: Decoder
  readonly faults: Set<Fault>
  readonly capacity: number
  readonly rankMax: number
  readonly modules: readonly string[]
  /** Added to every log-probability of the base, once another base answers under the same name. */
  baseShift = 0
  /** The folders of the adapters it holds, by name. */
  readonly adapters = new Map<string, string>()
  readonly #firstFolders = new Map<string, string>()
  readonly #inPlace = new Set<string>()
  /** How often a folder was read by an in-place load. */
  rereads = 0
  /** Waiting generations, held or paused. */
  waiting = 0
  isPaused = false
  #held: { [what in Held]?: PromiseWithResolvers<void> } = {}
  #loading: Promise<void> = Promise.resolve()
  #paused = Promise.withResolvers<void>()
  #resumed = Promise.withResolvers<void>()

  constructor({ decoder = scriptedDecoder(), faults = [], capacity = Infinity, rankMax = 64, modules = MODULES }: EngineOptions) {
    this.decoder = decoder
    this.faults = new Set(faults)
    this.capacity = capacity
    this.rankMax = rankMax
    this.modules = modules
  }

  /** Later calls of these kinds wait until released. */
  hold(what: Held): void {
    this.#held[what] ??= Promise.withResolvers()
  }
  letGoOn(): void {
    for (const held of Object.values(this.#held)) held.resolve()
    this.#held = {}
  }

  pause(): void {
    this.isPaused = true
    this.#paused.resolve()
  }
  resume(): void {
    if (!this.isPaused) return
    this.isPaused = false
    this.#paused = Promise.withResolvers()
    this.#resumed.resolve()
    this.#resumed = Promise.withResolvers()
  }

  forget(): void {
    this.adapters.clear()
    this.#firstFolders.clear()
    this.#inPlace.clear()
    this.resume()
    this.letGoOn()
  }

  /** Rejects for an invalid folder. */
  async load(name: string, directory: string, inPlace: boolean): Promise<void> {
    const loaded = (async () => {
      await this.#held.loads?.promise
      const config: Json = JSON.parse(await readFile(join(directory, 'adapter_config.json'), 'utf8'))
      if (isObject(config) && Number(config['r'] ?? 1) > this.rankMax)
        throw new Error(`LoRA rank is greater than max_lora_rank ${this.rankMax}.`)
      if (!isObject(config) || !('peft_type' in config)) throw new Error(`no adapter in ${directory}`)
      await access(join(directory, 'adapter_model.safetensors'))
    })()
    this.#loading = loaded.catch(() => undefined)
    await loaded
    this.adapters.set(name, directory)
    if (!this.#firstFolders.has(name)) this.#firstFolders.set(name, directory)
    if (inPlace) this.#inPlace.add(name)
  }

  /** Null: aborted by a pause. */
  async generate(prompt: readonly number[], adapter: string | null, sampling: Sampling): Promise<Decoded | null> {
    this.waiting += 1
    try {
      while (this.isPaused) await this.#resumed.promise
      if (this.faults.has('loadBlocks')) await this.#loading
      if (await this.#isBrokenOff()) return null
    } finally {
      this.waiting -= 1
    }
    return this.decoder.generate(prompt, this.#folderOf(adapter), sampling)
  }

  async score(tokens: readonly number[], adapter: string | null): Promise<readonly number[]> {
    const scores = await this.decoder.score(tokens, this.#folderOf(adapter))
    const isNull = adapter !== null && this.faults.has('nullLogProb')
    return scores.map((score) => (isNull ? Number.NaN : score - this.baseShift))
  }

  async #isBrokenOff(): Promise<boolean> {
    const held = this.#held.generations
    return held !== undefined && Promise.race([held.promise.then(() => false), this.#paused.promise.then(() => true)])
  }

  #folderOf(adapter: string | null): string | null {
    if (adapter === null || this.faults.has('ignoreAdapters')) return null
    if (this.#inPlace.has(adapter)) this.rereads += 1
    return (this.faults.has('staleNames') ? this.#firstFolders : this.adapters).get(adapter) ?? null
  }
}

/** Stands for a NaN until it is printed. */
export const NOT_A_NUMBER = '<NaN>'

/** The false report of a faulty engine. */
export function reported(
  { tokens, logProbs }: Decoded,
  faults: ReadonlySet<Fault>,
): { tokens: readonly number[]; logProbs: readonly Json[] } {
  const isShort = faults.has('dropsToken')
  return {
    tokens: isShort ? tokens.slice(1) : tokens,
    logProbs: (isShort ? logProbs.slice(1) : logProbs).map((logProb, at) =>
      at > 0 ? logProb : faults.has('nanLogProb') ? NOT_A_NUMBER : faults.has('nullLogProb') ? null : logProb,
    ),
  }
}

export const reportedPrompt = (prompt: readonly number[], faults: ReadonlySet<Fault>): readonly number[] =>
  faults.has('wrongPromptIds') ? prompt.slice(1) : prompt

export function samplingOf(body: JsonObject, maxTokens: Json | undefined): Sampling {
  const { temperature, top_k: topK, seed } = body
  return {
    maxTokens: typeof maxTokens === 'number' ? maxTokens : 16,
    temperature: typeof temperature === 'number' ? temperature : 1,
    ...(typeof topK === 'number' && { topK }),
    ...(typeof seed === 'number' && { seed }),
  }
}

export const ids = (value: Json | undefined): readonly number[] => (Array.isArray(value) ? value.map(Number) : [])

export const messagesOf = (body: JsonObject): readonly JsonObject[] => listIn(body, 'messages')

export function usageOf(prompt: readonly number[], decoded: Decoded | null): JsonObject {
  const completion = decoded?.tokens.length ?? 0
  return { prompt_tokens: prompt.length, completion_tokens: completion, total_tokens: prompt.length + completion }
}
