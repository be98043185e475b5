/** What all scenarios share: stores, runtime, recipes, clock, trainer hosts and the log. */
import type { Commit, ContentStore, Gateway, JsonObject, ModelAddress, Recipe, Runtime, Store, TrainingMode } from '../contract/index.ts'
import type { Budgets, StepLimits, StepTrace, TrainerAddress, TrainerHost, WeightLane } from '../training/index.ts'
import type { ScenarioFiles } from './files.ts'

export interface Services {
  readonly store: Store
  readonly contents: ContentStore
  readonly files: ScenarioFiles
  readonly recipes: ReadonlyMap<string, ConfiguredRecipe>
  readonly defaultRecipe: string
  readonly runtime: Runtime
  readonly gateway: Gateway | null
  readonly model: ModelAddress
  readonly clock: () => number
  readonly newId: () => string
  /** The evaluation routes of that scenario, with the token that opens them alone. */
  evaluation(scenario: string): ModelAddress
  /** Where trainers run: in threads of their own, or in the one weight lane. */
  readonly hosts: { readonly threads: TrainerHost; readonly weights: WeightLane }
  /** A step of that scenario begins. Absent where nobody traces. */
  readonly traceStep?: ((scenario: string, component: string, requestId: string | null) => StepTrace) | undefined
  /** A training step of that scenario settled. */
  stepped(scenario: string, commit: Commit): void
  /** Something went wrong beside a request, after its answer no longer depends on it. */
  warn(message: string, error: unknown): void
}
export interface ConfiguredRecipe {
  readonly recipe: Recipe
  /** Where the recipe comes from, for whoever must load it again elsewhere. */
  readonly plugin: TrainerAddress['plugin']
  readonly config: JsonObject
  readonly trainingMode: TrainingMode
  readonly budgets: Budgets
  readonly limits: StepLimits
}

/** A recipe by its name in the configuration; whoever asks says what it means that there is none. */
export function recipeOf(services: Services, name: string, refuse: () => Error): ConfiguredRecipe {
  const configured = services.recipes.get(name)
  if (configured === undefined) throw refuse()
  return configured
}
