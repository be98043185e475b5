/** What steps offer, what workers take, and what people see of both. */
import type { CountedCall, EpisodeNeeds, Fleet, JsonObject, StepBudget } from '../contract/index.ts'

export interface OfferedEpisode {
  readonly scenario: string
  /** Only a worker that plays this very thing may have it: the agent and its version, the evaluator, the limits of the sandbox. */
  readonly plays: string
  /** What a person waits for goes first. */
  readonly priority: 'request' | 'traffic'
  /** How long a worker may have it. */
  readonly secondsMax: number
  readonly needs?: EpisodeNeeds
  /** How often one play may call the model, and how many tokens that may take. Absent: no limit. */
  readonly callsMax?: number
  readonly tokensMax?: number
  /** Of the step. Absent: nothing caps it. */
  readonly budget?: StepBudget
  /** For the worker; not read here. */
  readonly order: JsonObject
}

export interface EpisodeAnswer {
  readonly worker: string
  /** As the worker wrote it. Null: nobody could play it. */
  readonly result: JsonObject | null
  /** Why there is no result. */
  readonly problem: string | null
  /** The cap that one of its calls could have passed, in words. */
  readonly cap?: string
  /**
   * Counted here, not by the worker. Also those of workers that lost it, and those of earlier episodes of the scenario that no step was told
   * of, since they were cancelled or ended late: all of them were paid for.
   */
  readonly calls: readonly Omit<CountedCall, 'cost'>[]
  /** Workers whose scores are worth nothing, also those that they gave before. */
  readonly set_aside: readonly string[]
}

export interface WorkerOffer {
  readonly name: string
  readonly plays: readonly string[]
  /** How many episodes it plays at once. */
  readonly slots: number
  /** Null: of all scenarios. */
  readonly scenarios: ReadonlySet<string> | null
  /** For all that it plays at once. Absent: it did not say. */
  readonly memoryBytes?: number
}

export interface TakenEpisode extends Pick<OfferedEpisode, 'scenario' | 'order'> {
  readonly lease: string
  /** Opens the model for this episode, while the lease lasts. Not the lease's id, since that is in paths, which are logged. */
  readonly key: string
}

export type FleetStatus = Fleet
