/** What makes two values, and two records, the same, for every store alike. */
import { hash } from 'node:crypto'
import type { Json } from './json.ts'
import type { NewRecord } from './nouns.ts'
import type { RecordRow } from './wire/index.ts'

/** JSON with keys sorted at every depth and no white space: equal values, equal text. */
export function canonicalJson(value: Json): string {
  return printed(value)
}

/**
 * SHA-256 in hex of what a resent record must equal: each field but the time. The scenario is not in it: ids are a scenario's own. A payload
 * that cannot be walked (nested deeper than the stack reaches, or no JSON) counts by its bytes.
 */
export function contentDigest(record: Omit<NewRecord, 'created_at'>): string {
  const { agent_record_id, request_type, references, artifact_ref } = record
  try {
    const payload = parseExactly(Buffer.from(record.payload.buffer, record.payload.byteOffset, record.payload.byteLength).toString())
    return hash('sha256', printed({ agent_record_id, request_type, references, artifact_ref, payload }))
  } catch {
    return hash('sha256', JSON.stringify([agent_record_id, request_type, references, artifact_ref, hash('sha256', record.payload)]))
  }
}

/** The row of a new record. Its payload is not read: it may not be joined yet. */
export function rowOf(record: NewRecord, sequence: number): RecordRow {
  const { agent_record_id, request_type, created_at, references, artifact_ref, score, summary } = record
  const row = { sequence, agent_record_id, request_type, created_at, references, artifact_ref, score }
  return summary === undefined ? row : { ...row, summary }
}

/** JSON in which a number that no double holds stands as it was written. */
type ExactJson = null | boolean | number | string | ExactNumber | readonly ExactJson[] | { readonly [key: string]: ExactJson }

class ExactNumber {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

function printed(value: ExactJson): string {
  if (value instanceof ExactNumber) return value.text
  if (isList(value)) return `[${value.map(printed).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${printed(member)}`).join(',')}}`
}

/** `Array.isArray` does not narrow read-only lists. */
const isList = (value: ExactJson): value is readonly ExactJson[] => Array.isArray(value)

/** A number that may lose digits is long or has an exponent; without one in sight nothing needs a second look. */
const MAY_LOSE_DIGITS = /\d[\d.]{15}|\d[eE]/

function parseExactly(text: string): ExactJson {
  const value: ExactJson = MAY_LOSE_DIGITS.test(text) ? JSON.parse(text, reviveExactly) : JSON.parse(text)
  return value
}

function reviveExactly(_key: string, value: ExactJson, context?: { readonly source?: string }): ExactJson {
  return typeof value === 'number' && context?.source !== undefined ? exactly(value, context.source) : value
}

/** The double where it is the number that was written, however that was spelt; otherwise every digit of it, spelt in one way. */
function exactly(value: number, source: string): ExactJson {
  const usual = JSON.stringify(value)
  if (usual === source) return value
  const spelt = decimal(source)
  return Number.isFinite(value) && decimal(usual) === spelt ? value : new ExactNumber(spelt)
}

const EXPONENT_CHARACTERS_MAX = 15

/** Sign, digits without zeros around them, and the power of ten: 1, 1.0 and 10e-1 are one number. */
function decimal(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  const digits = `${whole}${fraction}`
  const first = digits.search(/[1-9]/)
  if (first === -1) return '0'
  // A power that no double counts exactly stays as it was written.
  if (exponent.length > EXPONENT_CHARACTERS_MAX) return text
  let end = digits.length
  while (digits[end - 1] === '0') end -= 1
  return `${sign}${digits.slice(first, end)}e${Number(exponent) - fraction.length + digits.length - end}`
}
