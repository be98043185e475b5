/** What the service takes and answers, in its own spelling. Only what callers rely on is checked when it arrives. */

type Data = Readonly<Record<string, unknown>>
type TrainingMode = 'auto' | 'manual' | 'hybrid'

/** What a person must have set up before a release runs. */
export interface RequiredItem {
  readonly name: string
  readonly kind: 'permission' | 'env' | 'service'
  /** For `env` the variable (the name when absent); otherwise a shell command whose zero exit status means satisfied. */
  readonly check?: string
  readonly prompt?: string
}

export interface Receipt {
  readonly agent_record_id: string
  readonly scenario: string
  readonly request_type: 'inference' | 'report' | 'train'
}
export interface TrainReceipt extends Receipt {
  /** Where the request's page is, below the service's address. */
  readonly page_path: string
}

export interface Report {
  readonly score?: number
  readonly feedback?: string | Data
  /** Receipts of inferences of the same scenario, each once. */
  readonly references?: readonly string[]
  /** In their place: the exchanges whose tag `session` is this, all of them or the latest. */
  readonly references_to?: { readonly session: string; readonly which?: 'all' | 'latest' }
  readonly metadata?: Data
  /** Makes sending it again safe. */
  readonly agent_record_id?: string
}

export interface TrainRequest {
  readonly text: string
  readonly session: string
  /** The release it came from. */
  readonly release_id: string
  /** Makes sending it again safe. */
  readonly agent_record_id?: string
  readonly requires?: readonly RequiredItem[]
  /** The machine that asks. */
  readonly client?: {
    readonly platform?: string
    readonly arch?: string
    readonly release?: string
    readonly commands?: Readonly<Record<string, boolean>>
  }
}

export interface Envelope {
  readonly agent_record_id: string
  readonly request_type: 'inference' | 'report'
  readonly payload: Data
}

export interface Manifest {
  readonly release_id: string
  readonly content_id: string
  readonly parent_release_id: string | null
  /** Path to text. The paths are the service's word: check them before anything is written. */
  readonly files: Readonly<Record<string, string>>
  readonly evaluation?: Data | null
  readonly requires: readonly RequiredItem[]
  /** Content id by component, when the release binds several. */
  readonly components?: Readonly<Record<string, string>>
}

export interface ReleaseRow {
  readonly step: number
  readonly release_id: string
  readonly content_id: string
  readonly parent_release_id: string | null
  readonly operation: 'create' | 'train' | 'promote' | 'rollback' | 'shipped'
  /** Seconds since the epoch, with fraction. */
  readonly recorded_at: number
  /** Held for review. */
  readonly pending: boolean
  readonly restorable: boolean
  /** On the one row whose release is served now. */
  readonly current: boolean
  readonly result: 'published' | 'pending' | 'rejected' | 'skipped' | 'failed'
  readonly metrics: Data
  /** On promote and rollback: the release whose content was published again. */
  readonly rollback_target_release_id?: string
  readonly component?: string
  readonly training_request?: Data
  readonly proposal?: Data
  readonly proposal_notes?: Data
  readonly skipped?: string
  readonly error?: string
}
export interface CatalogRow extends ReleaseRow {
  /** Where the step's page is, below the service's address. */
  readonly page_path: string
}

export interface Progress {
  readonly request_id: string
  readonly settled: boolean
  /** Once settled. */
  readonly step: number | null
  readonly state: string
  readonly meaning: string | null
  /** The rest while a step holds the request. */
  readonly started_at?: number
  readonly episodes_total?: number | null
  readonly step_record?: string | null
  readonly activity?: readonly { readonly at: number; readonly kind: string; readonly text: string; readonly failed?: true }[]
}

/** What the list tells of a record. */
export interface RecordRow {
  /** Position in the scenario's record order: 1, 2, 3, without gaps. */
  readonly sequence: number
  readonly agent_record_id: string
  readonly request_type: 'inference' | 'report' | 'train'
  readonly created_at: number
  readonly references: readonly string[]
  readonly artifact_ref: string | null
  readonly score: number | null
  /** Of an exchange that the service served itself. */
  readonly summary?: {
    readonly model?: string
    readonly latency_ms: number
    readonly input_tokens?: number
    readonly output_tokens?: number
    readonly stream?: true
    readonly complete?: false
  }
}
export interface StoredRecord extends RecordRow {
  readonly payload: Data
}
export interface ReleaseQuery {
  /** 1 to 100. */
  readonly limit?: number
  readonly before_step?: number
}
export interface CatalogQuery {
  /** 1 to 100. */
  readonly limit?: number
  readonly after_step?: number
}
export interface ReleasePage<Row = ReleaseRow> {
  readonly releases: readonly Row[]
  /** Where the next page begins, for the query's own step field; null at the end. */
  readonly next: number | null
}

export interface RecordQuery {
  readonly request_type?: RecordRow['request_type']
  /** 1 to 100. */
  readonly limit?: number
  readonly order?: 'oldest' | 'newest'
  readonly after_sequence?: number
  /** With the order 'newest'. */
  readonly before_sequence?: number
}
export interface RecordPage {
  readonly records: readonly RecordRow[]
  /** Where the next page begins, for the query's own sequence field; null at the end. */
  readonly next: number | null
}

/** The head that a promote or a rollback came to. */
export interface Head {
  readonly scenario: string
  readonly release_id: string
  readonly content_id: string
  readonly step: number
}

export interface ScenarioRow {
  readonly scenario: string
  readonly loaded: boolean
  /** Null of one that goes away just now. */
  readonly recipe: string | null
  /** The rest once it is loaded. */
  readonly release_id?: string
  readonly content_id?: string
  readonly training_mode?: TrainingMode
  readonly model?: Data
  readonly adapter?: string
}

/** A scenario and what it serves first. */
export interface Created {
  readonly scenario: string
  readonly release_id: string
  readonly content_id: string
  readonly adapter?: string
}

export interface ScenarioStatus {
  readonly scenario_step: number
  readonly last_committed_step: { readonly step: number; readonly recorded_at: number; readonly metrics: Data } | null
  readonly batch_ready: boolean
  readonly training_mode: TrainingMode
  readonly processor: Data
}
export interface Status {
  /** What failed in training; null when nothing did. */
  readonly error: string | null
  readonly preload_errors: Readonly<Record<string, string>>
  readonly last_drain_at: number | null
  /** Those that are loaded, by name. One whose recipe cannot say how it is has `error` alone. */
  readonly scenarios: Readonly<Record<string, Partial<ScenarioStatus> & { readonly error?: string }>>
  readonly serving: unknown
  readonly training_job: unknown
  readonly storage: Data
}

export const isReceipt = (value: unknown): value is Receipt => hasTexts(value, ['agent_record_id', 'scenario', 'request_type'])

export const isTrainReceipt = (value: unknown): value is TrainReceipt => isReceipt(value) && hasTexts(value, ['page_path'])

export const isReceipts = (value: unknown): value is { readonly records: readonly Receipt[] } =>
  isData(value) && isListOf(value['records'], isReceipt)

export function isManifest(value: unknown): value is Manifest {
  if (!isData(value) || !hasTexts(value, ['release_id', 'content_id'])) return false
  return isData(value['files']) && Object.values(value['files']).every(isText) && isListOf(value['requires'], isRequired)
}

export const isReleases = (value: unknown): value is ReleaseList<ReleaseRow> => isData(value) && isListOf(value['releases'], isReleaseRow)
export interface ReleaseList<Row> {
  readonly releases: readonly Row[]
  readonly next_before_step?: number | null
  readonly next_after_step?: number | null
}

export const isCatalog = (value: unknown): value is ReleaseList<CatalogRow> =>
  isReleases(value) && value.releases.every((row) => hasTexts(row, ['page_path']))

export const isProgress = (value: unknown): value is Progress =>
  isData(value) && hasTexts(value, ['request_id', 'state']) && typeof value['settled'] === 'boolean'

export const isRecords = (value: unknown): value is RecordList => isData(value) && isListOf(value['records'], isRecordRow)
export interface RecordList {
  readonly records: readonly RecordRow[]
  readonly next_after_sequence?: number | null
  readonly next_before_sequence?: number | null
}

export const isStoredRecord = (value: unknown): value is StoredRecord => isRecordRow(value) && isData(value) && isData(value['payload'])

const isRecordRow = (value: unknown): value is RecordRow =>
  isData(value) && hasTexts(value, ['agent_record_id', 'request_type']) && typeof value['sequence'] === 'number'

export const isHead = (value: unknown): value is Head =>
  isData(value) && hasTexts(value, ['release_id', 'content_id']) && typeof value['step'] === 'number'

export const isScenarios = (value: unknown): value is { readonly scenarios: readonly ScenarioRow[] } =>
  isData(value) && isListOf(value['scenarios'], (row): row is ScenarioRow => hasTexts(row, ['scenario']))

export const isCreated = (value: unknown): value is Created => hasTexts(value, ['scenario', 'release_id', 'content_id'])

export const isStatus = (value: unknown): value is Status =>
  isData(value) && isData(value['scenarios']) && Object.values(value['scenarios']).every(isData) && isData(value['preload_errors'])

export const isHealth = (value: unknown): value is { readonly ok: boolean } => isData(value) && typeof value['ok'] === 'boolean'

const isReleaseRow = (value: unknown): value is ReleaseRow =>
  isData(value) && hasTexts(value, ['release_id', 'content_id', 'operation', 'result']) && typeof value['step'] === 'number'

const isRequired = (value: unknown): value is RequiredItem => hasTexts(value, ['name', 'kind'])

const isListOf = <T>(value: unknown, isItem: (item: unknown) => item is T): value is readonly T[] =>
  Array.isArray(value) && value.every(isItem)

const hasTexts = (value: unknown, fields: readonly string[]): boolean => isData(value) && fields.every((name) => isText(value[name]))

const isText = (value: unknown): value is string => typeof value === 'string'

const isData = (value: unknown): value is Data => typeof value === 'object' && value !== null && !Array.isArray(value)
