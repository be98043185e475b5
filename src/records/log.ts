/** Stores admitted records once, in order, after checking that each quoted receipt is an inference of this scenario. */
import { invalid, type NewRecord, type RecordRow, type RequestType } from '../contract/index.ts'

/** The prefix of the field names of the record at that index, for messages. */
export type FieldPrefix = (index: number) => string

/** A scenario, as far as records are concerned. */
export interface RecordTarget {
  types(ids: readonly string[]): Promise<ReadonlyMap<string, RequestType>>
  append(records: readonly NewRecord[]): Promise<readonly RecordRow[]>
}

/** The store decides about an id that exists already: identical content answers the stored row, other content is a conflict. */
export async function appendRecords(store: RecordTarget, records: readonly NewRecord[], place: FieldPrefix): Promise<readonly RecordRow[]> {
  const isQuoting = records.some((record) => record.references.length > 0)
  if (isQuoting) checkReferences(await store.types(idsIn(records)), records, place)
  return store.append(records)
}

/** The first records of a scenario that does not exist yet can quote only each other. This is checked before the scenario is created. */
export function checkFirstRecords(records: readonly NewRecord[], place: FieldPrefix): void {
  checkReferences(new Map(), records, place)
}

function idsIn(records: readonly NewRecord[]): readonly string[] {
  return [...new Set(records.flatMap((record) => [record.agent_record_id, ...record.references]))]
}

function checkReferences(stored: ReadonlyMap<string, RequestType>, records: readonly NewRecord[], place: FieldPrefix): void {
  const types = new Map(stored)
  for (const [index, record] of records.entries()) {
    if (stored.has(record.agent_record_id)) continue
    for (const [at, reference] of record.references.entries()) refuseUnless(types.get(reference), `${place(index)}references[${at}]`)
    types.set(record.agent_record_id, record.request_type)
  }
}

function refuseUnless(type: RequestType | undefined, place: string): void {
  if (type === undefined)
    throw invalid('unknown_reference', `${place}: is not a stored receipt of this scenario; send the inference first, then the report`)
  if (type !== 'inference') throw invalid('not_an_inference', `${place}: is a ${type}; quote the receipt of an inference`)
}
