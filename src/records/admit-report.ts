/** Admits reports: four fields are checked and kept; other top-level fields are dropped. */
import { invalid, isObject, type Json } from '../contract/index.ts'
import { reportBodySchema } from '../contract/wire/index.ts'
import { firstOf, joined, membersOf, type Span } from '../kit/index.ts'
import { parseAt, scoreOf, type RecordDraft } from './draft.ts'
import { checkShape } from './shape.ts'

/** Reads the report that begins at `start` in checked JSON. Its fields are stored as they were sent. */
export function draftReport(bytes: Buffer, at = '', start = firstOf(bytes)): RecordDraft {
  const texts = new Map<string, Span>()
  for (const member of membersOf(bytes, start)) if (member.key in reportBodySchema.shape) texts.set(member.key, member)
  const body = Object.fromEntries([...texts].map(([key, span]) => [key, parseAt(bytes, span)]))
  const { agent_record_id, references_to, ...fields } = checkShape(reportBodySchema, body, at)
  const references = fields.references ?? []
  refuseRepeated(references, at)
  refuseEligibility(fields.metadata ?? null, at)
  const kept = keptFields(fields).flatMap((key) => {
    const span = texts.get(key)
    return span === undefined ? [] : [[key, bytes.subarray(span.start, span.end)] as const]
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

/** Absent, null and empty mean the same. */
function keptFields(fields: Readonly<Record<string, Json | undefined>>): readonly string[] {
  return Object.entries(fields)
    .filter(([key, value]) => {
      const isEmpty = value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0)
      return !isEmpty || (key === 'feedback' && isObject(value))
    })
    .map(([key]) => key)
}

function refuseRepeated(references: readonly string[], at: string): void {
  const seen = new Set<string>()
  for (const [index, reference] of references.entries()) {
    if (seen.has(reference))
      throw invalid('repeated_reference', `${prefix(at)}references[${index}]: quotes a receipt twice; quote each once`)
    seen.add(reference)
  }
}

function refuseEligibility(metadata: Json | undefined, at: string): void {
  if (!isObject(metadata)) return
  const { training } = metadata
  if ('training.eligible' in metadata || (isObject(training) && 'eligible' in training))
    throw invalid('eligibility_removed', `${prefix(at)}metadata.training.eligible: was removed; a report cannot opt out of training`)
}

function prefix(at: string): string {
  return at === '' ? '' : `${at}.`
}
