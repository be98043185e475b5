/**
 * Recording: decides how much of a record is stored, and for how long, and takes out the rest before the store sees it.
 * Does not store, and changes nothing that a client is sent.
 */
export { Recorder, type RecordingRules } from './recorder.ts'
export { Retention } from './retention.ts'
export { Redaction } from './redaction.ts'
export { runRedactor } from './redactor-threads.ts'
