/** What a training worker needs of its scenario. A loaded scenario fits; this room never sees one. */
import type {
  Commit,
  Content,
  Files,
  JsonObject,
  ModelAddress,
  Release,
  ScenarioStore,
  StepOutcome,
  TrainingMode,
} from '../contract/index.ts'
import type { Tally } from './rows.ts'

export interface TrainingContext {
  readonly name: string
  readonly mode: TrainingMode
  /** The step of the scenario's newest row. */
  readonly step: number
  /** Its rows that made a release, oldest first, without what they measured and consumed. */
  readonly released: readonly Commit[]
  /** What the rows of the component's own steps come to. */
  trained(component: string): Tally
  /** The latest of these rows, whole. */
  latest(component: string): Commit | undefined
  readonly store: Pick<ScenarioStore, 'pending' | 'losses'>
  readonly clock: () => number
  /** How the served model is called, and what it speaks. */
  readonly model: Pick<ModelAddress, 'model' | 'api'>
  head(): Release
  /** The files of a release, or of its one component where there are several. */
  files(release: Release, component: string): Promise<Files>
  /** What the base's weights are called in the engine; absent where the scenario serves none. */
  loadId(): string | undefined
  /**
   * Keeps a content and answers its id, once whoever would serve it took it. What no row names is nobody's, so this needs no lane. Throws
   * Refusal 'invalid' or 'conflict' for what cannot be kept or served.
   */
  keep(content: Content): Promise<string>
  /** The same of weights that are published into the engine alone. */
  admit(livePath: string): Promise<void>
  /** Nothing unloads the scenario while this runs. */
  busy<T>(work: () => Promise<T>): Promise<T>
  /** One landing at a time, promotes and rollbacks among them. The task sees the rows as they are then, and may append one. */
  landing<T>(task: (append: (draft: StepDraft) => Promise<Commit>) => Promise<T>): Promise<T>
}

/** A row in the making: what a step came to. The scenario adds the step, the time and the release. */
export interface StepDraft {
  readonly component: string
  readonly outcome: StepOutcome
  /** The content it publishes, or holds for review, which is kept already; null when it does neither. */
  readonly content: string | null
  /** Weights that it publishes into the engine alone: their folder, from the scenario's own directory. */
  readonly live: string | null
  readonly consumed_ids: readonly string[]
  readonly metrics: JsonObject
  readonly state: JsonObject
}
