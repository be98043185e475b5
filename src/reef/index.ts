/**
 * Reef: reads the folders of the original system and carries them over into the store and the artifact repository.
 * Does not write to what it reads, and does not open what it writes to.
 */
export { beginImport, endImport, refuseOriginal, refuseUnfinished } from './detect.ts'
export { importReef, type ImportReport, type ImportSource } from './import.ts'
