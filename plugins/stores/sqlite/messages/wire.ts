/** What the main thread and the store's threads say to each other: flat enough to cross cheaply, typed enough to trust. */
import type { MessagePort } from 'node:worker_threads'
import {
  Refusal,
  type AuditEntry,
  type AuditPage,
  type AuditRow,
  type ChainPage,
  type Commit,
  type CommitPage,
  type ExpiryPage,
  type Fence,
  type FoundRecords,
  type JsonObject,
  type Losses,
  type NewRecord,
  type PendingPage,
  type PendingRecord,
  type RecordExcerpt,
  type RecordPage,
  type RecordRow,
  type RefusalKind,
  type RequestType,
  type ScenarioHead,
  type ScenarioSettings,
  type SearchQuery,
  type StoreChange,
  type StoredRecord,
  type StoredToken,
  type StoreUsage,
  type TokenChange,
} from '../../../../src/contract/index.ts'
import type { SealSettings } from '../../common/seal.ts'
import type { Carriers } from './carriers.ts'

export interface StoreSettings extends SealSettings {
  readonly directory: string
  readonly capacityBytes: number
  readonly lockWaitMs: number
}

/** A longer group would make its first waiter wait for its last. One call may be larger than this. */
export const GROUP_BYTES_MAX = 16 * 1024 * 1024

/** What a thread is told besides calls: another thread uses it too, or this one no longer. */
export type ThreadOrder = 'close' | { readonly joined: MessagePort }

// ── to the writer ────────────────────────────────────────────────────────────────────────────

/** A record without its payload, as a list: a list of primitives costs about a quarter less to clone between threads than an object. */
export type WireRecord = readonly [
  id: string,
  type: RequestType,
  createdAt: number,
  /** JSON; null for none. */
  references: string | null,
  artifactRef: string | null,
  score: number | null,
  payloadBytes: number,
  /** JSON; null for none. */
  summary: string | null,
]

/** The offset is where the first payload begins in the group's bytes. */
export type WireAppend = readonly [scenario: string, offset: number, records: readonly WireRecord[]]

export type WriterCall =
  | { readonly op: 'append'; readonly scenario: string; readonly records: readonly NewRecord[] }
  | { readonly op: 'totals'; readonly scenario: string; readonly totals: ReadonlyMap<number, JsonObject> }
  | { readonly op: 'commit'; readonly scenario: string; readonly commit: Commit; readonly fence?: Fence }
  | { readonly op: 'configure'; readonly scenario: string; readonly changes: Partial<ScenarioSettings> }
  | { readonly op: 'expire'; readonly scenario: string; readonly sequences: readonly number[] }
  | { readonly op: 'empty'; readonly scenario: string; readonly sequences: readonly number[] }
  | { readonly op: 'lease'; readonly name: string }
  | ({ readonly op: 'release' } & Fence)
  | { readonly op: 'token'; readonly change: TokenChange; readonly entry: AuditEntry }
  | { readonly op: 'note'; readonly entry: AuditEntry }
  | { readonly op: 'archive_begin'; readonly scenario: string; readonly archive: string }
  | { readonly op: 'archive_finish'; readonly key: number }
  | { readonly op: 'archive_abandon'; readonly key: number }

export interface WriterAnswers {
  append: AppendAnswer
  commit: null
  totals: null
  configure: null
  expire: ExpireAnswer
  empty: EmptyAnswer
  /** The token; null while somebody holds it. */
  lease: number | null
  release: null
  token: null
  note: null
  archive_begin: number
  archive_finish: null
  archive_abandon: null
}

export type WireCall = WireAppend | Exclude<WriterCall, { op: 'append' }>

/** Everything that waited when the writer got free. The payloads lie back to back in shared memory, which the writer reads until it answers. */
export interface WireGroup {
  readonly calls: readonly WireCall[]
  readonly bytes: SharedArrayBuffer
  /** How much of it the payloads take. */
  readonly byteLength: number
}

/** For an append: the first sequence when every record is new; otherwise, per record, its new sequence or the row already stored. */
export type AppendAnswer = readonly [step: number, rows: number | readonly (number | RecordRow)[]]

/** What was removed. `below` is null when all of them are; otherwise the turn is over, and those below it are left. */
export interface ExpireAnswer extends Losses {
  readonly below: number | null
}

/** How many of the records were emptied, in their order: fewer than asked for where the turn is over. */
export interface EmptyAnswer {
  readonly emptied: number
  readonly rewritten: number
}

export type LossNotice = readonly (readonly [scenario: string, lost: Losses])[]

export function payloadBytes(records: readonly NewRecord[]): number {
  let total = 0
  for (const record of records) for (const piece of piecesOf(record)) total += piece.byteLength
  return total
}

const piecesOf = (record: NewRecord): readonly Uint8Array[] => record.pieces ?? [record.payload]

export function packGroup(calls: readonly WriterCall[], carriers: Pick<Carriers, 'take'>): WireGroup {
  let total = 0
  for (const call of calls) if (call.op === 'append') total += payloadBytes(call.records)
  const carrier = carriers.take(total)
  const bytes = Buffer.from(carrier)
  let offset = 0
  const packed = calls.map((call): WireCall => {
    if (call.op !== 'append') return call
    const begin = offset
    const records = call.records.map((record) => {
      const first = offset
      for (const piece of piecesOf(record)) {
        copyInto(bytes, piece, offset)
        offset += piece.byteLength
      }
      return wireRecord(record, offset - first)
    })
    return [call.scenario, begin, records]
  })
  return { calls: packed, bytes: carrier, byteLength: total }
}

/** `set` and `copy` take fifteen times as long into shared memory, word by word; `fill` moves the whole piece. */
function copyInto(shared: Buffer, piece: Uint8Array, offset: number): void {
  if (piece.byteLength > 0) shared.fill(piece, offset, offset + piece.byteLength)
}

function wireRecord(record: NewRecord, payloadLength: number): WireRecord {
  const { agent_record_id, request_type, created_at, references, artifact_ref, score, summary } = record
  const quoted = references.length === 0 ? null : JSON.stringify(references)
  return [
    agent_record_id,
    request_type,
    created_at,
    quoted,
    artifact_ref,
    score,
    payloadLength,
    summary === undefined ? null : JSON.stringify(summary),
  ]
}

// ── to the reader ────────────────────────────────────────────────────────────────────────────

export type ReaderCall =
  | { readonly op: 'scenarios' }
  | { readonly op: 'usage' }
  | { readonly op: 'types'; readonly scenario: string; readonly ids: readonly string[] }
  | { readonly op: 'get'; readonly scenario: string; readonly id: string }
  | ({ readonly op: 'records'; readonly scenario: string } & RecordPage)
  | ({ readonly op: 'pending'; readonly scenario: string } & PendingPage)
  | ({ readonly op: 'commits'; readonly scenario: string } & CommitPage)
  | { readonly op: 'head'; readonly scenario: string }
  | ({ readonly op: 'chain'; readonly scenario: string } & ChainPage)
  | { readonly op: 'release'; readonly scenario: string; readonly id: string }
  | { readonly op: 'losses'; readonly scenario: string }
  | { readonly op: 'had_earlier'; readonly scenario: string }
  | ({ readonly op: 'expired'; readonly scenario: string } & ExpiryPage)
  | { readonly op: 'settings'; readonly scenario: string }
  | { readonly op: 'tokens' }
  | ({ readonly op: 'audit' } & AuditPage)

/** Records of a page that are old enough and have their body, the newest first, and where the next page begins. */
export interface ExpiredRows {
  readonly sequences: readonly number[]
  readonly next: number | null
}

export interface ReaderAnswers {
  scenarios: readonly string[]
  usage: Omit<StoreUsage, 'capacity_bytes'>
  types: ReadonlyMap<string, RequestType>
  get: StoredRecord | null
  records: readonly RecordRow[]
  pending: readonly PendingRecord[]
  commits: readonly Commit[]
  head: ScenarioHead | null
  chain: readonly Commit[]
  release: Commit | null
  losses: Losses
  had_earlier: boolean
  expired: ExpiredRows
  settings: ScenarioSettings
  tokens: readonly StoredToken[]
  audit: readonly AuditRow[]
}

// ── to the threads of the search ─────────────────────────────────────────────────────────────

export type SearcherCall =
  | { readonly op: 'find'; readonly scenario: string; readonly query: SearchQuery }
  | { readonly op: 'excerpts'; readonly scenario: string; readonly sequences: readonly number[] }

export interface SearcherAnswers {
  find: FoundRecords
  excerpts: ReadonlyMap<number, RecordExcerpt>
}

// ── back ─────────────────────────────────────────────────────────────────────────────────────

/** A group's answers in the order of its calls, with what it changed, or what the thread says unasked. */
export interface StoreAnswers {
  readonly answers: readonly unknown[]
  readonly changes?: readonly StoreChange[]
}
export type StoreReply = StoreAnswers | Notice
export type Notice = { readonly changes: readonly StoreChange[] } | { readonly lost: LossNotice } | { readonly trouble: WireRefusal | null }

export interface WireRefusal {
  readonly refused: RefusalKind
  readonly code: string
  readonly message: string
  readonly retryAfterSeconds?: number
  /** What the disk said, for the log. */
  readonly cause?: string
}

export const toWire = ({ kind, code, message, cause, detail: { retryAfterSeconds } }: Refusal): WireRefusal => ({
  refused: kind,
  code,
  message,
  ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  ...(cause instanceof Error && { cause: cause.message }),
})
export const fromWire = ({ refused, code, message, retryAfterSeconds, cause }: WireRefusal): Refusal =>
  new Refusal(refused, code, message, {
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(cause !== undefined && { cause: new Error(cause) }),
  })
export const isRefused = (answer: unknown): answer is WireRefusal =>
  typeof answer === 'object' && answer !== null && Object.hasOwn(answer, 'refused')
