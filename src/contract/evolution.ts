/** The doors of evolution: the four slots of a harness method, and the adapter that runs a harness. */
import type { Entry, Files, JsonObject, ModelAddress, Mutation, Requires, Sample, TrainRequest } from './nouns.ts'
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
  run(launch: Launch, files: Files, signal: AbortSignal): Promise<Episode>
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
export interface Launch {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly timeoutSeconds: number
}

// ── Adapter: a tree plus a binary makes a running harness ─────────────────────────────────────

export interface Adapter {
  readonly name: string
  readonly binary: string
  readonly kinds: readonly string[]
  readonly trajectory_format: string
  readonly model_bindings: readonly string[]
  readonly install?: InstallSpec
  render(entries: readonly Entry[]): Files
  bindModel(files: Files, model: ModelAddress): Files
  launch(task: Task, root: string): Launch
  readTrajectory(root: string): Promise<readonly JsonObject[]>
}
export interface InstallSpec {
  readonly manager: 'npm' | 'git'
  readonly package: string
  readonly version: string
  readonly binary_path: string
}
