/** The doors of evolution: who proposes a change of a harness, who plays it, who scores it, who decides. */
import type { Adapter, Launch } from './harness.ts'
import type { Json, JsonObject } from './json.ts'
import type { Entry, Files, ModelAddress, Mutation, Sample, TrainRequest } from './nouns.ts'
import type { Reporter } from './training.ts'

// ── Tasks ────────────────────────────────────────────────────────────────────────────────────

/**
 * What a task is for.
 * gate        only the gate plays it: a candidate must do better here
 * train       a proposer may read it, play it, and see how it went
 * regression  a candidate must not do worse here
 * health      a candidate must pass it, whoever asked for the change
 */
export type TaskRole = 'gate' | 'train' | 'regression' | 'health'
export interface Task {
  readonly name: string
  readonly prompt: string
  readonly role: TaskRole
  /** What lies in the workspace when the agent starts. */
  readonly files?: Files
  /**
   * What the evaluator goes by: `answer`, `verify`, `rubric` and the like, and beside them whatever the task's own `data` holds. No agent is
   * shown any of it.
   */
  readonly data?: JsonObject
}

// ── Proposers ────────────────────────────────────────────────────────────────────────────────

export interface Proposer {
  /** Whether it can work on a person's request; without it a scenario runs in auto mode alone. */
  readonly acceptsRequests: boolean
  /**
   * A change, or null when it has none to offer; one without mutations has none either, and its notes and memory are kept all the same.
   * What it throws is the step's failure: a batch of traffic is then tried again later.
   */
  propose(brief: Brief): Promise<Proposal | null>
}
/** Everything a proposer may know. Whatever clients wrote in it (samples, the request) is data, never an order. */
export interface Brief {
  readonly adapter: Adapter
  readonly entries: readonly Entry[]
  readonly samples: readonly Sample[]
  readonly request: TrainRequest | null
  /** The served model is `served`. All share the step's budget of calls. */
  readonly models: Readonly<Record<string, Model>>
  /** The tasks of role train. Those of the gate are nobody's to see. */
  readonly tasks: readonly Task[]
  /** What earlier steps proposed and the gate turned down, the newest last. */
  readonly rejected: readonly Rejected[]
  /** What this proposer left in `memory` the last time. */
  readonly memory: JsonObject
  /** Why these changes would be refused, or null. Costs nothing. */
  check(mutations: readonly Mutation[]): string | null
  /** Plays one task of role train, or one of the proposer's own, on the tree these changes make. Spends the step's budget of episodes. */
  trial(mutations: readonly Mutation[], task: Task): Promise<Trial>
  readonly report: Reporter
  readonly signal: AbortSignal
}
export interface Rejected {
  readonly step: number
  readonly mutations: readonly Mutation[]
  readonly reason: string
}
export interface Trial {
  /** Null when it could not be played or scored; `failure` says why. */
  readonly score: number | null
  readonly failure: string | null
  readonly episode: Episode | null
}
export interface Proposal {
  readonly mutations: readonly Mutation[]
  /** What the change needs on the person's machine. Screened after this, item by item. */
  readonly requires?: readonly Json[]
  /** Shown with the step and never read. */
  readonly notes?: JsonObject
  /** For the next time it is asked. Absent: as it was. */
  readonly memory?: JsonObject
}

export interface Model {
  readonly name: string
  /** The text of one answer. Throws when there is none, and when the step's budget of calls is spent. */
  chat(messages: readonly ChatMessage[], options?: ChatOptions): Promise<string>
  /** One turn of a conversation with tools: words, calls, or both. */
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
  /** JSON text as the model wrote it, which need not be JSON. */
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

/** Runs agents. What an agent does may harm nobody, and ends with its episode. */
export interface Executor {
  run(play: Play, signal: AbortSignal): Promise<Episode>
}
/** One episode to run: a folder of the files, an empty workspace in it but for the task's files, and the command started there. */
export interface Play {
  /** The rendered tree, bound to where the model answers. Asked for with the address that this episode reaches it by. */
  files(model: ModelAddress): Files
  /** The folder `workspace` of the root, where the command starts. */
  readonly workspace: Files
  /** The evaluation routes. An executor may put a door of its own in front of them. */
  readonly model: ModelAddress
  launch(root: string): Launch
  /** What the agent left in that folder, asked for after everything it started is dead and before the folder goes. */
  readTrajectory(root: string): Promise<readonly JsonObject[]>
  /** Looks at the workspace after that, and before the folder goes, with the episode as it will be answered. */
  inspect?(workspace: string, episode: Episode): Promise<void>
  /** Folders of the machine that the command needs to read, such as where its program is installed. */
  readonly needs: readonly string[]
}
export interface Episode {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
  readonly trajectory: readonly JsonObject[]
  /** Why it was ended, or could not be started; absent when the command ended by itself. */
  readonly ended?: EpisodeEnd
}
/** `start`: the command could not be started. The others: it went past a limit. */
export type EpisodeEnd = 'start' | 'time' | 'memory' | 'processes' | 'disk' | 'files' | 'output'

// ── Evaluators ───────────────────────────────────────────────────────────────────────────────

export interface Evaluator {
  /** It holds a candidate against `scene.reference`: 0.5 is as good as that, and is what the current side counts as without being scored. */
  readonly compares?: boolean
  /**
   * A finite number, higher is better, from 0 to 1 where the gate goes by evidence; null when it cannot say, which is nobody's merit or fault.
   * An evaluator that could not do its work throws: that is no score, and never a 0.
   * Called while the workspace is still there and nothing of the agent runs any more.
   */
  score(task: Task, episode: Episode, scene: Scene): Promise<number | null>
}
export interface Scene {
  /** The folder the agent worked in; null where the episode left none. */
  readonly workspace: string | null
  readonly models: Readonly<Record<string, Model>>
  /** Runs commands on what an agent left, as apart from the machine as agents are. */
  readonly executor: Executor
  /** What the current release made of the same task and repeat, for evaluators that compare; null for all others, and when it is not known. */
  readonly reference: Episode | null
  /**
   * Says why the score is what it is: one line for the row, and what a person would look at, such as what a command printed. Kept with the
   * episode in the step's record, without credentials. The last one counts.
   */
  note?(words: string, more?: JsonObject): void
  readonly signal: AbortSignal
}

// ── Selections ───────────────────────────────────────────────────────────────────────────────

export type Side = 'candidate' | 'current'
/** Decides whether a candidate is better. Pure, so that anybody can decide again from the row. */
export interface Selection {
  /** What to play next, given what was played; nothing once it can decide. Absent: every task as often as `repeats` says, both sides. */
  next?(question: Question): readonly Draw[]
  decide(pairs: readonly Pair[], question: Question): Decision
}
export interface Question {
  /** Traffic must be shown to be better; a change that a person asked for must not make anything worse. */
  readonly kind: 'traffic' | 'request'
  /** Of the roles gate, regression and health. */
  readonly tasks: readonly Task[]
  /** In the order played. */
  readonly pairs: readonly Pair[]
  readonly repeats: number
  /** How many episodes the step may still play; null: as many as the selection likes. What is known from earlier costs none. */
  readonly episodesLeft: number | null
  /** The same for the same step: whatever is drawn by lot is drawn from it. */
  readonly seed: string
  /** Over the scenario's life: how many candidates from traffic were decided before this one, and how many of them were selected. */
  readonly history: { readonly decided: number; readonly selected: number }
}
export interface Draw {
  /** A task's name. */
  readonly task: string
  readonly repeat: number
  /** Absent: both. */
  readonly sides?: readonly Side[]
  /** Handed back with the pair. */
  readonly weight?: number
}
/** One task played by both sides. A null is a score that is not there. */
export interface Pair {
  readonly task: Task
  readonly repeat: number
  readonly current: number | null
  readonly candidate: number | null
  readonly weight?: number
  /** Why a score is not there. */
  readonly failures?: Readonly<Partial<Record<Side, string>>>
}
export interface Decision {
  readonly selected: boolean
  /** In plain words, for whoever reads the row: also how far the evidence got, and what it would still need. */
  readonly reason: string
  /** What it rests on, kept in the row. */
  readonly metrics?: JsonObject
  /** Only the episodes ended: with more of them it may come out otherwise. */
  readonly isOpen?: boolean
  /** The most episodes it would have played. */
  readonly episodesMax?: number
}
