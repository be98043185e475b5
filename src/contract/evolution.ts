/** The doors of evolution: the four slots of a harness method. */
import type { Launch } from './harness.ts'
import type { Entry, Files, JsonObject, Mutation, Requires, Sample, TrainRequest } from './nouns.ts'
import type { Reporter } from './training.ts'

export interface Proposer {
  /** Whether it can work on a person's request; without it a scenario runs in auto mode alone. */
  readonly acceptsRequests: boolean
  propose(brief: Brief): Promise<Proposal | null>
}
export interface Brief {
  readonly entries: readonly Entry[]
  readonly samples: readonly Sample[]
  readonly request: TrainRequest | null
  readonly models: Readonly<Record<string, Model>>
  readonly report: Reporter
  readonly signal: AbortSignal
}
export interface Proposal {
  readonly mutations: readonly Mutation[]
  readonly requires?: readonly Requires[]
  readonly notes?: JsonObject
}
export interface Model {
  chat(messages: readonly JsonObject[], options?: JsonObject): Promise<string>
}

export interface Evaluator {
  score(task: Task, episode: Episode): Promise<number>
}
export interface Selection {
  decide(pairs: readonly Pair[]): { readonly selected: boolean; readonly reason: string }
}
export interface Executor {
  run(play: Play, signal: AbortSignal): Promise<Episode>
}
/** One episode to run: the executor makes a folder of the files and starts the command in it. */
export interface Play {
  readonly files: Files
  launch(root: string): Launch
  /** What the agent left in that folder, asked for before the folder goes. */
  readTrajectory(root: string): Promise<readonly JsonObject[]>
}

export interface Task {
  readonly name: string
  readonly prompt: string
  readonly data?: JsonObject
}
export interface Pair {
  readonly task: Task
  readonly current: number | null
  readonly candidate: number | null
}
export interface Episode {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
  readonly trajectory: readonly JsonObject[]
}
