/** Every door through which a third party enters. Each is small enough to implement from this page. */
import type {
  AgentRecord,
  Batch,
  Commit,
  Dialect,
  Entry,
  Files,
  JsonObject,
  Losses,
  ModelAddress,
  Mutation,
  NewRecord,
  RecordRow,
  Release,
  RequestType,
  Requires,
  Sample,
  StoredRecord,
  TrainingMode,
  TrainRequest,
} from './nouns.ts'

// ── Recipe: what a scenario is made of ────────────────────────────────────────────────────────

export interface Recipe {
  /** The files a new scenario's first release holds. Absent: the empty tree. */
  readonly seed?: Files
  /** Why a report is refused on ingress, naming the field, or null to let it in. */
  checkReport?(report: JsonObject): string | null
  /** What the scenario serves and collects. */
  bind(scope: ScenarioScope): Promise<Binding>
  /** What improves it, by component. The house decides where this runs, so it shares no object with bind. */
  trainers?(scope: ScenarioScope): Promise<Readonly<Record<string, Trainer>>>
}

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
}

/** An absent field is a capability this scenario does not have; its routes answer 404 or 501. */
export interface Binding {
  readonly runtime: Runtime
  readonly surface: Surface
  /** One per trainer, by component; a scenario of a single trainer names it ''. */
  readonly processors: Readonly<Record<string, Processor>>
  readonly proposals?: Proposals
  readonly archive?: StepArchive
  readonly gateway?: Gateway
  close(): Promise<void>
}

export interface Proposals {
  offer(proposal: JsonObject, head: Release): Promise<Admission>
}
export type Admission =
  | { readonly admitted: true; readonly proposal_id: string; readonly release_id: string }
  | { readonly admitted: false; readonly proposal_id: string; readonly release_id: string; readonly reason: string }

export interface StepArchive {
  list(step: number): Promise<readonly { readonly path: string; readonly bytes: number }[] | null>
  read(step: number, path: string): Promise<string | null>
}

// ── Surface: how a release reaches whoever uses it ────────────────────────────────────────────

export interface Surface {
  /** Files for clients to pull. */
  readonly files?: { readonly adapter: string; read(release: Release): Promise<Files> }
  readonly hooks?: InferenceHooks
  /** Called before a release is served; what it throws keeps the old one served. */
  readonly loader?: { load(release: Release): Promise<void> }
}

export interface InferenceHooks {
  /** Holds what one attempt needs (an adapter's residency, an open admission); the answer lets go of it. */
  begin?(release: Release, signal: AbortSignal): Promise<() => void>
  /** The body to forward and record. Must not change the one it was given. Throws Refusal to refuse the call. */
  prepare?(release: Release, dialect: Dialect, body: JsonObject): JsonObject
  /** Throws Refusal when this answer did not come from that release: then nothing is recorded. */
  verify?(release: Release, dialect: Dialect, answer: JsonObject): void
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
  readonly training?: TrainingRuntime
  /** What the status route shows of it. Never a key. */
  status(): Promise<JsonObject>
  close(): Promise<void>
}

export interface ModelsCall {
  /** The path as the client used it, query included. */
  readonly path: string
  /** The client's headers that may go upstream, lower-case. Credentials are never among them. */
  readonly headers: Readonly<Record<string, string>>
  readonly model: ModelAddress
  readonly signal: AbortSignal
}

export interface RuntimeCall extends ModelsCall {
  readonly dialect: Dialect
  readonly body: Uint8Array
  readonly release: Release
  /** Traffic is somebody's; an evaluation is an episode being scored, and nothing may be said to a person in it. */
  readonly purpose: 'traffic' | 'evaluation'
}

export type RuntimeAnswer = WholeAnswer | StreamedAnswer | { readonly kind: 'interrupted' }

export interface WholeAnswer {
  readonly kind: 'whole'
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}
export interface StreamedAnswer {
  readonly kind: 'stream'
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Server-sent events in whatever pieces they arrive. Leaving the loop early cancels the call. */
  readonly chunks: AsyncIterable<Uint8Array>
}

/** Relays one multimodal call. Not recorded. */
export interface Gateway {
  relay(route: string, body: Uint8Array, signal: AbortSignal): Promise<WholeAnswer>
}

export interface TrainingRuntime {
  submit(job: TrainingJob): Promise<void>
  poll(jobId: string): Promise<JobState>
  activate(jobId: string): Promise<{ readonly runtime_load_id: string }>
  discard(jobId: string): Promise<void>
}
export interface TrainingJob {
  readonly id: string
  readonly batch: Batch
  readonly base: Release
  readonly objective: JsonObject
}
export type JobState =
  | { readonly status: 'running' }
  | { readonly status: 'ready'; readonly checkpoint: string; readonly metrics: JsonObject }
  | { readonly status: 'failed'; readonly error: string }

// ── Training: what becomes a batch, what a batch becomes ──────────────────────────────────────

export interface Processor {
  readonly name: string
  readonly modes: readonly TrainingMode[]
  readonly requestTypes: readonly RequestType[]
  ingest(record: AgentRecord): void
  /** Reserves the next batch and keeps returning it until it is settled; null when none is ready. */
  take(mode: TrainingMode): Batch | null
  /** A commit consumed these ids of the batch; the rest stays held. */
  settle(batch: Batch, consumed: readonly string[]): void
  status(): JsonObject
}

export interface Trainer {
  /** 'own': beside its scenario. 'weights': the one weight lane of the process. */
  readonly lane: 'own' | 'weights'
  step(order: StepOrder, report: Reporter, signal: AbortSignal): Promise<StepResult>
}
export interface StepOrder {
  readonly step: number
  readonly batch: Batch
  readonly base: Release
  readonly files: Files
}
export type StepResult =
  | {
      readonly kind: 'candidate'
      readonly content: Content
      readonly selected: boolean
      readonly hold: boolean
      readonly metrics: JsonObject
    }
  | { readonly kind: 'nothing'; readonly reason: string; readonly metrics: JsonObject }
export type Content = { readonly kind: 'files'; readonly files: Files } | { readonly kind: 'checkpoint'; readonly path: string }
export interface Reporter {
  phase(name: 'proposing' | 'evaluating' | 'running'): void
  line(kind: 'model' | 'agent' | 'check' | 'trial' | 'provider' | 'proposer', text: string, failed?: boolean): void
  keep(path: string, value: JsonObject): void
}

// ── Evolution: the four slots of a harness method ─────────────────────────────────────────────

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

// ── Stores: where truth is kept ───────────────────────────────────────────────────────────────

/** Records and commits of every scenario. Every promise resolves only after what it says is on the disk. */
export interface Store {
  /** The scenarios that have a creation row and are not archived, by name. */
  scenarios(): Promise<readonly string[]>
  /** A handle; makes nothing. A scenario comes into being with its creation row. */
  scenario(name: string): ScenarioStore
  /** Sets the scenario aside for good and frees its name. Answers where it now is, relative to the store. */
  archive(name: string): Promise<string>
  usage(): Promise<StoreUsage>
  /** Called whenever capacity took bodies, with what it took. */
  onLoss(listener: (scenario: string, lost: Losses) => void): void
  /** Re-hashes everything kept and answers with what does not match. */
  verify(progress: (checked: number, total: number) => void): Promise<readonly Damage[]>
  close(): Promise<void>
}
export interface StoreUsage {
  readonly records: number
  readonly body_bytes: number
  readonly capacity_bytes: number
  readonly lost_records: number
  readonly lost_bytes: number
}
export interface Damage {
  readonly scenario: string
  readonly agent_record_id: string
  readonly problem: string
}

export interface ScenarioStore {
  /**
   * All or none, in order, in one transaction. An id already stored with the same content (everything but the time, compared as
   * canonical JSON) answers with the stored row, also after its body was evicted; with other content the whole call is refused
   * with a conflict naming the id.
   */
  append(records: readonly NewRecord[]): Promise<readonly RecordRow[]>
  /** Which of these ids are stored, and as what. */
  types(ids: readonly string[]): Promise<ReadonlyMap<string, RequestType>>
  get(id: string): Promise<StoredRecord | null>
  /** Rows after that sequence, oldest first. */
  records(page: { readonly after: number; readonly limit: number; readonly type?: RequestType }): Promise<readonly RecordRow[]>
  /** The commit point: the row and what it consumed land together or not at all. A step that exists already is a conflict. */
  commit(commit: Commit): Promise<void>
  /** Rows after that step, oldest first; with ids, only rows that consumed any of them. */
  commits(page: { readonly after: number; readonly limit: number; readonly ids?: readonly string[] }): Promise<readonly Commit[]>
  losses(): Promise<Losses>
}

/** Contents and releases: content is addressed by what it is, a release by when it was accepted. */
export interface ContentStore {
  /** Equal content, equal id. Writing again is free. */
  write(content: Content): Promise<string>
  read(contentId: string): Promise<Files>
  /** A release of this content on that parent. Nothing serves it until a commit row names it. */
  seal(contentId: string, parent: Release | null, mark: SealMark): Promise<Release>
  /** The release of that id, or null when there is none here. */
  find(releaseId: string): Promise<Release | null>
  /** Makes the scenario's pointer name the release. Derived from the rows: may be repeated at any time. */
  point(scenario: string, release: Release): Promise<void>
  /** Renames the scenario's pointer so that every release stays reachable. Answers the new name. Throws 'unsupported' for a remote. */
  archive(scenario: string, as: string): Promise<string>
  close(): Promise<void>
}
export interface SealMark {
  readonly step: number
  readonly operation: Commit['operation']
  readonly at: number
}
