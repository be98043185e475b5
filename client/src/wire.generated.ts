/** Made by `npm run docs` from src/contract/wire: do not edit. */

export interface ArchivedScenario {
  /** The name of the scenario. */
  readonly scenario: string
  /** Where its records and its ref are now. */
  readonly archived: readonly string[]
}

export interface AuditList {
  readonly audit: readonly AuditRow[]
  readonly next_after_sequence?: number | null
  readonly next_before_sequence?: number | null
}

export interface AuditRow {
  /** From 1, without gaps. */
  readonly sequence: number
  /** The id of the request, as the log has it. */
  readonly id: string
  /** Seconds since the epoch, with a fraction. */
  readonly at: number
  /** The name of the token, or svc.token or svc.tokens for one of the configuration, or the person who signed in; null on an open service, and where nobody did it. */
  readonly by: string | null
  /** Null where by is. */
  readonly role: 'admin' | 'review' | 'serve' | 'agent' | 'read' | 'worker' | null
  /** The address that the connection came from. */
  readonly from: string | null
  /** What was done, as the OpenAPI document names the operation. */
  readonly action: string
  readonly scenario: string | null
  /** What it was done to within the scenario or the deployment: a token, a release, a task, a request. */
  readonly target: string | null
  readonly before: Readonly<Record<string, unknown>> | null
  readonly after: Readonly<Record<string, unknown>> | null
}

export interface Caller {
  /** anyone: the service is open. */
  readonly kind: 'person' | 'token' | 'anyone'
  /** As the audit has it. */
  readonly name: string | null
  readonly role: 'admin' | 'review' | 'serve' | 'agent' | 'read' | 'worker' | null
  /** Null: all of them. */
  readonly scenarios: readonly string[] | null
  /** Null: never. */
  readonly expires_at: number | null
}

export interface CatalogRow {
  /** Steps count from 0, which creates the scenario. */
  readonly step: number
  readonly operation: 'create' | 'train' | 'promote' | 'rollback' | 'shipped' | 'withdraw' | 'reject' | 'comment'
  /** Seconds since the epoch, with a fraction. */
  readonly recorded_at: number
  /** The id of a release. */
  readonly release_id: string
  readonly parent_release_id: string | null
  /** Equal exactly when the contents are equal. */
  readonly content_id: string
  /** Held for review. */
  readonly pending: boolean
  /** Whether a rollback may name it. */
  readonly restorable: boolean
  /** On the one row whose release is served now. */
  readonly current: boolean
  readonly result: 'published' | 'pending' | 'rejected' | 'skipped' | 'failed'
  /** On a row that made a provisional release, which is unproven: true while it is that of the scenario, false once it ended. */
  readonly provisional?: boolean
  /** As recorded. */
  readonly metrics: Readonly<Record<string, unknown>>
  /** On a promote or rollback: whose content was published again. On a withdrawal or rejection: which release that ends. On a comment: which release it is about. */
  readonly rollback_target_release_id?: string
  /** Whose step it was, when there are several trainers. */
  readonly component?: string
  /** The content id of each component, when a release has several. */
  readonly components?: Readonly<Record<string, string>>
  readonly wins?: unknown
  readonly losses?: unknown
  readonly ties?: unknown
  readonly passed?: unknown
  readonly failed?: unknown
  readonly floor_score?: unknown
  readonly evaluation_sides?: unknown
  readonly current_score?: unknown
  readonly candidate_score?: unknown
  readonly episode_failures?: unknown
  readonly evaluation_task_count?: unknown
  readonly evaluation_context?: unknown
  readonly proposal?: unknown
  readonly training_request?: unknown
  readonly proposal_notes?: unknown
  readonly skipped?: unknown
  readonly error?: unknown
  /** The id of a release. */
  readonly composed_release_id?: string
  /** The id of a release. */
  readonly composed_parent_release_id?: string
  /** The id of a release. */
  readonly composed_rollback_target_release_id?: string
  /** The step's page, below the service's address. */
  readonly page_path: string
}

export interface Configuration {
  /** Every setting that is in force. Secrets are masked. */
  readonly keys: readonly { readonly key: string; readonly value: unknown; readonly origin: string }[]
  /** What a scenario may be made with, the default one first. */
  readonly recipes: readonly { readonly name: string; readonly adapter?: string }[]
  readonly upstream: { readonly runtime: string; readonly url: string | null; readonly found: string }
}

export interface CreateTokenBody {
  readonly name: string
  readonly role: 'admin' | 'review' | 'serve' | 'agent' | 'read' | 'worker'
  /** The scenarios that it is for; left out, all of them. */
  readonly scenarios?: readonly string[]
  readonly expires_in_days?: number
  /** Of its own. What is left out is as the configuration says; 0 is no limit. */
  readonly limits?: TokenLimits
}

export interface CreatedScenario {
  /** The name of the scenario. */
  readonly scenario: string
  /** The id of a release. */
  readonly release_id: string
  /** Equal exactly when the contents are equal. */
  readonly content_id: string
  readonly model: ModelView
  /** The agent whose harness it serves. */
  readonly adapter?: string
}

interface EvolutionChanges {
  readonly provisional?: 'off' | 'shadow' | 'canary' | null
  readonly canary_share?: number | null
  readonly max_steps?: number | null
  readonly max_failure_streak?: number | null
  readonly max_episodes_per_step?: number | null
  readonly max_model_calls_per_step?: number | null
  readonly max_tokens_per_step?: number | null
  readonly max_cost_per_step?: number | null
  readonly max_tokens_per_day?: number | null
  readonly max_cost_per_day?: number | null
}

interface ExchangeSummary {
  readonly model?: string
  /** From the whole request to the whole answer. */
  readonly latency_ms: number
  /** As the provider counted them. */
  readonly input_tokens?: number
  readonly output_tokens?: number
  readonly stream?: true
  /** False when the answer broke off. */
  readonly complete?: false
  /** The tag of that name. */
  readonly session?: string
  /** Which of several upstreams answered. */
  readonly upstream?: string
  /** The format that it was asked in, where the call was translated. */
  readonly upstream_format?: string
}

export interface Fleet {
  readonly workers: readonly { readonly name: string; readonly slots: number; readonly running: number; readonly played: number; readonly lost: number; readonly checked: number; readonly differed: number; readonly is_set_aside: boolean; readonly seen_seconds_ago: number }[]
  readonly waiting: number
  readonly running: number
  /** Episodes that have waited for more than a minute and that no worker can play. */
  readonly unplayable: readonly { readonly scenario: string; readonly episodes: number; readonly reason: string }[]
  /** How long the oldest has waited. */
  readonly waited_seconds: number
  readonly last_hour: { readonly episodes: number; readonly mean_wait_seconds: number; readonly model_calls: number; readonly input_tokens: number; readonly output_tokens: number; readonly cost: number; readonly unpriced_calls: number }
}

export interface ForgetBody {
  readonly name: string
  readonly value: string
  readonly dry_run: boolean
}

export interface ForgottenPerson {
  readonly tag: Readonly<Record<string, string>>
  /** False: only counted. */
  readonly removed: boolean
  /** Exchanges and train requests with the tag. */
  readonly records: number
  /** Reports about them. */
  readonly reports: number
  /** Mined tasks that were made of them. */
  readonly tasks: number
  /** Step records that were made of them. */
  readonly step_records: number
  /** Bodies of others that were stored as the difference to one of them, and were written anew. */
  readonly rewritten: number
  readonly scenarios: readonly string[]
  readonly places: readonly { readonly place: string; readonly searched: string; readonly found: number }[]
  /** How many places hold something still. */
  readonly left: number
  /** Where something may be that the service cannot look for. */
  readonly unsearched: readonly string[]
  /** Of scenarios that are not archived. */
  readonly receipts: readonly { readonly scenario: string; readonly agent_record_id: string; readonly sequence: number }[]
}

export interface FoundRecordList {
  /** The name of the scenario. */
  readonly scenario: string
  /** Newest first, each with its excerpt. */
  readonly records: readonly ListedRecord[]
  /** Where the next page starts; null at the end. A page may be short, or empty, before it. */
  readonly next_before_sequence: number | null
  /** How many records of the scenario cannot be found yet. */
  readonly waiting: number
}

export interface FullRecord {
  /** 1, 2, 3 … in this scenario, without gaps. */
  readonly sequence: number
  /** A receipt, or the id that the record was sent with. */
  readonly agent_record_id: string
  readonly request_type: 'inference' | 'report' | 'train'
  /** Seconds since the epoch, with a fraction. */
  readonly created_at: number
  /** The receipts that a report quotes. */
  readonly references: readonly string[]
  /** The release that served an inference. */
  readonly artifact_ref: string | null
  readonly score: number | null
  /** Of an exchange that was served here. Not part of the identity of a record. */
  readonly summary?: ExchangeSummary
  /** The payload, as it was stored. */
  readonly payload: Readonly<Record<string, unknown>>
}

export interface Head {
  /** The name of the scenario. */
  readonly scenario: string
  /** The id of a release. */
  readonly release_id: string
  /** Equal exactly when the contents are equal. */
  readonly content_id: string
  /** Steps count from 0, which creates the scenario. */
  readonly step: number
  /** Of a move with a store that several gateways share: which of them did not serve it within two seconds, as machine and port; null where that is not known. */
  readonly gateways_behind?: readonly string[] | null
}

export type ImportBody = { readonly agent_record_id: string; readonly request_type: 'inference'; readonly payload: Readonly<Record<string, unknown>> } | { readonly agent_record_id: string; readonly request_type: 'report'; readonly payload: ReportBody }

export interface ListedRecord {
  /** 1, 2, 3 … in this scenario, without gaps. */
  readonly sequence: number
  /** A receipt, or the id that the record was sent with. */
  readonly agent_record_id: string
  readonly request_type: 'inference' | 'report' | 'train'
  /** Seconds since the epoch, with a fraction. */
  readonly created_at: number
  /** The receipts that a report quotes. */
  readonly references: readonly string[]
  /** The release that served an inference. */
  readonly artifact_ref: string | null
  readonly score: number | null
  /** Of an exchange that was served here. Not part of the identity of a record. */
  readonly summary?: ExchangeSummary
  /** Where it was asked for, as long as the body is kept. */
  readonly excerpt?: RecordExcerpt
}

export interface ListedTask {
  readonly name: string
  /** Null where the task cannot be read. */
  readonly role: 'gate' | 'train' | 'regression' | 'health' | 'sealed' | null
  readonly family: string | null
  /** Null of a task that a person wrote, which is always used. */
  readonly status: 'proposed' | 'accepted' | 'dropped' | null
  /** Where a mined task comes from. */
  readonly origin: string | null
  /** What `svc tasks check` found. */
  readonly check: { readonly at: string; readonly passed: boolean; readonly problems: readonly string[] } | null
  /** Why it cannot be read. */
  readonly problem: string | null
}

export interface ListedToken {
  readonly name: string
  readonly role: 'admin' | 'review' | 'serve' | 'agent' | 'read' | 'worker'
  /** Null: all of them. */
  readonly scenarios: readonly string[] | null
  /** Seconds since the epoch, with a fraction. */
  readonly created_at: number
  /** The name of the token that made it, or svc.token or svc.tokens for one of the configuration; of a sign-in, the person. */
  readonly created_by: string
  /** Null: it does not expire. */
  readonly expires_at: number | null
  /** What it was given of its own: what is left out is as the configuration says, and 0 is no limit. */
  readonly limits?: TokenLimits
  /** What it used of each limit that is in force, its own or one of the configuration. */
  readonly use?: TokenUse
}

export interface Manifest {
  /** The id of a release. */
  readonly release_id: string
  /** Equal exactly when the contents are equal. */
  readonly content_id: string
  readonly parent_release_id: string | null
  /** Path to text. Check the paths before writing anything. */
  readonly files: Readonly<Record<string, string>>
  /** What the step that made it measured. */
  readonly evaluation: Readonly<Record<string, unknown>>
  /** What a person must have set up. */
  readonly requires: readonly Requires[]
  /** The content id of each component, when a release has several. */
  readonly components?: Readonly<Record<string, string>>
  /** It is unproven. Absent on every other release. */
  readonly provisional?: true
  /** What the deployment says of this release, and its signature. */
  readonly signed: { readonly statement: string; readonly signature: string; readonly rotations: readonly { readonly statement: string; readonly signature: string }[] }
}

interface ModelSettings {
  /** The base address; must be an http or https address without credentials, query, fragment or a trailing /v1. */
  readonly url?: string
  readonly model?: string
  readonly api?: 'openai' | 'responses' | 'anthropic' | 'gemini'
  readonly api_key?: string
  /** Which of the configured upstreams answer, by name. Unset: all of them. */
  readonly upstreams?: readonly string[]
  /** What the address under `url` speaks, the best first. Unset: every call goes as it came. */
  readonly formats?: readonly ('chat' | 'responses' | 'messages' | 'gemini')[]
}

interface ModelView {
  readonly url: string
  readonly model: string | null
  readonly api: 'openai' | 'responses' | 'anthropic' | 'gemini'
  /** The key itself is never shown. */
  readonly has_api_key: boolean
  /** The upstreams that answer, where several are configured. */
  readonly upstreams?: readonly string[]
  /** What the upstream speaks, where calls are translated for it. */
  readonly formats?: readonly ('chat' | 'responses' | 'messages' | 'gemini')[]
}

export interface NewTask {
  /** The receipt of an exchange. */
  readonly record_id: string
  /** What the agent is asked. Left out: what the user said last in the exchange. */
  readonly prompt?: string
  /** What a good answer does; a model grades by it. */
  readonly rubric?: string
  /** The right answer, word for word, as the last line; instead of a rubric. */
  readonly answer?: string
  /** Who plays it: gate where it is left out, or that of a task that says nearly the same. */
  readonly role?: 'gate' | 'train' | 'regression' | 'health' | 'sealed'
}

export interface NewToken {
  readonly name: string
  readonly role: 'admin' | 'review' | 'serve' | 'agent' | 'read' | 'worker'
  /** Null: all of them. */
  readonly scenarios: readonly string[] | null
  /** Seconds since the epoch, with a fraction. */
  readonly created_at: number
  /** The name of the token that made it, or svc.token or svc.tokens for one of the configuration; of a sign-in, the person. */
  readonly created_by: string
  /** Null: it does not expire. */
  readonly expires_at: number | null
  /** What it was given of its own: what is left out is as the configuration says, and 0 is no limit. */
  readonly limits?: TokenLimits
  /** Shown this once; only its hash is kept. */
  readonly token: string
}

interface OwnEvolution {
  readonly provisional?: 'off' | 'shadow' | 'canary'
  readonly canary_share?: number
  readonly max_steps?: number
  readonly max_failure_streak?: number
  readonly max_episodes_per_step?: number
  readonly max_model_calls_per_step?: number
  readonly max_tokens_per_step?: number
  readonly max_cost_per_step?: number
  readonly max_tokens_per_day?: number
  readonly max_cost_per_day?: number
}

export interface Receipt {
  /** A receipt, or the id that the record was sent with. */
  readonly agent_record_id: string
  /** The name of the scenario. */
  readonly scenario: string
  readonly request_type: 'inference' | 'report'
}

export interface RecordExcerpt {
  /** The first words of what was asked last, of the feedback, or of the instruction. */
  readonly input: string
  /** The first words of the answer. */
  readonly output: string
  readonly tags: Readonly<Record<string, string>>
  /** Its own, or else that of the newest report that quotes it. */
  readonly score?: number
  /** As the provider counted it. */
  readonly cost?: number
}

export interface RecordList {
  /** The name of the scenario. */
  readonly scenario: string
  readonly records: readonly ListedRecord[]
  /** Where the next page starts, oldest first; null at the end. */
  readonly next_after_sequence?: number | null
  /** Where the next page starts, newest first; null at the end. */
  readonly next_before_sequence?: number | null
}

export interface RecordRow {
  /** 1, 2, 3 … in this scenario, without gaps. */
  readonly sequence: number
  /** A receipt, or the id that the record was sent with. */
  readonly agent_record_id: string
  readonly request_type: 'inference' | 'report' | 'train'
  /** Seconds since the epoch, with a fraction. */
  readonly created_at: number
  /** The receipts that a report quotes. */
  readonly references: readonly string[]
  /** The release that served an inference. */
  readonly artifact_ref: string | null
  readonly score: number | null
  /** Of an exchange that was served here. Not part of the identity of a record. */
  readonly summary?: ExchangeSummary
}

export interface ReleaseRow {
  /** Steps count from 0, which creates the scenario. */
  readonly step: number
  readonly operation: 'create' | 'train' | 'promote' | 'rollback' | 'shipped' | 'withdraw' | 'reject' | 'comment'
  /** Seconds since the epoch, with a fraction. */
  readonly recorded_at: number
  /** The id of a release. */
  readonly release_id: string
  readonly parent_release_id: string | null
  /** Equal exactly when the contents are equal. */
  readonly content_id: string
  /** Held for review. */
  readonly pending: boolean
  /** Whether a rollback may name it. */
  readonly restorable: boolean
  /** On the one row whose release is served now. */
  readonly current: boolean
  readonly result: 'published' | 'pending' | 'rejected' | 'skipped' | 'failed'
  /** On a row that made a provisional release, which is unproven: true while it is that of the scenario, false once it ended. */
  readonly provisional?: boolean
  /** As recorded. */
  readonly metrics: Readonly<Record<string, unknown>>
  /** On a promote or rollback: whose content was published again. On a withdrawal or rejection: which release that ends. On a comment: which release it is about. */
  readonly rollback_target_release_id?: string
  /** Whose step it was, when there are several trainers. */
  readonly component?: string
  /** The content id of each component, when a release has several. */
  readonly components?: Readonly<Record<string, string>>
  readonly wins?: unknown
  readonly losses?: unknown
  readonly ties?: unknown
  readonly passed?: unknown
  readonly failed?: unknown
  readonly floor_score?: unknown
  readonly evaluation_sides?: unknown
  readonly current_score?: unknown
  readonly candidate_score?: unknown
  readonly episode_failures?: unknown
  readonly evaluation_task_count?: unknown
  readonly evaluation_context?: unknown
  readonly proposal?: unknown
  readonly training_request?: unknown
  readonly proposal_notes?: unknown
  readonly skipped?: unknown
  readonly error?: unknown
}

export interface ReportBody {
  readonly agent_record_id?: string
  readonly score?: number | null
  readonly feedback?: string | Readonly<Record<string, unknown>> | null
  readonly references?: readonly string[] | null
  /** In place of references: the exchanges with this tag, all of them or the latest. */
  readonly references_to?: { readonly session: string; readonly which?: 'all' | 'latest' } | null
  readonly metadata?: Readonly<Record<string, unknown>> | null
}

export interface RequestProgress {
  /** A receipt, or the id that the record was sent with. */
  readonly request_id: string
  readonly settled: boolean
  readonly step: number | null
  readonly state: 'queued' | 'running' | 'proposing' | 'evaluating' | 'settling' | 'published' | 'pending' | 'rejected' | 'skipped' | 'failed'
  readonly meaning: string | null
  readonly started_at: number | null
  readonly episodes_total: number | null
  readonly step_record: string | null
  /** Oldest first; empty once settled. */
  readonly activity: readonly { readonly at: number; readonly kind: string; readonly text: string; readonly failed?: true }[]
}

export interface Requires {
  readonly name: string
  readonly kind: 'permission' | 'env' | 'service' | 'binary'
  readonly check?: string
  readonly prompt?: string
}

export interface ScenarioRow {
  /** The name of the scenario. */
  readonly scenario: string
  /** Whether it is in memory; some fields are known only then. */
  readonly loaded: boolean
  readonly recipe: string | null
  /** The id of a release. */
  readonly release_id?: string
  /** Equal exactly when the contents are equal. */
  readonly content_id?: string
  readonly training_mode?: 'auto' | 'manual' | 'hybrid'
  readonly model?: ModelView
  /** The agent whose harness it serves. */
  readonly adapter?: string
  /** On a scenario in memory that trains: what was set for it, over the configuration. */
  readonly evolution?: OwnEvolution
  /** On a scenario in memory whose recipe reads a folder of tasks. */
  readonly has_tasks?: boolean
}

export interface ScenarioStatus {
  /** Whether a step would start if it were its turn. */
  readonly batch_ready: boolean
  readonly training_mode: 'auto' | 'manual' | 'hybrid'
  /** The status of the recipe's processor, and what waits for it. */
  readonly processor: Readonly<Record<string, unknown>>
  /** The latest row that trained. */
  readonly last_committed_step: { readonly step: number; readonly recorded_at: number; readonly metrics: Readonly<Record<string, unknown>> } | null
  /** Steps count from 0, which creates the scenario. */
  readonly scenario_step: number
  /** The weight load that answers now; null when no weights are served. */
  readonly current_runtime_load_id: string | null
  /** The same while it is an adapter; null while the base answers. */
  readonly adapter_runtime_load_id?: string | null
  /** Who trains the weights, as of the latest job since the start: its name and the version of its calls, where it says so. */
  readonly trainer?: { readonly server: string | null; readonly version: string | null; readonly format: 'json' | 'protobuf' } | null
  readonly checkpoint_storage: null
  /** Whether requests begin, or wait for a weight update. */
  readonly inference_admission: 'open' | 'closed' | null
  /** When there are several trainers. */
  readonly components?: Readonly<Record<string, { readonly batch_ready: boolean; readonly training_mode: 'auto' | 'manual' | 'hybrid'; readonly processor: Readonly<Record<string, unknown>>; readonly last_committed_step: { readonly step: number; readonly recorded_at: number; readonly metrics: Readonly<Record<string, unknown>> } | null }>>
  /** The provisional release, which is unproven. Absent while there is none. */
  readonly provisional?: { readonly release_id: string; readonly step: number; readonly gain: number; readonly canary_share: number | null; readonly live_scores: Readonly<Record<string, unknown>> | null }
}

export interface ServiceStatus {
  /** Background failures that were not fixed since, one line each. */
  readonly error: string | null
  /** Scenarios that could not be loaded at start, with the reason. */
  readonly preload_errors: Readonly<Record<string, string>>
  readonly last_drain_at: number | null
  /** The loaded scenarios, by name. */
  readonly scenarios: Readonly<Record<string, ScenarioStatus | { readonly error: string }>>
  /** The status of the runtime. */
  readonly serving: Readonly<Record<string, unknown>>
  readonly training_job: { readonly status: string; readonly training_job_id: string; readonly owner: string } | null
  /** The targets of webhooks. Absent where none is configured. */
  readonly webhooks?: readonly { readonly name: string; readonly delivering: boolean; readonly delivered: number; readonly failed: number; readonly waiting: number; readonly set_aside: number }[]
  readonly storage: { readonly records: number; readonly body_bytes: number; readonly capacity_bytes: number; readonly lost_records: number; readonly lost_bytes: number; readonly expired_records?: number; readonly expired_bytes?: number; readonly error: { readonly code: string; readonly message: string } | null; readonly retention_held_until?: number }
}

export interface ShownTask {
  readonly name: string
  /** Null where the task cannot be read. */
  readonly role: 'gate' | 'train' | 'regression' | 'health' | 'sealed' | null
  readonly family: string | null
  /** Null of a task that a person wrote, which is always used. */
  readonly status: 'proposed' | 'accepted' | 'dropped' | null
  /** Where a mined task comes from. */
  readonly origin: string | null
  /** What `svc tasks check` found. */
  readonly check: { readonly at: string; readonly passed: boolean; readonly problems: readonly string[] } | null
  /** Why it cannot be read. */
  readonly problem: string | null
  readonly prompt: string
  /** Paths of the files that the agent finds. */
  readonly workspace: readonly string[]
  /** Paths of the files that decide. */
  readonly verify: readonly string[]
  /** Paths of the files of a solution. */
  readonly reference: readonly string[]
}

export interface SignInOffer {
  /** Null: tokens alone. */
  readonly sign_in: { readonly name: string; readonly start_url: string } | null
}

export interface StepProgress {
  /** Empty where the scenario has no components. */
  readonly component: string
  /** Null of a step on traffic. */
  readonly request_id: string | null
  readonly state: 'running' | 'proposing' | 'evaluating' | 'settling'
  readonly meaning: string | null
  /** Seconds since the epoch, with a fraction. */
  readonly started_at: number
  /** At most. */
  readonly episodes_total: number | null
  readonly episodes_played: number
  readonly input_tokens: number
  readonly output_tokens: number
  /** Of the episodes; null where a price is not known. */
  readonly cost: number | null
  /** At most, by the episodes so far; null where it is not known. */
  readonly seconds_left: number | null
  readonly step_record: string | null
  /** Oldest first. */
  readonly activity: readonly { readonly at: number; readonly kind: string; readonly text: string; readonly failed?: true }[]
  /** The latest, oldest first. */
  readonly episodes: readonly ({ readonly at: number; readonly side: 'candidate' | 'current' | 'baseline' | 'trial'; readonly task: string; readonly repeat: number; readonly score: number | null; readonly words: string | null; readonly seconds: number; readonly input_tokens: number; readonly output_tokens: number; readonly cost: number | null; readonly transcript: string | null })[]
}

export interface TaskChange {
  /** Of a mined task: accepted ones are used. */
  readonly status?: 'proposed' | 'accepted' | 'dropped'
  /** Who plays it. */
  readonly role?: 'gate' | 'train' | 'regression' | 'health' | 'sealed'
}

export interface TokenLimits {
  readonly requests_per_minute?: number
  readonly tokens_per_minute?: number
  readonly cost_per_day?: number
  readonly concurrent_requests?: number
}

export interface TokenRow {
  readonly name: string
  readonly role: 'admin' | 'review' | 'serve' | 'agent' | 'read' | 'worker'
  /** Null: all of them. */
  readonly scenarios: readonly string[] | null
  /** Seconds since the epoch, with a fraction. */
  readonly created_at: number
  /** The name of the token that made it, or svc.token or svc.tokens for one of the configuration; of a sign-in, the person. */
  readonly created_by: string
  /** Null: it does not expire. */
  readonly expires_at: number | null
  /** What it was given of its own: what is left out is as the configuration says, and 0 is no limit. */
  readonly limits?: TokenLimits
}

export interface TokenUse {
  readonly requests_per_minute?: { readonly used: number; readonly limit: number }
  readonly tokens_per_minute?: { readonly used: number; readonly limit: number }
  readonly cost_per_day?: { readonly used: number; readonly limit: number }
  readonly concurrent_requests?: { readonly used: number; readonly limit: number }
}

export interface TrainBody {
  readonly agent_record_id?: string
  readonly text: string
  readonly session: string
  readonly release_id: string
  readonly requires?: readonly ({ readonly name: string; readonly kind: 'permission' | 'env' | 'service' | 'binary'; readonly check?: string; readonly prompt?: string })[] | null
  /** The requesting machine: platform, arch, release, commands. Fields that do not fit are dropped. */
  readonly client?: unknown
}

export interface TrainReceipt {
  /** A receipt, or the id that the record was sent with. */
  readonly agent_record_id: string
  /** The name of the scenario. */
  readonly scenario: string
  readonly request_type: 'train'
  /** The request's page. Carries a page key when a service token was presented. */
  readonly page_path: string
}

export interface UpdateScenarioBody {
  readonly training_mode?: 'auto' | 'manual' | 'hybrid'
  readonly model?: ModelSettings | null
  /** Budgets and rollout, over the configuration; null takes all of it back, and null as a value that one. */
  readonly evolution?: EvolutionChanges | null
}

export interface UpdatedScenario {
  /** The name of the scenario. */
  readonly scenario: string
  readonly training_mode: 'auto' | 'manual' | 'hybrid'
  readonly model?: ModelView
  readonly evolution?: OwnEvolution
}
