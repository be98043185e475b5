/** What a training worker needs of its scenario. The room of scenarios implements it. */
import type {
  Commit,
  Content,
  Files,
  JsonObject,
  ModelAddress,
  OwnEvolution,
  Rejection,
  Release,
  ScenarioStore,
  StepOutcome,
  TrainingMode,
} from '../contract/index.ts'
import type { Budgets, TrainerTally } from './rows.ts'

export interface TrainingContext {
  readonly name: string
  readonly mode: TrainingMode
  /** The step of the newest row. */
  readonly step: number
  /** Running totals of the component's own steps. */
  trained(component: string): TrainerTally
  /** The component's latest training row, whole. */
  latest(component: string): Commit | undefined
  readonly store: Pick<ScenarioStore, 'pending' | 'losses' | 'chain'>
  readonly clock: () => number
  readonly model: Pick<ModelAddress, 'model' | 'api'>
  /** What people set for this scenario over the configuration. Absent: nothing. */
  readonly evolution?: OwnEvolution
  /** What automatic steps may take. */
  readonly budgets: Budgets
  head(): Release
  /** The files of a release, or of one of its components. */
  files(release: Release, component: string): Promise<Files>
  /** The latest of its releases that people rejected, newest last. */
  rejections(component: string): Promise<readonly Rejection[]>
  /** The load id of the base's weights; absent where the scenario serves none. */
  loadId(): string | undefined
  /**
   * Writes content and answers its id, once the engine has accepted it. Unreferenced content is harmless, so this needs no lane. Throws
   * Refusal 'invalid' or 'conflict' for content that cannot be kept or served.
   */
  keep(content: Content): Promise<string>
  /** The same for weights published only into the engine. */
  admit(livePath: string): Promise<void>
  /** The scenario is not unloaded while this runs. */
  busy<T>(work: () => Promise<T>): Promise<T>
  /** Runs one landing at a time, together with promotes and rollbacks. The task sees the current rows and may append one. */
  landing<T>(task: (append: (draft: StepDraft) => Promise<Commit>) => Promise<T>): Promise<T>
}

/** The outcome of a step, before the scenario adds step, time and release. */
export interface StepDraft {
  readonly component: string
  readonly outcome: StepOutcome
  /** The id of the written content that is published, held, offered as provisional or refuted; null otherwise. */
  readonly content: string | null
  /** How much better content seems that is not decided yet; null for content that is published, held or refuted. */
  readonly gain: number | null
  /** The folder of weights published only into the engine, relative to the scenario's directory. */
  readonly live: string | null
  readonly consumed_ids: readonly string[]
  readonly metrics: JsonObject
  readonly state: JsonObject
}
