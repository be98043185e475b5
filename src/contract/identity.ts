/** What makes two values, and two records, the same, for every store alike. */
import { hash } from 'node:crypto'
import type { Json, JsonObject, NewRecord } from './nouns.ts'

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** JSON with keys sorted at every depth and no white space: equal values, equal text. */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (!isObject(value)) return JSON.stringify(value)
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`).join(',')}}`
}

/** SHA-256 in hex of what a resent record must equal: each field but the time. The scenario is not in it: ids are a scenario's own. */
export function contentDigest(record: Omit<NewRecord, 'created_at'>): string {
  const payload: Json = JSON.parse(Buffer.from(record.payload).toString())
  const { agent_record_id, request_type, references, artifact_ref } = record
  return hash('sha256', canonicalJson({ agent_record_id, request_type, references, artifact_ref, payload }))
}
