/** The plug-in interfaces of training: what becomes a batch, and what a batch becomes. */
import type { SharedDocuments } from './documents.ts'
import type { Json, JsonObject } from './json.ts'
import type { Batch, Files, ModelAddress, PendingRecord, Release, StoredSample } from './nouns.ts'
import type { OwnEvolution, RequestType, TrainingMode } from './wire/index.ts'
import type { WeightRuntime } from './weights.ts'

export interface Processor {
  readonly name: string
  readonly modes: readonly TrainingMode[]
  /** What clients must send for it to learn from. */
  readonly requestTypes: readonly RequestType[]
  /** The records it is handed. What a report quotes comes along with it, so a processor of reports reads reports alone. */
  readonly reads: readonly Exclude<RequestType, 'train'>[]
  /**
   * One record in the order stored, none twice, everything it quotes there and unconsumed. Null when it is kept, or why it never can be
   * used: then it is set aside and counted. Runs beside requests, so it must be quick and may wait for nothing.
   */
  ingest(record: PendingRecord): string | null
  /**
   * What the next batch would hold, oldest first, and whether that is enough for one. Asking changes nothing.
   * `drained`: everything stored so far has been handed over.
   */
  next(drained: boolean): { readonly samples: readonly StoredSample[]; readonly ready: boolean }
  /** A commit consumed these records: no unit that holds one of them is offered again. Answers the reports that became useless so: set aside too. */
  settle(consumed: readonly string[]): readonly string[]
  status(): JsonObject
}

export interface TrainerPlan {
  /** 'thread': in a thread of its own, beside its scenario. 'weights': the one weight lane of the process, where it may only wait. */
  readonly lane: 'thread' | 'weights'
  /**
   * What becomes of a result when another component published meanwhile: it lands on the new head ('merge', the default), is judged
   * once more there ('reevaluate'), or is given up and its batch stepped again ('refuse').
   */
  readonly stale?: 'merge' | 'reevaluate' | 'refuse'
  /** Whether its steps decide what is held for review of what requires a command on people's machines. Absent: all of it is. */
  readonly judgesCommands?: boolean
  open(scope: TrainerScope): Promise<Trainer> | Trainer
}
/** Plain data but for the runtime, which is only there in the weight lane. */
export interface TrainerScope {
  readonly scenario: string
  readonly component: string
  readonly config: JsonObject
  readonly evaluation: ModelAddress
  readonly directory: string
  /** As in ScenarioScope, for as long as this process holds the scenario's lease. */
  readonly documents?: SharedDocuments
  readonly weights?: WeightRuntime
}
export interface Trainer {
  /** One step. What it throws is the step's failure; after `signal` aborts its answer is ignored. */
  step(order: StepOrder, report: Reporter, signal: AbortSignal): Promise<StepResult>
}
/** Everything a step works on, as plain data. */
export interface StepOrder {
  /** The step this will be if nothing else lands first. */
  readonly step: number
  readonly batch: Batch
  readonly base: Release
  /** The files of the base; of its own component alone where there are several. */
  readonly files: Files
  /** Of weights that are served: what the base's load is called. */
  readonly runtime_load_id?: string
  /** How the served model is called, and what it speaks at the evaluation routes, for the length of this step. */
  readonly model: Pick<ModelAddress, 'model' | 'api'>
  /** What people set for this scenario over the configuration of the recipe. Absent where nothing is. */
  readonly evolution?: OwnEvolution
  /** What its latest committed step left in `state`. */
  readonly state: JsonObject
  /** Set when a stale result is to be judged again on this base, instead of making another. */
  readonly candidate?: Content
  /** The latest of its releases that people rejected, newest last, told with every step. Absent where there are none. */
  readonly rejections?: readonly Rejection[]
}
/** A release that was held for review, and that a person rejected. */
export interface Rejection {
  /** Of the row that held it. */
  readonly step: number
  /** Of the row that rejected it. */
  readonly rejected_at: number
  /** The person's words: text of a stranger to a model. */
  readonly reason: string
  /** Of the row that held it. */
  readonly metrics: JsonObject
}
export type StepResult = StepVerdict & {
  readonly metrics?: JsonObject
  /** For the next step; kept in the row and never shown. Absent: as it was. */
  readonly state?: JsonObject
  /** What the change needs on the person's machine. Screened and merged after the person's own items. */
  readonly requires?: readonly Json[]
}
export type StepVerdict =
  /** Served from now on. */
  | { readonly kind: 'publish'; readonly content: Content }
  /**
   * Weights that are served from now on out of the engine alone: a folder inside the scenario's own directory, by its path from there. Only
   * where a release is nothing but weights.
   */
  | { readonly kind: 'live'; readonly path: string }
  /** Kept for review, and served when a person promotes it. */
  | { readonly kind: 'hold'; readonly content: Content }
  /**
   * Not decided yet, and it looks better so far: recorded, and served to those who take what is unproven. `gain`: by how much of a point. The
   * same content again goes on; another one takes its place when it gains more.
   */
  | { readonly kind: 'provisional'; readonly content: Content; readonly gain: number }
  /** There was a candidate, and it lost. With its content, a provisional release of the same ends. */
  | { readonly kind: 'reject'; readonly content?: Content }
  /** There was none. */
  | { readonly kind: 'skip'; readonly reason: string }
  /** It broke off, as if it had thrown this, with metrics to tell of it: traffic is tried again later, an instruction is not. */
  | {
      readonly kind: 'fail'
      readonly error: string
      /**
       * The machine could not do its part (a program that cannot be installed, no sandbox, no disk), so nothing is known to be wrong with the
       * batch: no row, nothing is consumed, and the same batch is tried again after a rest, a person's instruction too.
       */
      readonly retry?: true
    }
export type Content =
  | { readonly kind: 'files'; readonly files: Files }
  /** A folder on this machine, taken as it is: weights and whatever lies beside them. */
  | { readonly kind: 'checkpoint'; readonly path: string }
  /** One folder per component, each a content that is kept already. */
  | { readonly kind: 'composed'; readonly components: Readonly<Record<string, string>> }
/** Reports how far a step is. */
export interface Reporter {
  phase(name: 'proposing' | 'evaluating', more?: { readonly episodes_total?: number; readonly step_record?: string }): void
  line(kind: ActivityKind, text: string, failed?: boolean): void
  /** Of a weight trainer: the job that is out, and how far it is. */
  job?(id: string, status: string): void
  /** An episode that ended. Some may be left out where many end at once. */
  episode?(episode: EpisodeReport): void
}
export interface EpisodeReport {
  /** `baseline`: what was served before the requests that are judged together. */
  readonly side: 'candidate' | 'current' | 'baseline' | 'trial'
  readonly task: string
  readonly repeat: number
  readonly score: number | null
  /** The evaluator's words, or why there is no score. */
  readonly words: string | null
  readonly seconds: number
  readonly input_tokens: number
  readonly output_tokens: number
  /** Null where a price is not known. */
  readonly cost: number | null
  /** Where its transcript lies in the step's record; null where there is none. */
  readonly transcript: string | null
  /** The step so far, with this one. */
  readonly so_far: EpisodesSoFar
}
export interface EpisodesSoFar {
  readonly episodes: number
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cost: number | null
}
export type ActivityKind = 'model' | 'agent' | 'check' | 'trial' | 'provider' | 'proposer'
