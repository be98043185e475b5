/** What all scenarios share: stores, runtime, recipes, clock, trainer hosts and the log. */
import { isRefusal, unavailable } from '../contract/index.ts'
import type {
  Commit,
  ContentStore,
  Gateway,
  JsonObject,
  ModelAddress,
  Recipe,
  Release,
  Runtime,
  ServedProvisional,
  Store,
  TrainingMode,
} from '../contract/index.ts'
import type { Recorder } from '../recording/index.ts'
import type { Budgets, StepLimits, StepTrace, TrainerSpec, TrainerHost, WeightLane } from '../training/index.ts'
import type { ScenarioFiles } from './files.ts'

export interface Services {
  readonly store: Store
  readonly contents: ContentStore
  readonly files: ScenarioFiles
  readonly recipes: ReadonlyMap<string, ConfiguredRecipe>
  readonly defaultRecipe: string
  readonly runtime: Runtime
  readonly gateway: Gateway | null
  /** The deployment's own. Another one when the configuration was read again. */
  model: ModelAddress
  readonly recorder: Pick<Recorder, 'admit'>
  readonly clock: () => number
  readonly newId: () => string
  /** The evaluation routes of that scenario, with a token that is valid for them only. */
  evaluation(scenario: string): ModelAddress
  /** Where trainers run: in threads, or in the one weight lane. */
  readonly hosts: { readonly threads: TrainerHost; readonly weights: WeightLane }
  /** Called when a step begins. Absent where tracing is off. */
  readonly traceStep?: ((scenario: string, component: string, requestId: string | null) => StepTrace) | undefined
  /** Called when a training step has settled. */
  stepped(scenario: string, commit: Commit): void
  /** Logs a failure that no request depends on. */
  warn(message: string, error: unknown): void
  /** Listener threads, which serve from views of scenarios. Absent where there are none. */
  readonly views?: ServedViews | undefined
}

export interface ServedViews {
  /** What a loaded scenario serves has changed; null when it was unloaded. */
  changed(name: string, view: ScenarioView | null): void
  /** Answers in flight must not be kept under the name any more. */
  archived(name: string): void
  /** Resolves once every listener thread knows what it was told, or after a second. */
  settled(): Promise<void>
}

/** Plain data. */
export type ScenarioView =
  | { readonly kind: 'held'; readonly name: string }
  | {
      readonly kind: 'plain'
      readonly name: string
      readonly start: string
      readonly step: number
      readonly head: Release
      readonly provisional: ServedProvisional | null
      readonly pulledId: string
      readonly servesFiles: boolean
      readonly model: ModelAddress
    }
export interface ConfiguredRecipe {
  readonly recipe: Recipe
  /** How to load the recipe again in a trainer's thread. */
  readonly plugin: TrainerSpec['plugin']
  readonly config: JsonObject
  readonly trainingMode: TrainingMode
  readonly budgets: Budgets
  readonly limits: StepLimits
}

export function recipeOf(services: Services, name: string, refuse: () => Error): ConfiguredRecipe {
  const configured = services.recipes.get(name)
  if (configured === undefined) throw refuse()
  return configured
}

/** Calls the artifact store. An error that is not a refusal means that the store cannot be reached now. */
export async function reach<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (isRefusal(error)) throw error
    throw unavailable('artifact_store_failed', 'the artifact store cannot be reached; check its disk, then send the request again', {
      cause: error,
    })
  }
}
