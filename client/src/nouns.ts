/** What the client asks for and answers with, beyond the wire types. Only the fields that callers rely on are checked when an answer arrives. */
import type * as wire from './wire.generated.ts'

type Data = Readonly<Record<string, unknown>>

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
export interface ReleasePage<Row = wire.ReleaseRow> {
  readonly releases: readonly Row[]
  /** Where the next page begins, for the query's own step field; null at the end. */
  readonly next: number | null
}
/** A page as the routes answer with it. */
export interface ReleaseAnswer<Row> {
  readonly releases: readonly Row[]
  readonly next_before_step?: number | null
  readonly next_after_step?: number | null
}

export interface RecordQuery {
  readonly request_type?: wire.RecordRow['request_type']
  /** 1 to 100. */
  readonly limit?: number
  readonly order?: 'oldest' | 'newest'
  readonly after_sequence?: number
  /** With the order 'newest'. */
  readonly before_sequence?: number
  /** 'yes': rows have the first words of their records, where the service can search. */
  readonly excerpts?: 'yes' | 'no'
}
/** A record must fit all that is given. */
export interface RecordSearchQuery {
  /** Words that must occur: `"several words"` in this order, `begin*` for a beginning, `-without` for one that must not. */
  readonly text?: string
  readonly request_type?: wire.RecordRow['request_type']
  readonly model?: string
  readonly release_id?: string
  readonly status?: 'complete' | 'broken_off'
  /** `name:value` each. */
  readonly tag?: readonly string[]
  /** Only reports that quote this record. */
  readonly quotes?: string
  readonly min_score?: number
  readonly max_score?: number
  /** Seconds since the epoch. */
  readonly since?: number
  readonly until?: number
  /** 1 to 100. */
  readonly limit?: number
  readonly before_sequence?: number
}
export interface FoundPage {
  readonly records: readonly wire.ListedRecord[]
  /** The `before_sequence` of the next page; null at the end. A page may be empty before it. */
  readonly next: number | null
  /** How many records cannot be found yet. */
  readonly waiting: number
}
export interface PageOfRecords {
  readonly records: readonly wire.ListedRecord[]
  /** Where the next page begins, for the query's own sequence field; null at the end. */
  readonly next: number | null
}

export interface AuditQuery {
  /** 1 to 100. */
  readonly limit?: number
  readonly order?: 'oldest' | 'newest'
  readonly after_sequence?: number
  /** With the order 'newest'. */
  readonly before_sequence?: number
}
export interface PageOfAudit {
  readonly audit: readonly wire.AuditRow[]
  /** Where the next page begins, for the query's own sequence field; null at the end. */
  readonly next: number | null
}

/** A scenario whose recipe cannot report its status has `error` alone. */
export interface StatusReport extends Omit<wire.ServiceStatus, 'scenarios'> {
  readonly scenarios: Readonly<Record<string, Partial<wire.ScenarioStatus> & { readonly error?: string }>>
}

export const isReceipt = (value: unknown): value is wire.Receipt => hasTexts(value, ['agent_record_id', 'scenario', 'request_type'])
export const isTrainReceipt = (value: unknown): value is wire.TrainReceipt => isReceipt(value) && hasTexts(value, ['page_path'])
export const isReceipts = (value: unknown): value is { readonly records: readonly wire.Receipt[] } => isListAt(value, 'records', isReceipt)

export function isManifest(value: unknown): value is wire.Manifest {
  if (!isData(value) || !hasTexts(value, ['release_id', 'content_id'])) return false
  const { files } = value
  return isData(files) && Object.values(files).every(isText) && isListAt(value, 'requires', isRequires)
}
const isRequires = (value: unknown): value is wire.Requires => hasTexts(value, ['name', 'kind'])

export const isReleases = (value: unknown): value is ReleaseAnswer<wire.ReleaseRow> => isListAt(value, 'releases', isReleaseRow)
export const isCatalog = (value: unknown): value is ReleaseAnswer<wire.CatalogRow> =>
  isReleases(value) && value.releases.every((row) => hasTexts(row, ['page_path']))
const isReleaseRow = (value: unknown): value is wire.ReleaseRow =>
  hasTexts(value, ['release_id', 'content_id', 'operation', 'result']) && hasNumber(value, 'step')

export const isProgress = (value: unknown): value is wire.RequestProgress =>
  isData(value) && hasTexts(value, ['request_id', 'state']) && typeof value['settled'] === 'boolean'

export const isRunning = (value: unknown): value is { readonly steps: readonly wire.StepProgress[] } =>
  isListAt(value, 'steps', (step) => hasTexts(step, ['component', 'state']) && hasNumber(step, 'started_at'))

export const isListedTask = (value: unknown): value is wire.ListedTask => hasTexts(value, ['name'])
export const isTasks = (value: unknown): value is { readonly tasks: readonly wire.ListedTask[] } => isListAt(value, 'tasks', isListedTask)
export const isShownTask = (value: unknown): value is wire.ShownTask => isListedTask(value) && hasTexts(value, ['prompt'])

export const isRecords = (value: unknown): value is Omit<wire.RecordList, 'scenario'> => isListAt(value, 'records', isRecordRow)
export const isFound = (value: unknown): value is wire.FoundRecordList => isRecords(value) && hasNumber(value, 'waiting')
export const isFullRecord = (value: unknown): value is wire.FullRecord => isRecordRow(value) && isData(value) && isData(value['payload'])
const isRecordRow = (value: unknown): value is wire.RecordRow =>
  hasTexts(value, ['agent_record_id', 'request_type']) && hasNumber(value, 'sequence')

export const isHead = (value: unknown): value is wire.Head => hasTexts(value, ['release_id', 'content_id']) && hasNumber(value, 'step')
export const isScenarios = (value: unknown): value is { readonly scenarios: readonly wire.ScenarioRow[] } =>
  isListAt(value, 'scenarios', (row) => hasTexts(row, ['scenario']))
export const isCreated = (value: unknown): value is wire.CreatedScenario => hasTexts(value, ['scenario', 'release_id', 'content_id'])
export const isUpdated = (value: unknown): value is wire.UpdatedScenario => hasTexts(value, ['scenario', 'training_mode'])
export const isArchived = (value: unknown): value is wire.ArchivedScenario => hasTexts(value, ['scenario'])
export const isConfiguration = (value: unknown): value is wire.Configuration =>
  isListAt(value, 'keys', (row) => hasTexts(row, ['key', 'origin'])) && isListAt(value, 'recipes', (row) => hasTexts(row, ['name']))
export const isStatus = (value: unknown): value is StatusReport =>
  isData(value) && isData(value['scenarios']) && Object.values(value['scenarios']).every(isData) && isData(value['preload_errors'])
export const isFleet = (value: unknown): value is wire.Fleet =>
  isListAt(value, 'workers', (row) => hasTexts(row, ['name'])) &&
  isListAt(value, 'unplayable', (row) => hasTexts(row, ['scenario', 'reason'])) &&
  isData(value) &&
  isData(value['last_hour'])
export const isHealth = (value: unknown): value is { readonly ok: boolean } => isData(value) && typeof value['ok'] === 'boolean'

export const isTokenRow = (value: unknown): value is wire.TokenRow => hasTexts(value, ['name', 'role'])
export const isTokens = (value: unknown): value is { readonly tokens: readonly wire.ListedToken[] } => isListAt(value, 'tokens', isTokenRow)
export const isNewToken = (value: unknown): value is wire.NewToken => isTokenRow(value) && hasTexts(value, ['token'])
export const isSentAgain = (value: unknown): value is { readonly set_aside: number } => hasNumber(value, 'set_aside')
export const isRevoked = (value: unknown): value is { readonly name: string } => hasTexts(value, ['name'])
export const isCaller = (value: unknown): value is wire.Caller => hasTexts(value, ['kind'])
export const isSignInOffer = (value: unknown): value is wire.SignInOffer =>
  isData(value) && (value['sign_in'] === null || hasTexts(value['sign_in'], ['name', 'start_url']))
export const isForgotten = (value: unknown): value is wire.ForgottenPerson =>
  isListAt(value, 'places', (row) => hasTexts(row, ['place', 'searched'])) &&
  isListAt(value, 'receipts', (row) => hasTexts(row, ['scenario']))
export const isAudit = (value: unknown): value is wire.AuditList =>
  isListAt(value, 'audit', (row) => hasTexts(row, ['id', 'action']) && hasNumber(row, 'sequence'))

const isListAt = (value: unknown, field: string, isItem: (item: unknown) => boolean): boolean =>
  isData(value) && Array.isArray(value[field]) && value[field].every(isItem)
const hasTexts = (value: unknown, fields: readonly string[]): boolean => isData(value) && fields.every((name) => isText(value[name]))
const hasNumber = (value: unknown, field: string): boolean => isData(value) && typeof value[field] === 'number'
const isText = (value: unknown): value is string => typeof value === 'string'
export const isData = (value: unknown): value is Data => typeof value === 'object' && value !== null && !Array.isArray(value)
