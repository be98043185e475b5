/** What a run says while it works, for people and for programs alike. */
import type { JsonObject, TaskRole } from '../contract/index.ts'
import type { TaskShortage } from '../evolution/index.ts'
import type { LeftOut } from './harness-files.ts'

interface NamedTask {
  readonly name: string
  readonly role: TaskRole
}

/** One episode of a task, as it is kept and told. */
export interface TaskScore {
  readonly task: string
  readonly role: TaskRole
  /** Null: it could not be scored. */
  readonly score: number | null
  readonly failure: string | null
  readonly seconds: number
  readonly model_calls: number
  readonly input_tokens: number
  /** Of those in, what the provider had in its cache. */
  readonly cached_tokens: number
  readonly output_tokens: number
  /** Null where a price is not known. */
  readonly cost: number | null
}

export interface Estimate {
  /** At most; a run that finds nothing more to try ends earlier. */
  readonly episodes: number
  readonly model_calls: number
  readonly input_tokens: number
  readonly output_tokens: number
  /** Null where no prices are set. */
  readonly cost: number | null
  readonly seconds: number
}

export interface RoundOutcome {
  readonly round: number
  readonly result: string
  readonly reason: string
  readonly episodes: number
  readonly model_calls: number
  /** What the step took; of a run of an earlier version not known. */
  readonly spent?: JsonObject
}

export interface TaskComparison extends NamedTask {
  readonly before: number | null
  readonly after: number | null
}

export interface ImproveResult {
  /** Whether a change was proved and published. */
  readonly improved: boolean
  readonly rounds: readonly RoundOutcome[]
  readonly tasks: readonly TaskComparison[]
  readonly episodes: number
  readonly model_calls: number
  readonly input_tokens: number
  readonly output_tokens: number
  /** Null where a price is not known. */
  readonly cost: number | null
}

/** What the run left: a branch with its commit, or a file. */
interface ChangeMade {
  readonly event: 'change'
  /** Where the agent's files are: the repository, or the sample of the demonstration. */
  readonly folder: string
  readonly files: readonly string[]
  readonly branch?: string
  readonly commit?: string
  readonly patch?: string
}

export type ImproveEvent =
  | {
      readonly event: 'found'
      readonly agent: string
      readonly why: string
      readonly files: readonly string[]
      readonly left_out: readonly LeftOut[]
    }
  /** Found in the repository's history, and kept for later runs too. */
  | {
      readonly event: 'mined'
      readonly added: number
      readonly kept: number
      readonly passed_over: number
      /** Why commits and sessions have no task, the most frequent first. */
      readonly reasons: readonly { readonly reason: string; readonly count: number }[]
      readonly folder: string
    }
  | { readonly event: 'tasks'; readonly tasks: readonly NamedTask[]; readonly folder: string }
  /** `kept`: by an earlier stage, or an earlier run. */
  | ({ readonly event: 'played'; readonly side: 'before' | 'after'; readonly kept: boolean } & TaskScore)
  | ({
      readonly event: 'estimate'
      readonly budget: number
      readonly used: number
      /** Null where there are tasks enough for every round. */
      readonly shortage: TaskShortage | null
    } & Estimate)
  | { readonly event: 'round'; readonly round: number; readonly tasks: readonly string[]; readonly episodes_max: number }
  | { readonly event: 'progress'; readonly round: number; readonly episodes: number; readonly seconds_left: number }
  /** The step is tried again: a cap of the day is reached, or the machine fails it. */
  | { readonly event: 'waiting'; readonly round: number; readonly reason: string }
  | ({ readonly event: 'step' } & RoundOutcome)
  | ({ readonly event: 'result' } & ImproveResult)
  | ChangeMade
  /** Until the command is stopped. The token is this process's own. */
  | { readonly event: 'serving'; readonly scenario: string; readonly url: string; readonly token: string }
