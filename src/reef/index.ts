/**
 * Reef: reads the folders of the original system and imports them into the store and the artifact repository.
 * Does not write to its source.
 */
import type { importInto as importNow } from './folders.ts'

export { refuseOriginal, refuseUnfinished } from './detect.ts'
export type { ImportServices, ImportProgress, ImportRequest } from './folders.ts'
export type { ImportReport } from './import.ts'

/** Loaded when it is asked for: a service that serves imports nothing. */
export const importInto = async (...order: Parameters<typeof importNow>): ReturnType<typeof importNow> =>
  (await import('./folders.ts')).importInto(...order)
