/** A report on its way in: four fields are kept, each checked; everything else at the top is dropped. */
import { z } from 'zod'
import { invalid, isObject, REPORT_REFERENCES_MAX, type Json, type JsonObject, type NewRecord } from '../contract/index.ts'
import { encode, jsonObject, recordId, scoreOf } from './fields.ts'
import { checkShape } from './shape.ts'

/** What admission needs of the service and of the scenario's recipe. */
export interface Admission {
  readonly newId: () => string
  readonly clock: () => number
  readonly checkReport?: (report: JsonObject) => string | null
}

export const reportBody = z.object({
  agent_record_id: recordId.optional(),
  score: z.number({ error: 'must be a finite number; leave it out when there is none' }).nullish(),
  feedback: z.union([z.string(), jsonObject], { error: 'must be a string or an object' }).nullish(),
  references: z
    .array(recordId, { error: 'must be a list of receipts' })
    .max(REPORT_REFERENCES_MAX, { error: `must quote at most ${REPORT_REFERENCES_MAX} receipts; send several reports` })
    .meta({ uniqueItems: true })
    .nullish(),
  metadata: jsonObject.nullish(),
})

export function admitReport(body: JsonObject, admission: Admission, at = ''): NewRecord {
  const { agent_record_id, ...fields } = checkShape(reportBody, body, at)
  const references = fields.references ?? []
  refuseRepeated(references, at)
  const payload = keptFields({ ...fields, references })
  refuseEligibility(payload['metadata'], at)
  const problem = admission.checkReport?.(payload) ?? null
  if (problem !== null) throw invalid('report_schema', `${prefix(at)}${problem}`)
  return {
    agent_record_id: agent_record_id ?? admission.newId(),
    request_type: 'report',
    created_at: admission.clock(),
    references,
    artifact_ref: null,
    score: scoreOf(payload),
    payload: encode(payload),
  }
}

/** Absent, null and empty are one and the same report. */
function keptFields(fields: Readonly<Record<string, Json | undefined>>): JsonObject {
  const kept: Record<string, Json> = {}
  for (const [key, value] of Object.entries(fields)) {
    const isEmpty = value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0)
    if (!isEmpty || (key === 'feedback' && isObject(value))) kept[key] = value ?? null
  }
  return kept
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
