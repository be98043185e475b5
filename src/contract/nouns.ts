/** The nouns of the service that are no wire shape of their own. Stored shapes keep the interface's own spelling. */
import type { Json, JsonObject } from './json.ts'
import type { Format } from './names.ts'
import type { StepOutcome } from './outcomes.ts'
import type { RecordingMode } from './recording.ts'
import type { Role } from './roles.ts'
import type { ModelApi, Operation, RecordRow, Requires } from './wire/index.ts'

/** The provider format a call speaks. Counting tokens is a call of its own: it is never streamed. */
export type Dialect =
  | 'chat'
  | 'responses'
  | 'responses_count_tokens'
  | 'responses_compact'
  | 'messages'
  | 'count_tokens'
  | 'gemini'
  | 'gemini_count_tokens'

// ── records ──────────────────────────────────────────────────────────────────────────────────

/** A record on its way in. The payload is JSON text already, so that it is not parsed or printed again on the way to the disk. */
export interface NewRecord extends Omit<RecordRow, 'sequence'> {
  /** A JSON object in UTF-8. */
  readonly payload: Uint8Array
  /** The same bytes in pieces, where they were not joined yet. A store that copies the payload anyway takes these, and does not read `payload`. Once `append` has resolved their memory is the caller's again. */
  readonly pieces?: readonly Uint8Array[]
  /** The mode that its request began with. Absent: that of its scenario now. Settled before a store sees the record. */
  readonly recording?: RecordingMode
}

/** A record read back whole. The payload is null once the body was evicted, by capacity or by its age. */
export interface StoredRecord extends RecordRow {
  readonly payload: Uint8Array | null
}

/** A record that no step has consumed yet, with what it quotes, as the training worker reads it. */
export interface PendingRecord extends StoredRecord {
  /** In the order quoted. */
  readonly quoted: readonly QuotedRecord[]
  /** Together with what it quotes it is more than PENDING_RECORD_BYTES_MAX: no payload of it was read. */
  readonly too_large?: true
}
export interface QuotedRecord extends StoredRecord {
  /** A step of the same component consumed it already. */
  readonly consumed: boolean
}

/** What capacity took from a scenario so far. Durable: it survives restarts. */
export interface Losses {
  readonly records: number
  readonly bytes: number
}

// ── releases ─────────────────────────────────────────────────────────────────────────────────

/** Path to text: a rendered tree, a seed, a step archive. */
export type Files = Readonly<Record<string, string>>

export interface Release {
  readonly release_id: string
  readonly parent_release_id: string | null
  /** Equal content, equal id, and the other way round. */
  readonly content_id: string
  /** One content id per component; absent for a release of a single content. */
  readonly components?: Readonly<Record<string, string>>
}

/** One row of a scenario's history: the only truth about its releases. Step 0 creates the scenario. */
export interface Commit {
  readonly step: number
  readonly operation: Operation
  readonly recorded_at: number
  /** What this step published, holds for review or rejected; null when there is none. */
  readonly release: Release | null
  readonly pending: boolean
  readonly outcome: StepOutcome
  readonly consumed_ids: readonly string[]
  readonly metrics: JsonObject
  /** On promote and rollback: the release whose content was republished. On a withdrawal and a rejection: the release that it ends. */
  readonly rollback_target_release_id?: string
  /** In a scenario of several trainers: whose step this was. */
  readonly component?: string
  /** What the service and the method need to go on after a restart. Never shown. */
  readonly state: JsonObject
  /** Running totals of the rows up to this one: derived from them, small, and of no meaning to a store. Absent until somebody worked them out. */
  readonly totals?: JsonObject
}

// ── harness ──────────────────────────────────────────────────────────────────────────────────

export interface Entry {
  readonly id: string
  readonly name: string
  readonly config: JsonObject
  readonly disabled?: boolean
  /** Who wrote it. Absent: not known. */
  readonly author?: EntryAuthor
  /** A person protected it in the seed. */
  readonly protected?: boolean
}
/** A person wrote the seed and requests, a proposer what it learned from traffic, an agent its proposals. */
export type EntryAuthor = 'person' | 'traffic' | 'agent'
/** What a mutation may say of an entry. */
type EntryOptions = Pick<Entry, 'name' | 'config' | 'disabled'>
export type Mutation =
  | { readonly op: 'create'; readonly id: string; readonly options: EntryOptions }
  /** What is left out stays as it was. */
  | { readonly op: 'update'; readonly id: string; readonly options: Partial<EntryOptions> }
  | { readonly op: 'remove'; readonly id: string }

// ── training ─────────────────────────────────────────────────────────────────────────────────

export interface TrainRequest {
  readonly id: string
  readonly text: string
  readonly session: string
  readonly release_id: string
  readonly requires: readonly Requires[]
  readonly client?: JsonObject
  /** The token that it was asked for with, where that is not one of the configuration. */
  readonly asked_by?: { readonly token: string; readonly role: Role }
}
/** One unit of experience: a report with the exchanges it quotes, in the order quoted, or a record that stands for itself. */
export interface Sample<Exchange = JsonObject> {
  /** Everything this unit consumes: the report and what it quotes. */
  readonly record_ids: readonly string[]
  readonly exchanges: readonly Exchange[]
  readonly score: number | null
  readonly feedback: Json
  /** The benchmark task the episode played, when the report named one. */
  readonly task?: JsonObject
  /** Samples that were collected together are compared only inside their group. */
  readonly group?: string
}
/** A unit before it crosses to its trainer: exchanges are the JSON text they were stored as, unparsed. */
export type StoredSample = Sample<Uint8Array>

export interface Batch<Exchange = JsonObject> {
  readonly id: string
  readonly samples: readonly Sample<Exchange>[]
  readonly request: TrainRequest | null
}

// ── models ───────────────────────────────────────────────────────────────────────────────────

/** Where a model answers, and how to ask it. */
export interface ModelAddress {
  readonly url: string
  readonly model: string | null
  readonly api: ModelApi
  readonly apiKey: string | null
  /** Names of configured upstreams, of which one is chosen for each call; url and key are those of the first choice. Absent: there is the one. */
  readonly upstreams?: readonly string[]
  /** What the one upstream speaks, the best first: calls in other formats are translated. Absent: every call goes as it came. */
  readonly formats?: readonly Format[]
}
