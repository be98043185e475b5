/** What is done with a body before anyone acts on it. Plain data in, plain data out: the same on this thread and on another. */
import { invalid, isObject, JSON_DEPTH_MAX, LINE_JSON_DEPTH_MAX, type Json, type JsonObject } from '../../contract/index.ts'
import { outlineOf, taggedPayload, type Outline, type Tags } from '../../inference/index.ts'
import { faultInJson, firstOf, isObjectAt, type JsonFault, type JsonRules } from '../../kit/index.ts'
import { draftBatch, draftImport, draftReport, type RecordDraft } from '../../records/index.ts'
import { parseStrictObject } from './strict-json.ts'

export type Job =
  /** A body of the inference line: what is read of it, and what a record has of it. */
  | { readonly kind: 'outline'; readonly tags: Tags }
  | { readonly kind: 'report' | 'import' | 'batch'; readonly tags: Tags }
  /** A body of our own routes that is checked and then parsed where it is needed. */
  | { readonly kind: 'strict' }

export interface Findings {
  outline: Outline
  report: readonly RecordDraft[]
  import: readonly RecordDraft[]
  batch: readonly RecordDraft[]
  strict: null
}

const LINE: JsonRules = { depthMax: LINE_JSON_DEPTH_MAX, uniqueKeys: false }
const OWN: JsonRules = { depthMax: JSON_DEPTH_MAX, uniqueKeys: true }

export function doJob(job: Job, bytes: Buffer): Findings[Job['kind']] {
  switch (job.kind) {
    case 'outline':
      requireObject(bytes, LINE)
      return outlineOf(bytes, job.tags)
    case 'strict':
      parseStrictObject(bytes)
      return null
    default:
      requireObject(bytes, OWN)
      return drafts(job.kind, bytes, job.tags)
  }
}

function drafts(kind: 'report' | 'import' | 'batch', bytes: Buffer, tags: Tags): readonly RecordDraft[] {
  const tag = (payload: Buffer): Buffer => taggedPayload(payload, tags)
  if (kind === 'batch') return draftBatch(bytes, tag)
  return [kind === 'import' ? draftImport(bytes, tag) : draftReport(bytes)]
}

function requireObject(bytes: Buffer, rules: JsonRules): void {
  const fault = faultInJson(bytes, rules)
  if (fault !== null) throw refusalOf(fault, rules)
  if (!isObjectAt(bytes, firstOf(bytes))) throw notAnObject()
}

const KEY_CHARACTERS_SHOWN = 80

function refusalOf(fault: JsonFault, { depthMax }: JsonRules): Error {
  switch (fault.kind) {
    case 'not_utf8':
      return invalid('malformed_json', 'the body is not valid UTF-8; send JSON encoded as UTF-8')
    case 'malformed':
      return invalid('malformed_json', `the body is not valid JSON (at position ${fault.at}); send one JSON object`)
    case 'too_deep':
      return invalid('nested_too_deep', `the body is nested deeper than ${depthMax} levels; flatten it`)
    default: {
      const shown = fault.key.slice(0, KEY_CHARACTERS_SHOWN).toWellFormed()
      return invalid('repeated_key', `the key ${JSON.stringify(shown)} stands twice in one object; send it once`)
    }
  }
}

const notAnObject = (): Error => invalid('malformed_json', 'the body must be a JSON object')

/** The object that checked bytes hold. */
export function parseChecked(bytes: Buffer): JsonObject {
  const value: Json = JSON.parse(bytes.toString())
  if (!isObject(value)) throw notAnObject()
  return value
}
