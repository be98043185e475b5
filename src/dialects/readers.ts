/** The readers of all formats, in the order in which a stored exchange is tried: the part of the table that the console bundles. */
import { chatReader } from './chat/read.ts'
import { messagesReader } from './messages/read.ts'
import type { DialectReader } from './reader.ts'
import { responsesReader } from './responses/read.ts'

export const readers: readonly DialectReader[] = [chatReader, responsesReader, messagesReader]

/** What no format claims is read as messages, whose requests hold all that those of chat do. */
export const unclaimedReader: DialectReader = messagesReader

export type { AnswerTurn, Part, Turn } from './conversation.ts'
export type { DialectReader } from './reader.ts'
export { isObject } from './values.ts'
