/** The plug-in interfaces of evolution: proposers, executors, evaluators and selections. */
import type { Adapter, Launch } from './harness.ts'
import type { Json, JsonObject } from './json.ts'
import type { Entry, Files, ModelAddress, Mutation, Sample, TrainRequest } from './nouns.ts'
import type { TASK_ROLES } from './task-words.ts'
import type { Reporter } from './training.ts'

// ── Tasks ────────────────────────────────────────────────────────────────────────────────────

/**
 * What a task is for.
 * gate        played only by the gate: a candidate must do better here
 * train       a proposer may read and play it, and see the result
 * regression  a candidate must not do worse here
 * health      every candidate must pass it
 * sealed      never played by a step and never shown: it measures in the end what was gained
 */
export type TaskRole = (typeof TASK_ROLES)[number]
export interface Task {
  readonly name: string
  readonly prompt: string
  readonly role: TaskRole
  /** Tasks of one family are alike and share their luck, so together they count as one. Without one, a task is a family of its own. */
  readonly family?: string
  /** The workspace's files when the agent starts. */
  readonly files?: Files
  /** What is installed for the code of the workspace, such as `node_modules`. */
  readonly dependencies?: Dependencies
  /** For the evaluator: `answer`, `verify`, `rubric` and others, and the task's own `data`. Never shown to an agent. */
  readonly data?: JsonObject
}

/**
 * Folders of this machine with installed packages, by their path in a workspace: folders called `node_modules`, and virtual environments of Python.
 */
export type Dependencies = Readonly<Record<string, string>>

// ── Proposers ────────────────────────────────────────────────────────────────────────────────

export interface Proposer {
  /** Whether it handles a person's request; otherwise a scenario runs in auto mode only. */
  readonly acceptsRequests: boolean
  /**
   * A change, or null. A proposal without mutations is no change, but its notes and memory are kept. An error fails the step: a batch of traffic
   * is retried later.
   */
  propose(brief: Brief): Promise<Proposal | null>
}
/** A proposer's input. The clients' text in it (samples, the request) is untrusted. */
export interface Brief {
  readonly adapter: Adapter
  readonly entries: readonly Entry[]
  readonly samples: readonly Sample[]
  readonly request: TrainRequest | null
  /** The served model is `served`. All share the step's budget of model calls. */
  readonly models: Readonly<Record<string, Model>>
  /** The tasks of role train; tasks of the gate are hidden. */
  readonly tasks: readonly Task[]
  /** Changes that were rejected in earlier steps, newest last. */
  readonly rejected: readonly Rejected[]
  /** The `memory` of its last proposal. */
  readonly memory: JsonObject
  /** Why these changes would be refused, or null. Free. */
  check(mutations: readonly Mutation[]): string | null
  /** Plays a train task, or one of the proposer's own, on the changed tree. Uses the step's budget of episodes. */
  trial(mutations: readonly Mutation[], task: Task): Promise<Trial>
  readonly report: Reporter
  readonly signal: AbortSignal
}
export interface Rejected {
  readonly step: number
  readonly mutations: readonly Mutation[]
  readonly reason: string
  /** A person rejected it, and the reason quotes that person. */
  readonly byPerson?: true
}
export interface Trial {
  /** Null when it could not be played or scored; `failure` says why. */
  readonly score: number | null
  readonly failure: string | null
  readonly episode: Episode | null
}
export interface Proposal {
  readonly mutations: readonly Mutation[]
  /** What the change needs on the person's machine. Checked later, item by item. */
  readonly requires?: readonly Json[]
  /** Only shown with the step. */
  readonly notes?: JsonObject
  /** For the next brief. Absent: unchanged. */
  readonly memory?: JsonObject
}

export interface Model {
  readonly name: string
  /** The text of one answer. Throws when there is none, or when the step's budget is spent. */
  chat(messages: readonly ChatMessage[], options?: ChatOptions): Promise<string>
  /** One turn of a conversation with tools: text, calls, or both. */
  turn(messages: readonly ChatMessage[], tools: readonly ChatTool[], options?: ChatOptions): Promise<ChatTurn>
}
export type ChatMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: string; readonly calls?: readonly ChatCall[] }
  | { readonly role: 'tool'; readonly content: string; readonly call_id: string }
export interface ChatTool {
  readonly name: string
  readonly description: string
  /** A JSON schema. */
  readonly parameters: JsonObject
}
export interface ChatCall {
  readonly id: string
  readonly name: string
  /** As the model wrote it; may be invalid JSON. */
  readonly arguments: string
}
export interface ChatTurn {
  readonly text: string
  readonly calls: readonly ChatCall[]
}
export interface ChatOptions {
  readonly tokensMax?: number
  readonly timeoutSeconds?: number
}

// ── Executors ────────────────────────────────────────────────────────────────────────────────

/** Runs agents. Everything that an agent starts ends with its episode. */
export interface Executor {
  run(play: Play, signal: AbortSignal): Promise<Episode>
}
/** One episode to run: a folder with the files, a workspace in it with the task's files, and the command that starts there. */
export interface Play {
  /** The rendered tree with the model's address, as this episode reaches it. */
  files(model: ModelAddress): Files
  /** The files of the folder `workspace`, where the command starts. */
  readonly workspace: Files
  /** The command finds them in the workspace, and a sandbox does not let it change them. */
  readonly dependencies?: Dependencies
  /** The evaluation routes. An executor may put a proxy in front of them. */
  readonly model: ModelAddress
  launch(root: string): Launch
  /** Reads the agent's log. Called after all its processes ended and before the folder is removed. */
  readTrajectory(root: string): Promise<readonly JsonObject[]>
  /** Called after that with the workspace and the final episode, before the folder is removed. */
  inspect?(workspace: string, episode: Episode): Promise<void>
  /** Folders that the command must be able to read, such as its program's. */
  readonly needs: readonly string[]
  /** Folders of the deployment that it must not see, wherever they lie: tasks, answers, records. */
  readonly hides?: readonly string[]
}
export interface Episode {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
  readonly trajectory: readonly JsonObject[]
  /** Why it was killed or could not start; absent when the command ended by itself. */
  readonly ended?: EpisodeEnd
  /** What the executor left out of the agent's calls or refused, for the record. */
  readonly notes?: readonly string[]
  /** Why the model gave no answer at the end: it refused, timed out or broke off. Not what the agent caused; such an episode has no score. */
  readonly modelFailure?: string
  /** The model and its version as the answers named them, where the executor saw them. */
  readonly answeredBy?: string
}
/** `start`: the command could not be started. The others: it exceeded a limit. */
export type EpisodeEnd = 'start' | 'time' | 'memory' | 'processes' | 'disk' | 'files' | 'output'

// ── Evaluators ───────────────────────────────────────────────────────────────────────────────

export interface Evaluator {
  /** It compares a candidate with `scene.reference`: 0.5 is a tie, and the current side's score. */
  readonly compares?: boolean
  /**
   * A finite number, higher is better; from 0 to 1 for the selection `evidence`; null when it cannot decide. An evaluator that fails throws,
   * which gives no score and never 0; then it is called once more, and the episode is played again at most twice. Called after all processes
   * of the agent ended, while the workspace still exists.
   */
  score(task: Task, episode: Episode, scene: Scene): Promise<number | null>
}
export interface Scene {
  /** The agent's workspace; null where there is none. */
  readonly workspace: string | null
  readonly models: Readonly<Record<string, Model>>
  /** Runs commands on the workspace, isolated like agents. */
  readonly executor: Executor
  /** The current release's episode of the same task and repeat, for evaluators that compare; otherwise null. */
  readonly reference: Episode | null
  /** Explains the score: one line for the row, and details such as a command's output for the step's record, redacted. The last call counts. */
  note?(words: string, more?: JsonObject): void
  readonly signal: AbortSignal
}

// ── Selections ───────────────────────────────────────────────────────────────────────────────

export type Side = 'candidate' | 'current'
/** Decides whether a candidate is better. Pure, so that a decision can be repeated from the row. */
export interface Selection {
  /** What to play next; empty when it can decide. Absent: every task `repeats` times, both sides. */
  next?(question: Question): readonly Draw[]
  decide(pairs: readonly Pair[], question: Question): Decision
  /** Whether it is asked a second time about a requested change, and about a gain where tasks of role regression are protected: see `Question.sum`. */
  readonly boundsSum?: boolean
}
export interface Question {
  /** A change from traffic must be better; a requested one must not be worse. */
  readonly kind: 'traffic' | 'request'
  /** Of the roles gate, regression and health. */
  readonly tasks: readonly Task[]
  /** In the order played. */
  readonly pairs: readonly Pair[]
  readonly repeats: number
  /** How many episodes the step may still play; null: no limit. Cached ones are free. */
  readonly episodesLeft: number | null
  /** Seeds random choices; the same for the same step. */
  readonly seed: string
  readonly history: SelectionHistory
  /** Only where a change is judged together with those before it: the current side is what was served before the first of them. Its kind is request. */
  readonly sum?: SumHistory
}
export interface SumHistory {
  /** How many changes were judged so against the same release, and not selected. */
  readonly failed: number
}
/** Earlier decisions over the scenario's life. */
export interface SelectionHistory {
  /** Candidates from traffic that were decided on, and how many of them were selected. */
  readonly decided: number
  readonly selected: number
  /** How many of the last fifty that were decided on. */
  readonly recent?: number
}
export interface Draw {
  /** A task's name. */
  readonly task: string
  readonly repeat: number
  /** Absent: both. */
  readonly sides?: readonly Side[]
  /** Returned with the pair. */
  readonly weight?: number
}
/** One task played by both sides. Null: no score. */
export interface Pair {
  readonly task: Task
  readonly repeat: number
  readonly current: number | null
  readonly candidate: number | null
  /** By how much the candidate is ahead, from -1 to 1, where money or time counts besides the score. Protected tasks go by scores alone. */
  readonly gain?: number
  readonly weight?: number
  /** Why a score is missing. */
  readonly failures?: Readonly<Partial<Record<Side, string>>>
}
export interface Decision {
  readonly selected: boolean
  /** For people: why, how strong the evidence is, and what is missing. */
  readonly reason: string
  /** The evidence, kept in the row. */
  readonly metrics?: JsonObject
  /** Undecided because the budget ended: more episodes may change it. */
  readonly isOpen?: boolean
  /** The largest number of episodes it would have played. */
  readonly episodesMax?: number
}
