/** What several kinds of records share. */
import type { Json, JsonObject } from '../contract/index.ts'
import type { Span } from '../kit/index.ts'

/** The score that the list routes show: the payload's, when it is a number. */
export function scoreOf(score: Json | undefined): number | null {
  return typeof score === 'number' && Number.isFinite(score) ? score : null
}

export function encode(payload: JsonObject): Uint8Array {
  return Buffer.from(JSON.stringify(payload))
}

export function parseAt(bytes: Buffer, { start, end }: Span): Json {
  const value: Json = JSON.parse(bytes.toString('utf8', start, end))
  return value
}
