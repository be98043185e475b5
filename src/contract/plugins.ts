/** The plug-in interfaces of recipes, surfaces, runtimes and gateways. Training, evolution, weights and stores have files of their own. */
import type { StepBudgets } from './fleet.ts'
import type { SharedDocuments } from './documents.ts'
import type { Adapter } from './harness.ts'
import type { JsonObject } from './json.ts'
import type { Format } from './names.ts'
import type { Dialect, Files, ModelAddress, Release, TrainRequest } from './nouns.ts'
import type { Processor, TrainerPlan } from './training.ts'
import type { Capture, WeightRuntime, WeightSurface } from './weights.ts'
import type { Admission, ListedTask, NewTask, ShownTask, StepFile, TaskChange } from './wire/index.ts'

// ── Recipe: what a scenario is made of ────────────────────────────────────────────────────────

export interface Recipe {
  /** The agent that its files are for, in a recipe that serves any. */
  readonly adapter?: Adapter
  /** The files a new scenario's first release holds. Absent: the empty tree. */
  readonly seed?: Files
  /** Whether a release that no step of this deployment published may start a scenario. Absent: any content may. Pure. */
  judgeStart?(content: Files): StartVerdict
  /** Reviews the newest release of an import. Absent: it finds nothing. Pure. */
  judgeImported?(content: Files): StartVerdict
  /** What it can never do as it is configured, each ending in its cure: the service warns of it, and `svc doctor` calls it a problem. */
  readonly unable?: readonly string[]
  /** Why a report is refused on ingress, naming the field, or null to let it in. */
  checkReport?(report: JsonObject): string | null
  /** What the scenario serves and collects. */
  bind(scope: ScenarioScope): Promise<Binding>
  /**
   * What improves it, by component; a recipe of a single trainer names it ''. With several, each names a folder of the release.
   * Called where the scenario is bound and again where its trainers run: it must answer the same each time and share no object with bind.
   */
  trainers?(config: JsonObject): Readonly<Record<string, TrainerPlan>>
}

/** Held: the scenario serves its seed, and a row with these metrics holds the release for review. */
export type StartVerdict =
  | { readonly kind: 'served' }
  | { readonly kind: 'held'; readonly metrics: JsonObject }
  | { readonly kind: 'refused'; readonly reason: string }

export interface ScenarioScope {
  readonly scenario: string
  /** The recipe's own sections of the configuration. */
  readonly config: JsonObject
  /** The deployment's runtime, for recipes that bring none of their own. */
  readonly runtime: Runtime
  /** The deployment's multimodal gateway, when one is configured. */
  readonly gateway?: Gateway
  /** This scenario's evaluation routes, with a token that opens nothing else. */
  readonly evaluation: ModelAddress
  /** A directory of the scenario's own. */
  readonly directory: string
  /** What all gateways of the deployment share of this scenario. Absent: files of this machine. */
  readonly documents?: SharedDocuments
  /** The files of a content, from memory or the disk: quick enough to call while a release is being loaded. */
  readonly read: (contentId: string) => Promise<Files>
}

/** An absent field is a capability this scenario does not have; its routes answer 404 or 501. */
export interface Binding {
  readonly runtime: Runtime
  readonly surface: Surface
  /** One per trainer, by component; a scenario of a single trainer names it ''. */
  readonly processors: Readonly<Record<string, Processor>>
  readonly proposals?: Proposals
  /** Absent: tasks are no files of the deployment. */
  readonly tasks?: TaskBook
  /** Absent: nothing of a step is kept beside its row. */
  readonly archive?: StepArchive
  /** Absent: no calls of its steps are capped. */
  readonly budgets?: StepBudgets
  /** Folders of this scenario outside its own directory; when it is deleted, each moves under an `archived/` beside it. */
  readonly folders?: readonly string[]
  readonly gateway?: Gateway
  /** The scenario is being deleted: notifies an external trainer. */
  retire?(): Promise<void>
  close(): Promise<void>
}

/** Changes that agents propose by themselves. */
export interface Proposals {
  /** Keeps an admitted proposal until a step takes it. Throws Refusal 'invalid' for what is no proposal. */
  offer(proposal: JsonObject, head: Release, askedBy?: TrainRequest['asked_by']): Promise<Admission>
}
/** The tasks that candidates are measured by, for people to look at and decide on. */
export interface TaskBook {
  list(): Promise<readonly ListedTask[]>
  /** Throws Refusal 'unknown' for a name that no task has. */
  show(name: string): Promise<ShownTask>
  /** Makes a task of a recorded exchange. Throws Refusal 'invalid' for what cannot be one, 'conflict' for a record that is one. */
  add(task: RecordedTask): Promise<ListedTask>
  change(name: string, change: TaskChange): Promise<ListedTask>
}
/** What a person wants to be a task. */
export interface RecordedTask extends NewTask {
  /** The stored request, with its answer under `response`. */
  readonly exchange: JsonObject
}
/** What steps left beside their rows. `record` is what the row says under `step_record`. */
export interface StepArchive {
  /** Null when the record is gone. Throws Refusal 'invalid' past a limit. */
  list(record: string): Promise<readonly StepFile[] | null>
  /** Null when there is no such file in it. */
  read(record: string, path: string): Promise<string | null>
}
// ── Surface: how a release reaches its users ──────────────────────────────────────────────────

export interface Surface {
  /** Files for clients to pull. */
  readonly files?: {
    /** Which component of a composed release they are. */
    readonly component?: string
    /** The content that the tree was published as. The list of entries a harness keeps in it is not handed to clients. */
    read(release: Release): Promise<Files>
    /**
     * Given the content that is served: what it becomes now that the service ships something newer in it, or null. Asked when a scenario is
     * loaded, and published as a release of its own. Pure.
     */
    shipped?(content: Files): Shipped | null
  }
  readonly hooks?: InferenceHooks
  /** What each component of a composed release does to a request, one after the other; a candidate is evaluated without its own. */
  readonly componentHooks?: Readonly<Record<string, InferenceHooks>>
  /**
   * Called with the head when the scenario is loaded, and with every new head between its row and its first request. What it throws keeps a
   * scenario from being loaded; of a new head it is shown in the status, and loading is tried again with the next one.
   */
  readonly loader?: { load(release: Release): Promise<void> }
  readonly weights?: WeightSurface
  /** Absent: a provisional release is served to nobody. `share`: of sessions that are served it unasked, from 0 to 1. */
  readonly provisional?: { readonly share: number }
}

export interface Shipped {
  readonly content: Files
  /** The entries that changed. */
  readonly entries: readonly string[]
}

export interface InferenceHooks {
  /** Holds what one attempt needs (an adapter's residency, an open admission); the answer lets go of it. */
  begin?(release: Release, signal: AbortSignal): Promise<() => void>
  /** The body to forward and record. Must not change the one it was given. Throws Refusal to refuse the call. */
  prepare?(release: Release, dialect: Dialect, body: JsonObject): JsonObject
  /**
   * Throws Refusal when this answer did not come from that release: then nothing is recorded. Answers what is kept of the capture, under
   * `response.training`, which no client is sent.
   */
  verify?(release: Release, dialect: Dialect, answer: JsonObject, capture?: Capture): JsonObject | void
}

// ── Runtime: who answers ──────────────────────────────────────────────────────────────────────

export interface Runtime {
  /**
   * One call to the model. Resolves when the answer's status is known; bodies of streams follow in `chunks`.
   * A refusal of the model is an answer like any other (`status` says so). Throws Refusal 'upstream' when there is no answer.
   * Contract: after `signal` aborts, the call is given up within 100 ms and holds no connection.
   */
  infer(call: RuntimeCall): Promise<RuntimeAnswer>
  /** GET /v1/models, relayed. A refusal of the model is an answer here too. */
  models(call: ModelsCall): Promise<WholeAnswer>
  /** The formats that the upstreams of a model speak, the best first. Empty: no upstream has the model. Absent: every call is taken as it comes. */
  formats?(call: Pick<RuntimeCall, 'model' | 'askedModel'>): readonly Format[]
  /**
   * Takes over settings that were read again; calls under way end with those before. Throws where they cannot be used: then nothing changes.
   * Absent: they need a restart.
   */
  reconfigure?(config: JsonObject): void
  /** Absent: its weights cannot be changed. */
  readonly weights?: WeightRuntime
  /** The service is about to close: whatever is done to weights ends at once, as if the engine were away. Requests under way are answered. */
  stop?(): void
  /** What the status route shows of it. Never a key. */
  status(): Promise<JsonObject>
  close(): Promise<void>
}

export interface ModelsCall {
  /** The path as the client used it, query included. */
  readonly path: string
  /** The client's headers that may go upstream, lower-case. Credentials are never among them. */
  readonly headers: Readonly<Record<string, string>>
  /** Present where the deployment passes it on. It goes to the origins of its provider alone. */
  readonly clientKey?: ClientKey
  readonly model: ModelAddress
  readonly signal: AbortSignal
}

/** A client's own credential of a provider. */
export interface ClientKey {
  readonly header: 'authorization' | 'x-api-key'
  readonly value: string
  /** The part of the value that is secret. */
  readonly secret: string
}

export interface RuntimeCall extends ModelsCall {
  readonly dialect: Dialect
  readonly body: Uint8Array
  /** The same bytes in pieces, where they were not joined yet. A runtime that sends them takes these, and does not read `body`. */
  readonly pieces?: readonly Uint8Array[]
  /** What the answer may be at most; more of it need not be read. */
  readonly answerBytesMax?: number
  /** The model that the request names, '' where it names none; present where an upstream is chosen by it. */
  readonly askedModel?: string
  /** The same call for a model of another name, where more than the name depends on it. Absent: only the name is replaced. */
  readonly under?: (model: string) => Pick<RuntimeCall, 'path' | 'body'>
  readonly release: Release
  /** Traffic comes from users; an evaluation is an episode being scored, without a person in it. */
  readonly purpose: 'traffic' | 'evaluation'
}

export type RuntimeAnswer = WholeAnswer | StreamedAnswer | { readonly kind: 'interrupted' }

export interface WholeAnswer {
  readonly kind: 'whole'
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** The same bytes in pieces, where they were not joined yet. */
  readonly pieces?: readonly Uint8Array[]
  /** What the engine saw, where there is one. */
  readonly capture?: Capture
  readonly isBodySent?: IsBodySent
  readonly by?: AnsweringUpstream
}
export interface StreamedAnswer {
  readonly kind: 'stream'
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Server-sent events in whatever pieces they arrive. Leaving the loop early cancels the call. */
  readonly chunks: AsyncIterable<Uint8Array>
  /** Of an answer that was whole before its first event: it is verified before anyone sees any of it. */
  readonly whole?: { readonly answer: JsonObject; readonly capture: Capture }
  readonly isBodySent?: IsBodySent
  readonly by?: AnsweringUpstream
}
/** Which of several upstreams answered, and the key that it was asked with. */
export interface AnsweringUpstream {
  /** Null where there is one only. */
  readonly name: string | null
  readonly apiKey: string | null
}
/**
 * Whether the runtime holds nothing of the call's body any more, and no write of it is under way: then its memory may be given back at once.
 * Absent: the garbage collector finds out.
 */
export type IsBodySent = () => boolean

/** Relays one multimodal call. Not recorded. */
export interface Gateway {
  relay(route: string, body: Uint8Array, signal: AbortSignal): Promise<WholeAnswer>
}
