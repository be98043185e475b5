/**
 * Kit: small tools that know no noun of the service.
 * Does not import anything of the house, and does not grow past eight files beside its folder of JSON.
 */
export { makeFolder, removeFile, sync, writeAtomicFile } from './atomic-file.ts'
export { newId } from './ids.ts'
export { faultInJson, type JsonFault, type JsonRules } from './json/check.ts'
export {
  cutOut,
  elementsOf,
  firstOf,
  isListAt,
  isObjectAt,
  joined,
  membersOf,
  type Cut,
  type Member,
  type Members,
  type Span,
} from './json/parts.ts'
export { Lane } from './lane.ts'
export { screenText } from './screen.ts'
export { FrameSplitter, readEvent, writeEvent } from './sse.ts'
export { countCodePoints, firstCodePoints } from './text.ts'
export { within } from './within.ts'
export { wordsOf } from './words.ts'
