/** The readers of all formats, in the order in which a stored exchange is tried. */
import { chatReader } from '../chat/read.ts'
import { geminiReader } from '../gemini/read.ts'
import { messagesReader } from '../messages/read.ts'
import type { Dialect, JsonObject } from '../../contract/index.ts'
import type { DialectReader } from '../conversation.ts'
import { objectOf } from '../values.ts'
import { responsesReader } from '../responses/read.ts'

/** Token counts and what makes a conversation shorter are asked in the words of the format that they belong to. */
type ReadableDialect = Exclude<Dialect, `${string}count_tokens` | 'responses_compact'>

const readers: Readonly<Record<ReadableDialect, DialectReader>> = {
  chat: chatReader,
  responses: responsesReader,
  messages: messagesReader,
  gemini: geminiReader,
}

/** The reader of a stored exchange, its answer under `response`. What no format claims is read as messages, whose requests hold all that those of chat do. */
export function readerOf(payload: JsonObject): DialectReader {
  return claimingReader(payload) ?? messagesReader
}

/** Null where no format claims the exchange. */
export function claimingReader(payload: JsonObject): DialectReader | null {
  const answer = objectOf(payload['response'])
  return Object.values(readers).find((reader) => reader.isExchange(payload, answer)) ?? null
}
