/** What steps offer, what workers take, and what people see of both. */
import type { JsonObject } from '../contract/index.ts'

export interface OfferedEpisode {
  readonly scenario: string
  /** Only a worker that plays this very thing may have it: the agent and its version, the evaluator, the limits of the sandbox. */
  readonly plays: string
  /** What a person waits for goes first. */
  readonly priority: 'request' | 'traffic'
  /** For the worker; not read here. */
  readonly order: JsonObject
}

export interface EpisodeAnswer {
  readonly worker: string
  /** As the worker wrote it. */
  readonly result: JsonObject
  /** Counted here, not by the worker. */
  readonly calls: readonly CountedCall[]
}

export interface CountedCall {
  readonly model: string | null
  readonly input: number
  readonly output: number
}

export interface WorkerOffer {
  readonly name: string
  readonly plays: readonly string[]
  /** How many episodes it plays at once. */
  readonly slots: number
  /** Null: of all scenarios. */
  readonly scenarios: ReadonlySet<string> | null
}

export interface TakenEpisode extends Pick<OfferedEpisode, 'scenario' | 'order'> {
  readonly lease: string
  /** Opens the model for this episode, while the lease lasts. Not the lease's id, since that is in paths, which are logged. */
  readonly key: string
}

export interface FleetStatus {
  readonly workers: readonly WorkerStatus[]
  readonly waiting: number
  readonly running: number
  /** How long the oldest has waited; 0 where none waits. */
  readonly waited_seconds: number
}

interface WorkerStatus {
  readonly name: string
  readonly slots: number
  readonly running: number
  readonly played: number
  /** Leases that it let lapse. */
  readonly lost: number
  /** How many of its episodes another worker played too, and how many of those had another score. */
  readonly checked: number
  readonly differed: number
  /** It gets no more episodes: its scores differ from those of the others far more often than theirs from each other. */
  readonly is_set_aside: boolean
  readonly seen_seconds_ago: number
}
