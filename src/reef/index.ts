/**
 * Reef: reads the folders of the original system and imports them into the store and the artifact repository.
 * Does not write to its source.
 */
export { refuseOriginal, refuseUnfinished } from './detect.ts'
export { importInto, type ImportServices, type ImportProgress, type ImportRequest } from './folders.ts'
export type { ImportReport } from './import.ts'
