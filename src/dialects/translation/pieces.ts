/** An answer between two formats, in the order it is said, whole or in pieces. */
import type { JsonObject } from '../../contract/index.ts'

export type AnswerPiece =
  | { readonly kind: 'begin'; readonly id: string | null; readonly model: string | null; readonly createdSeconds: number | null }
  /** More of what is said. */
  | { readonly kind: 'text' | 'thinking' | 'refusal'; readonly text: string }
  /** A call opens; its input follows in pieces of JSON text. One call is open at a time. */
  | { readonly kind: 'call'; readonly id: string | null; readonly name: string }
  | { readonly kind: 'input'; readonly text: string }
  | { readonly kind: 'called' }
  | { readonly kind: 'usage'; readonly usage: Usage }
  /** The counts may still follow. */
  | { readonly kind: 'end'; readonly reason: AnswerEnd; readonly sequence?: string }
  | { readonly kind: 'failure'; readonly message: string; readonly code?: string }
  /** Nothing more is said. */
  | { readonly kind: 'over' }

export type AnswerEnd = 'end' | 'stop' | 'length' | 'call' | 'refusal'

/** Null: the upstream does not count it. */
export interface Usage {
  /** With what came from the cache or went into it. */
  readonly input: number | null
  readonly cacheRead: number | null
  readonly cacheWrite: number | null
  /** With what was only thought. */
  readonly output: number | null
  readonly thought: number | null
}

export const NO_USAGE: Usage = { input: null, cacheRead: null, cacheWrite: null, output: null, thought: null }

/** Hears what an upstream says. */
export interface PieceReader {
  /** An event of a stream, its data parsed; null for data that is no object. */
  take(event: JsonObject | null, data: string): Iterable<AnswerPiece>
  /** An answer that came whole. */
  takeWhole(answer: JsonObject): Iterable<AnswerPiece>
  /** The stream ended by itself. */
  close(): Iterable<AnswerPiece>
}

/** Says it to a client, as the frames of its format. */
export interface PieceWriter {
  say(said: AnswerPiece): Iterable<Buffer>
}

export interface AnswerListener {
  /** What the client asked. */
  readonly request: JsonObject
  readonly model: string
  /** What ids are made of where the upstream gives none. */
  readonly id: string
  readonly nowSeconds: number
  /** By name. */
  readonly tools: ReadonlyMap<string, { readonly isCustom: boolean; readonly namespace: string | null }>
}

/** A count that a provider may lie about. */
export function countAt(usage: JsonObject, name: string): number | null {
  const count = usage[name]
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : null
}

/** Null where no part is known. */
export const sumOf = (...counts: readonly (number | null)[]): number | null =>
  counts.every((count) => count === null) ? null : counts.reduce<number>((sum, count) => sum + (count ?? 0), 0)
