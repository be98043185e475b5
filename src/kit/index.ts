/**
 * Kit: small tools that know no noun of the service.
 * Does not import anything of the house, and does not grow past eight files.
 */
export { makeFolder, removeFile, sync, writeAtomicFile } from './atomic-file.ts'
export { newId } from './ids.ts'
export { Lane } from './lane.ts'
export { screenText } from './screen.ts'
export { FrameSplitter, readEvent, writeEvent } from './sse.ts'
export { countCodePoints, firstCodePoints } from './text.ts'
export { within } from './within.ts'
export { wordsOf } from './words.ts'
