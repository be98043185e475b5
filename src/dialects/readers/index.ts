/** What the console bundles of the formats: reading a stored exchange, and asking it once more. */
export { claimingReader, readerOf } from './claim.ts'
export { replayOf, type Replay, type ReplayedTexts, type ReplayOrder } from './replay.ts'
export type { AnswerTurn, DialectReader, Part, Turn } from '../conversation.ts'
export { isObject } from '../values.ts'
