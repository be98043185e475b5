/** Where episodes are played: in this process, or by workers on other machines. Only plain data goes in and out of `play`. */
import type { Entry, Episode, JsonObject, ModelAddress, Scene, Side, StepBudget, Task, Trial } from '../../contract/index.ts'
import type { Trouble } from '../episode-end.ts'
import type { CallCount } from '../money/meter.ts'
import type { ModelCallUse } from '../money/spent.ts'

export interface EpisodeHost {
  /** Throws where no episode can be played now. */
  ready(means: Pick<EpisodeMeans, 'model' | 'signal'>): Promise<void>
  /** Whether what that worker played is worth nothing, as of the latest answer. */
  distrusts(worker: string): boolean
  /** Of the agent's program; a part of the key of scores. */
  version(): Promise<string>
  /** Throws CapReached where a call of it was not sent because of a cap. */
  play(input: EpisodeInput, means: EpisodeMeans): Promise<EpisodeOutcome>
}

export interface EpisodeInput {
  readonly side: Side
  readonly entries: readonly Entry[]
  readonly task: Task
  /** The current side's episode, for evaluators that compare. */
  readonly reference: Episode | null
  /** What its sampling seeds follow from; null: it has none. */
  readonly luck: string | null
}

/** What the step has for its episodes. */
export interface EpisodeMeans extends Pick<Scene, 'models' | 'signal'>, CallCount {
  /** The evaluation routes of the scenario. */
  readonly model: ModelAddress
  /** What a person waits for is played first. */
  readonly priority: 'request' | 'traffic'
  /** What workers are held to; null where nothing caps it. */
  readonly budget: StepBudget | null
  /** After each model call of the agent that a gateway counted and has in the ledger. */
  counted(call: ModelCallUse): void
}

export interface EpisodeOutcome extends Trial {
  /** The evaluator's note; null where it wrote none. */
  readonly note: { readonly words: string; readonly more: JsonObject } | null
  /** What failed where the missing score is neither side's fault. */
  readonly trouble: Trouble | null
  /** The sampling seed of each answered call of the model; null for one without a seed of the pair. */
  readonly seeds: readonly (number | null)[]
  /** Until the agent ended. */
  readonly agentSeconds: number
  /** Who played it on another machine; null where it was played here. */
  readonly worker: string | null
}

/** In this process. */
export interface LocalHost extends EpisodeHost {
  ready(): Promise<void>
}

/** Episodes cannot be played, which says nothing about the change. */
export class MachineProblem extends Error {}
