/** What steps leave beside their rows: written while they run, read back by the route. */
export { openArchive } from './open.ts'
export { openStepRecord, type StepRecord } from './record.ts'
