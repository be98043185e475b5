/**
 * Records: given a body and the scenario's rules, answers with the record to keep or the reason not to, and keeps it once.
 * Does not interpret feedback, train, or know where the store is.
 */
export { admitBatch, admitImport, importBatchOf, importEnvelope } from './admit-import.ts'
export { admitReport, reportBody, type Admission } from './admit-report.ts'
export { admitTrain, readTrain, trainBody } from './admit-train.ts'
export { jsonObject, NOT_BLANK } from './fields.ts'
export { appendRecords, checkFirstRecords, type Place } from './log.ts'
export { mergeRequires } from './requires.ts'
export { checkShape } from './shape.ts'
