/**
 * Records: turns a body into a record to store or a refusal, and stores it once.
 * Does not interpret feedback, train, or know where the store is.
 */
export { noExchange, quoteSession } from './about-session.ts'
export { draftBatch, draftImport } from './admit-import.ts'
export { draftReport } from './admit-report.ts'
export { admitTrain, readTrain, refuseCredential } from './admit-train.ts'
export { admit, type AdmissionRules, type RecordDraft } from './draft.ts'
export { appendRecords, checkFirstRecords, type FieldPrefix } from './log.ts'
export { mergeRequires } from './requires.ts'
export { checkShape } from './shape.ts'
