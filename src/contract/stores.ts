/** The interfaces of stores. */
import type { MessagePort } from 'node:worker_threads'
import type { Fence, OpenDocuments } from './documents.ts'
import type { Refusal } from './errors.ts'
import type { FleetBoard } from './fleet.ts'
import type { JsonObject } from './json.ts'
import type { Commit, Files, Losses, NewRecord, PendingRecord, Release, StoredRecord } from './nouns.ts'
import type { ShareStore } from './shares.ts'
import type { Content } from './training.ts'
import type { AuditRow, ListedRecord, RecordExcerpt, RecordRow, RequestType, StoreUsage, TokenRow, TrainingMode } from './wire/index.ts'

/** Records and commits of every scenario. Every promise resolves only after what it says is on the disk. */
export interface Store {
  /** The scenarios that have a creation row and are not archived, by name. */
  scenarios(): Promise<readonly string[]>
  /** A handle; makes nothing. A scenario comes into being with its creation row. */
  scenario(name: string): ScenarioStore
  /**
   * Sets the scenario aside for good and frees its name. Tokens for it are for it no longer, those for nothing else are gone: a later scenario
   * of that name is another. Answers where it now is, relative to the store.
   */
  archive(name: string): Promise<string>
  usage(): Promise<StoreUsage>
  /** Called whenever capacity took bodies, with what it took. */
  onLoss(listener: (scenario: string, lost: Losses) => void): void
  /**
   * Calls the listener for every change that is durable, whoever made it, until the answer is called. The changes of one scenario come in
   * order, and one made here comes before its promise resolves. A change may be told twice; none is left untold: what is read after this
   * call, with what is told from then on, is everything. The listener must not throw.
   */
  follow(listener: (change: StoreChange) => void): () => void
  /** Takes a lease, or answers null while it is held, here or elsewhere. Every taking raises the token, also over restarts. */
  lease(name: string): Promise<StoreLease | null>
  readonly deployment: DeploymentStore
  /** Documents that every process with this store sees. Absent: they are files of this machine. */
  readonly documents?: OpenDocuments
  /** What all processes over this store may take together. Absent from a store of one process, which counts for itself. */
  readonly shares?: ShareStore
  /** Where all processes with this store see the episodes that workers play. Absent: each process has its own. */
  readonly fleet?: FleetBoard
  /** Those who serve over this store, and what they follow. Absent from a store of one process. */
  readonly members?: ServingMembers
  /** A port with which another thread of this process joins the store, once. Absent: only this thread can use it. */
  share?(): MessagePort
  /** How writing stands. Absent from a store that never refuses a write on its own account. */
  readonly writing?: Writing
  /** What an operator should know of the place that holds it. Absent: nothing is looked at. */
  remarks?(): Promise<readonly StoreRemark[]>
  /** Re-hashes everything kept and answers with what does not match. */
  verify(progress: (checked: number, total: number) => void): Promise<readonly Damage[]>
  /** Removes the records that have a tag, beside everything else that uses the store. Absent: it cannot while it is open. */
  forget?(order: ForgetOrder): Promise<Forgotten>
  close(): Promise<void>
}

export interface StoreRemark {
  readonly found: string
  readonly fix: string
}

/** The processes that serve over one store. One that ended or hangs for longer than a lease lasts is none of them. */
export interface ServingMembers {
  /** From here on the others wait for this process when they move a head. The name is shown to people. */
  join(name: string): Promise<void>
  /** This process serves the scenario as of that step, or would load it so. Returns at once: what comes close together is written together. */
  followed(scenario: string, step: number): void
  /**
   * Waits until all others follow the step, for as long as given. Answers the names of those that do not, which are most likely none; null
   * where nobody could be asked. Never throws: what is waited for is durable.
   */
  behind(scenario: string, step: number, milliseconds: number): Promise<readonly string[] | null>
}

/** What belongs to no scenario: the tokens, and the audit of what was done. */
export interface DeploymentStore {
  /** By name. */
  tokens(): Promise<readonly StoredToken[]>
  /** Makes, replaces or removes a token and adds the entry, together or not at all. A token that is not as given before is a conflict. */
  changeToken(change: TokenChange, entry: AuditEntry): Promise<void>
  /** Adds an entry. Nothing changes or removes one. An id that is there already adds nothing. */
  addAudit(entry: AuditEntry): Promise<void>
  /** Rows after a sequence, oldest first, or before one, newest first. Sequences count from 1, without gaps, as the rows become visible. */
  audit(page: AuditPage): Promise<readonly AuditRow[]>
}
export interface StoredToken extends TokenRow {
  /** SHA-256 of the secret, as hex. Belongs to one token alone. */
  readonly digest: string
}
export interface TokenChange {
  readonly name: string
  /** The digest that it has; null where there is none of that name. */
  readonly before: string | null
  /** Null removes it. */
  readonly after: StoredToken | null
}
/** The rest of a token once a scenario of its is archived; null where nothing is left. The token itself where it is for others. */
export function tokenWithout<T extends Pick<StoredToken, 'scenarios'>>(token: T, scenario: string): T | null {
  if (token.scenarios?.includes(scenario) !== true) return token
  const scenarios = token.scenarios.filter((name) => name !== scenario)
  return scenarios.length === 0 ? null : { ...token, scenarios }
}
export type AuditEntry = Omit<AuditRow, 'sequence'>
export type AuditPage = ({ readonly after: number } | { readonly before: number }) & { readonly limit: number }

export interface Writing {
  /** Why writes are refused now, or null. Answers within a second, also while the disk hangs. */
  check(): Promise<Refusal | null>
  /** Called whenever it changes. */
  onChange(listener: (trouble: Refusal | null) => void): void
}
export interface Damage {
  readonly scenario: string
  readonly agent_record_id: string
  readonly problem: string
}

/** Whose records are removed. */
export interface ForgetOrder {
  readonly tag: readonly [name: string, value: string]
  /** Only counts. */
  readonly isTrial: boolean
}
/** What was removed, and what was looked for afterwards, everywhere. */
export interface Forgotten {
  /** Exchanges and train requests with the tag. */
  readonly records: number
  /** Reports that quoted them. */
  readonly reports: number
  /** All of them, of scenarios that are not archived: what was made of a record is found by its id, and exported files by its sequence. */
  readonly ids: readonly ForgottenRecord[]
  /** Bodies of others that were stored against theirs, written anew. */
  readonly rewritten: number
  readonly scenarios: readonly string[]
  readonly places: readonly SearchedPlace[]
  /** Where something may be that nobody here can look for. */
  readonly unsearched?: readonly string[]
}
export interface ForgottenRecord {
  readonly scenario: string
  readonly agent_record_id: string
  readonly sequence: number
}
export interface SearchedPlace {
  readonly place: string
  readonly searched: string
  /** 0: nothing is left. */
  readonly found: number
}

/** Records are told together: once for all that became durable at the same time. */
export type StoreChange =
  | { readonly kind: 'created' | 'archived' | 'settings'; readonly scenario: string }
  /** A step after the creation. */
  | { readonly kind: 'landed'; readonly scenario: string; readonly step: number }
  | { readonly kind: 'appended'; readonly scenario: string; readonly types: readonly RequestType[] }
  /** Of the deployment. */
  | { readonly kind: 'tokens' }

/** The right to do something alone, until it is released or lost. */
export interface StoreLease extends Fence {
  /** Aborted when the lease is lost before its release: when the store closes, and when another holder may have it. */
  readonly signal: AbortSignal
  /** Lets the next one take it. May be repeated. */
  release(): Promise<void>
}

/** What was chosen at run time. Forgotten once the store is open nowhere, and with the scenario. */
export interface ScenarioSettings {
  /** Null: the configured one. */
  readonly training_mode: TrainingMode | null
}

export interface Appended {
  /** One for each record, in their order. */
  readonly rows: readonly RecordRow[]
  /** The scenario's newest step when they were written: a higher one than the caller knows means that it missed a landing. */
  readonly step: number
}

export interface ScenarioStore {
  /**
   * All or none, in order, in one transaction. An id already stored with the same content (everything but the time, compared as
   * canonical JSON) answers with the stored row, also after its body was evicted; with other content the whole call is refused
   * with a conflict naming the id.
   */
  append(records: readonly NewRecord[]): Promise<Appended>
  /** Which of these ids are stored, and as what. */
  types(ids: readonly string[]): Promise<ReadonlyMap<string, RequestType>>
  get(id: string): Promise<StoredRecord | null>
  records(page: RecordPage): Promise<readonly RecordRow[]>
  /**
   * Records of these types after that sequence that no step of the component consumed, oldest first, with what they quote. A page may
   * end early, and does rather than hold more than PENDING_PAGE_BYTES_MAX of bodies beyond its first record: only an empty one is the end.
   */
  pending(page: PendingPage): Promise<readonly PendingRecord[]>
  /**
   * The commit point: the row and what it consumed land together or not at all. A step that is not the one after the newest is a
   * conflict, and so is a record that a step of the same component consumed already. With a fence, it is a conflict once a later lease of
   * that name was taken; this is decided in the same transaction.
   */
  commit(commit: Commit, fence?: Fence): Promise<void>
  commits(page: CommitPage): Promise<readonly Commit[]>
  /** The newest row and the newest published one, in constant time; null before the creation row. */
  head(): Promise<ScenarioHead | null>
  /** Rows that made a release. Found by an index: rows without a release cost nothing. */
  chain(page: ChainPage): Promise<readonly Commit[]>
  /** The row that made that release first, by an index. */
  release(id: string): Promise<Commit | null>
  /** Puts totals beside rows, by step, in place of those there were. Steps without a row are left out. May be repeated at any time. */
  keepTotals(totals: ReadonlyMap<number, JsonObject>): Promise<void>
  losses(): Promise<Losses>
  /** Whether an earlier scenario of that name was archived. */
  hadEarlier(): Promise<boolean>
  /**
   * Removes bodies of records that were made before a time, the newest of them first, a few with each call, so that appends get their turn
   * between two calls. What stays of such a record is what stays of an evicted one. Absent from a store that cannot.
   */
  expire?(page: ExpiryPage): Promise<Expired>
  settings(): Promise<ScenarioSettings>
  /** Changes these settings. Followers are told also when nothing differs. */
  configure(changes: Partial<ScenarioSettings>): Promise<void>
  /** Absent from a store that cannot search. */
  readonly search?: RecordSearch
}

/** Finds records by what they say. What was appended may be found a little later; what was evicted or archived is found no longer. */
export interface RecordSearch {
  /** Newest first. A page may end early, and does rather than take long: only the one without a next is the last. */
  find(query: SearchQuery): Promise<FoundRecords>
  /** The first words of the records of these sequences, by sequence; without those whose body is gone. */
  excerpts(sequences: readonly number[]): Promise<ReadonlyMap<number, RecordExcerpt>>
}

/** A record must fit all that is given. */
export interface SearchQuery {
  /** Words, as `searchTerms` of the kit reads them: at least one of them is to be found. */
  readonly text?: string
  readonly type?: RequestType
  readonly model?: string
  /** The id of the release that served it. */
  readonly release?: string
  /** Of an exchange: whether its answer is whole. */
  readonly status?: 'complete' | 'broken_off'
  readonly tags?: readonly (readonly [name: string, value: string])[]
  /** Only reports that quote this record. */
  readonly quotes?: string
  /** Its own score, or else that of the newest report that quotes it. */
  readonly scoreMin?: number
  readonly scoreMax?: number
  /** Seconds since the epoch, both included. */
  readonly since?: number
  readonly until?: number
  /** Only sequences before this one. */
  readonly before: number
  readonly limit: number
}

export interface FoundRecords {
  /** With their excerpts. */
  readonly rows: readonly ListedRecord[]
  /** What `before` is for the next page; null at the end. */
  readonly next: number | null
  /** How many records of the scenario cannot be found yet. */
  readonly waiting: number
}

/** Rows after a sequence, oldest first, or before one, newest first. */
export type RecordPage = ({ readonly after: number } | { readonly before: number }) & {
  readonly limit: number
  readonly type?: RequestType
  /** Only exchanges whose summary names that session. Looked up, and never by reading through the others; goes with no type. */
  readonly session?: string
}

/** Rows after a step, oldest first, with ids only rows that consumed any of them; or before one, newest first. */
export type CommitPage =
  | { readonly after: number; readonly limit: number; readonly ids?: readonly string[] }
  | { readonly before: number; readonly limit: number }

export interface ScenarioHead {
  readonly newest: Commit
  /** The newest row with a release whose outcome is `published` and which is not pending. */
  readonly published: Commit | null
}

/** Rows after a step, oldest first, or before one, newest first. */
export type ChainPage = ({ readonly after: number } | { readonly before: number }) & {
  readonly limit: number
  /** Only rows that published their release, only rows that hold it for review, or only rows that published that release again. */
  readonly only?: 'published' | 'held' | { readonly target: string }
}

export interface ExpiryPage {
  /** Seconds since the epoch. */
  readonly madeBefore: number
  /** Only sequences below this one. */
  readonly below: number
}
export interface Expired extends Losses {
  /** What `below` is for the next call; null at the end. */
  readonly next: number | null
}

export interface PendingPage {
  readonly component: string
  readonly types: readonly RequestType[]
  readonly after: number
  readonly limit: number
}

/** Contents and releases: content is addressed by what it is, a release by when it was accepted. */
export interface ContentStore {
  /** Others write to it too, so a release without a row here is from somebody else. */
  readonly isShared?: boolean
  /** Equal content, equal id. Writing again is free. */
  write(content: Content): Promise<string>
  /** Its text files. A large or binary one reads as a few lines that name it. */
  read(contentId: string): Promise<Files>
  /**
   * A folder that holds the content's files as they were written, large ones too: engines load weights from there. Made once, then only
   * looked up; read-only to the caller.
   */
  unpack(contentId: string): Promise<string>
  /** A release of this content on that parent. Nothing serves it until a commit row names it. */
  seal(contentId: string, parent: Release | null, mark: SealMark): Promise<Release>
  /** The release of that id, or null when there is none here. */
  find(releaseId: string): Promise<Release | null>
  /** Makes the scenario's pointer name the release. Derived from the rows: may be repeated at any time. */
  point(scenario: string, release: Release): Promise<void>
  /** Keeps a release that waits for review reachable, without moving a pointer. May be repeated at any time. */
  hold(release: Release): Promise<void>
  /** Renames the scenario's pointer so that every release stays reachable. Answers the new name. Throws 'unsupported' for a remote. */
  archive(scenario: string, as: string): Promise<string>
  close(): Promise<void>
}
export interface SealMark {
  readonly step: number
  readonly operation: Commit['operation']
  readonly at: number
}

/** Objects by name, each written whole. */
export interface ObjectFolder {
  get(name: string): Promise<{ readonly bytes: Uint8Array; readonly tag: string } | null>
  /** False where one of that name is there: it stays. */
  create(name: string, bytes: Uint8Array): Promise<boolean>
  /** False where the one that is there has another tag. */
  replace(name: string, bytes: Uint8Array, tag: string): Promise<boolean>
  close(): Promise<void>
}
