/** Admitting records, as values in and values out. */
import { describe, expect, it } from 'vitest'
import type { JsonObject, NewRecord } from '../contract/index.ts'
import { admit, draftBatch, draftImport, draftReport, type AdmissionRules, type RecordDraft } from './index.ts'

const admission: AdmissionRules = { newId: () => 'made', clock: () => 7 }
const payloadOf = (record: NewRecord): JsonObject => JSON.parse(Buffer.from(record.payload).toString())
const bytesOf = (body: object): Buffer => Buffer.from(JSON.stringify(body))
const admitReport = (body: object, by = admission): NewRecord => admit(draftReport(bytesOf(body)), by)
const admitImport = (body: object): NewRecord => admit(draftImport(bytesOf(body), untagged), admission)
const admitBatch = (body: object): readonly RecordDraft[] => draftBatch(bytesOf(body), untagged)
const untagged = (payload: Buffer): Buffer => payload

describe('a report', () => {
  it('keeps four fields and drops every other', () => {
    const record = admitReport({ score: 1, feedback: 'good', references: ['r'], metadata: { a: 1 }, extra: true })
    expect(payloadOf(record)).toEqual({ score: 1, feedback: 'good', references: ['r'], metadata: { a: 1 } })
    const made = { agent_record_id: 'made', request_type: 'report', created_at: 7, artifact_ref: null }
    expect(record).toMatchObject({ ...made, references: ['r'], score: 1 })
  })

  it('is the same whether a field is absent, null or empty', () => {
    const absent = admitReport({})
    const empty = admitReport({ score: null, feedback: null, references: [], metadata: {} })
    expect(payloadOf(empty)).toEqual(payloadOf(absent))
  })

  it.each([
    [{ score: true }, /score: must be a finite number/],
    [{ score: '1' }, /score: must be a finite number/],
    [{ feedback: 3 }, /feedback: must be a string or an object/],
    [{ references: 'r' }, /references: must be a list/],
    [{ references: [''] }, /references\[0\]: must be a non-blank string/],
    [{ references: ['a', 'b', 'a'] }, /references\[2\]: quotes a receipt twice/],
    [{ metadata: [] }, /metadata: must be a JSON object/],
    [{ metadata: { training: { eligible: false } } }, /metadata\.training\.eligible: was removed/],
    [{ metadata: { 'training.eligible': 1 } }, /metadata\.training\.eligible: was removed/],
    [{ references: Array.from({ length: 100_001 }, (_, at) => `r${at}`) }, /references: may quote 100000 receipts/],
    [{ references: [{}] }, /references\[0\]: must be a non-blank string/],
    [{ references_to: { session: [] } }, /references_to\.session: must name the session/],
    [{ agent_record_id: ' ' }, /agent_record_id: must be a non-blank string/],
  ])('that is not acceptable is refused with its field and its cure: %j', (body, message) => {
    expect(() => admitReport(body)).toThrow(message)
  })

  it('answers to the schema its recipe declares', () => {
    const strict = { ...admission, checkReport: () => 'metadata.step: must be a whole number' }
    expect(() => admitReport({ score: 1 }, strict)).toThrow('metadata.step: must be a whole number')
    // A recipe's part is parsed where requests are answered.
    const long = { feedback: 'x'.repeat(10 * 1024 * 1024) }
    expect(() => admitReport(long, { ...admission, checkReport: () => null })).toThrow('larger than the 10 MiB')
  })
})

describe('an import', () => {
  const envelope = { agent_record_id: 'i', request_type: 'inference', payload: { messages: [], score: 0.5 } }

  it('takes an envelope of exactly three fields', () => {
    expect(payloadOf(admitImport(envelope))).toEqual(envelope.payload)
    expect(() => admitImport({ ...envelope, scenario: 's' })).toThrow(/"scenario" is not accepted/)
    expect(() => admitImport({ request_type: 'inference', payload: {} })).toThrow(/agent_record_id/)
  })

  it('names no release: nothing here served it', () => {
    expect(admitImport(envelope)).toMatchObject({ artifact_ref: null, score: 0.5 })
  })

  it('holds a report to the rules of reports, and names its place in a batch', () => {
    const bad = { agent_record_id: 'r', request_type: 'report', payload: { score: false } }
    expect(() => admitImport(bad)).toThrow(/^payload\.score:/)
    expect(() => admitBatch({ records: [envelope, bad] })).toThrow(/^records\[1\]\.payload\.score:/)
  })
})
