/** Records for the processor suite. */
import type { Json, JsonObject, PendingRecord, QuotedRecord } from '../src/contract/index.ts'

type Pending = Partial<PendingRecord>

/** An exchange whose payload holds its id. */
export function exchange(agent_record_id: string, change: Pending = {}): PendingRecord {
  const usual = { sequence: 1, request_type: 'inference', created_at: 1.5, references: [], artifact_ref: 'release', score: null } as const
  return { agent_record_id, ...usual, payload: json({ exchange: agent_record_id }), quoted: [], ...change }
}

/** A minimal report that quotes these exchanges, with the given fields. */
export function report(
  agent_record_id: string,
  references: readonly string[],
  fields: JsonObject = {},
  change: Pending = {},
): PendingRecord {
  const { score } = fields
  return exchange(agent_record_id, {
    request_type: 'report',
    artifact_ref: null,
    references,
    quoted: references.map(quoted),
    score: typeof score === 'number' ? score : null,
    payload: json({ ...fields, references }),
    ...change,
  })
}

export const json = (value: Json): Uint8Array => new TextEncoder().encode(JSON.stringify(value))

function quoted(id: string): QuotedRecord {
  const { quoted: _none, ...record } = exchange(id)
  return { ...record, consumed: false }
}
