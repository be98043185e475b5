/** Admits reports: four fields are checked and kept; other top-level fields are dropped. */
import { invalid, REPORT_REFERENCES_MAX, type Json } from '../contract/index.ts'
import { referencesTo, reportBodySchema } from '../contract/wire/index.ts'
import { cutOut, elementsOf, firstOf, isListAt, isObjectAt, joined, membersOf, type Span } from '../kit/index.ts'
import { parseAt, scoreOf, type RecordDraft } from './draft.ts'
import { checkShape } from './shape.ts'

/** Reads the report that begins at `start` in checked JSON. Its fields are stored as they were sent. */
export function draftReport(bytes: Buffer, at = '', start = firstOf(bytes)): RecordDraft {
  const texts = new Map<string, Span>()
  for (const member of membersOf(bytes, start)) if (member.key in reportBodySchema.shape) texts.set(member.key, member)
  const body = Object.fromEntries([...texts].map(([key, span]) => [key, fieldAt(bytes, key, span)]))
  const { agent_record_id, references_to, ...fields } = checkShape(reportBodySchema, body, at)
  const references = fields.references ?? []
  refuseRepeated(references, at)
  refuseEligibility(bytes, texts.get('metadata'), at)
  const kept = Object.entries(fields).flatMap(([key, value]) => {
    const span = texts.get(key)
    const isEmpty =
      value === null || span === undefined || (key === 'references' ? references.length === 0 : isEmptyMetadata(bytes, key, span))
    return isEmpty ? [] : [[key, bytes.subarray(span.start, span.end)] as const]
  })
  return {
    agent_record_id: agent_record_id ?? null,
    request_type: 'report',
    references,
    score: scoreOf(fields.score),
    payload: joined(bytes, { kept: [] }, new Map(kept)),
    ...(references_to !== undefined && references_to !== null && { about: references_to }),
    at: prefix(at),
  }
}

/** No deeper than it is checked: building millions of small values would take many times the memory of the body. */
function fieldAt(bytes: Buffer, key: string, span: Span): Json {
  if (key === 'references' && isListAt(bytes, span.start)) return referencesAt(bytes, span)
  if (key !== 'references_to' || !isObjectAt(bytes, span.start)) return kindAt(bytes, span)
  const values = membersAt(bytes, span, Object.keys(referencesTo.shape))
  return Object.fromEntries([...values].map(([name, value]) => [name, kindAt(bytes, value)]))
}

function referencesAt(bytes: Buffer, { start }: Span): readonly Json[] {
  const references: Json[] = []
  for (const element of elementsOf(bytes, start)) {
    references.push(kindAt(bytes, element))
    if (references.length > REPORT_REFERENCES_MAX) break
  }
  return references
}

/** The value; of an object or a list one that is empty. */
function kindAt(bytes: Buffer, span: Span): Json {
  if (isObjectAt(bytes, span.start)) return {}
  return isListAt(bytes, span.start) ? [] : parseAt(bytes, span)
}

/** Absent, null and empty mean the same; but an empty feedback was given. */
const isEmptyMetadata = (bytes: Buffer, key: string, { start }: Span): boolean =>
  key === 'metadata' && membersOf(bytes, start).next().done === true

function refuseRepeated(references: readonly string[], at: string): void {
  const seen = new Set<string>()
  for (const [index, reference] of references.entries()) {
    if (seen.has(reference))
      throw invalid('repeated_reference', `${prefix(at)}references[${index}]: quotes a receipt twice; quote each once`)
    seen.add(reference)
  }
}

function refuseEligibility(bytes: Buffer, metadata: Span | undefined, at: string): void {
  const found = membersAt(bytes, metadata, ['training', 'training.eligible'])
  if (found.has('training.eligible') || membersAt(bytes, found.get('training'), ['eligible']).has('eligible'))
    throw invalid('eligibility_removed', `${prefix(at)}metadata.training.eligible: was removed; a report cannot opt out of training`)
}

/** Those of these keys; none of a value that is no object. */
function membersAt(bytes: Buffer, span: Span | undefined, keys: readonly string[]): ReadonlyMap<string, Span> {
  return span !== undefined && isObjectAt(bytes, span.start) ? cutOut(bytes, keys, span.start).values : new Map()
}

function prefix(at: string): string {
  return at === '' ? '' : `${at}.`
}
