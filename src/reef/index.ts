/**
 * Reef: reads the folders of the original system and carries them over into the store and the artifact repository.
 * Does not write to what it reads, and does not choose what it writes to.
 */
export { refuseOriginal, refuseUnfinished } from './detect.ts'
export { importInto, type ImportHouse, type ImportProgress, type ImportWish } from './folders.ts'
export type { ImportReport } from './import.ts'
