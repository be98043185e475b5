/** Keeps admitted records once, in order, after checking that each quoted receipt is an inference of this scenario. */
import { invalid, type NewRecord, type RecordRow, type RequestType, type ScenarioStore } from '../contract/index.ts'

/** Where the record at that index stands in the body, for messages. */
export type Place = (index: number) => string

/** An id that is stored already is the store's to judge: identical content answers with the stored row, other content is a conflict. */
export async function appendRecords(
  store: Pick<ScenarioStore, 'types' | 'append'>,
  records: readonly NewRecord[],
  place: Place,
): Promise<readonly RecordRow[]> {
  const isQuoting = records.some((record) => record.references.length > 0)
  if (isQuoting) checkReferences(await store.types(idsIn(records)), records, place)
  return store.append(records)
}

/** The first records of a scenario that does not exist yet can quote each other alone; checked before anything is made for them. */
export function checkFirstRecords(records: readonly NewRecord[], place: Place): void {
  checkReferences(new Map(), records, place)
}

function idsIn(records: readonly NewRecord[]): readonly string[] {
  return [...new Set(records.flatMap((record) => [record.agent_record_id, ...record.references]))]
}

function checkReferences(stored: ReadonlyMap<string, RequestType>, records: readonly NewRecord[], place: Place): void {
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
