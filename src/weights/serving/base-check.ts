/** Whether an engine is what training needs: it takes the adapters that would be trained, and its base is still the one it was. */
import { conflict, type AdapterPlan, type Engine, type Refusal } from '../../contract/index.ts'
import { distance, TOLERANCE } from './distance.ts'

/** Any few ids will do: every vocabulary has them, and unlikely texts tell models apart best. */
const FINGERPRINT_TOKENS = [1, 2, 3, 4, 5, 6, 7, 8] as const

/** Throws Refusal where an engine was started for less than would be trained, or holds fewer adapters than this service counts on. */
export async function checkLimits(engine: Engine, { rank, modules }: AdapterPlan, signal: AbortSignal): Promise<void> {
  const { rankMax = null, adaptersMax = null, modules: taken = null } = (await engine.limits?.(signal)) ?? {}
  if (rankMax !== null && rank > rankMax)
    throw unfit(`takes adapters of rank ${rankMax} at most, and training.lora_rank is ${rank}; lower it, or start the engine for that rank`)
  if (adaptersMax !== null && engine.capacity > adaptersMax)
    throw unfit(
      `holds ${adaptersMax} adapters, and inference.engine.capacity is ${engine.capacity}; lower it, or start the engine for as many`,
    )
  const missing = taken === null ? undefined : modules.find((module) => !taken.includes(module))
  if (missing !== undefined)
    throw unfit(`takes no adapters on ${missing}; leave it out of training.lora_modules, or start the engine with it`)
}

const unfit = (what: string): Refusal => conflict('engine_limits', `the engine ${what}: nothing was trained`)

/** Remembers how the base answers, and notices when another answers under its name. */
export class BaseCheck {
  readonly #engine: Engine
  #first: readonly number[] | null = null

  constructor(engine: Engine) {
    this.#engine = engine
  }

  async check(signal: AbortSignal): Promise<void> {
    const { digest } = await this.#engine.model(signal)
    // A digest says it better, and is compared with every adapter.
    if (digest !== null) return
    const now = await this.#engine.score(FINGERPRINT_TOKENS, null, signal)
    this.#first ??= now
    if (!(distance(now, this.#first) <= TOLERANCE)) throw baseChanged()
  }
}

/** Throws where the engine's base and the trainer's are two. */
export async function checkSameBase(
  engine: Engine,
  tokens: readonly number[],
  logProbs: readonly number[],
  signal: AbortSignal,
): Promise<void> {
  const { contextTokens, vocabulary } = await engine.model(signal)
  const asked = tokens.slice(0, contextTokens)
  if (asked.length < 2) return
  if (!asked.every((token) => token < vocabulary)) throw otherBase()
  const base = await engine.score(asked, null, signal)
  if (!(distance(base, logProbs.slice(0, asked.length - 1)) <= TOLERANCE)) throw otherBase()
}

export const baseChanged = (): Refusal =>
  conflict(
    'base_changed',
    'the engine answers as another base model than before, under the same name; start it with the model that the adapters were trained on',
  )

const otherBase = (): Refusal =>
  conflict(
    'base_differs',
    "the engine's base model and the trainer's answer differently: nothing was trained; give both the same model (training.base_model)",
  )
