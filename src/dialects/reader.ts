/** Reading exchanges of a format, as far as a browser needs it too. */
import type { JsonObject } from '../contract/index.ts'
import type { AnswerTurn, Conversation, Turn } from './conversation.ts'

export interface DialectReader {
  /** What the format is called where people read it. */
  readonly title: string
  /** Whether a stored exchange is of this format. */
  isExchange(request: JsonObject, answer: JsonObject): boolean
  read(request: JsonObject): Conversation
  /** Members that hold instructions apart from the messages. They are read into the first turn. */
  readonly instructions: readonly string[]
  /** The turns as people are shown them, where that is not how a model reads them. */
  readonly shownTurns?: (request: JsonObject) => readonly Turn[]
  /** Empty for what is no answer of this format. */
  readAnswer(answer: JsonObject): readonly AnswerTurn[]
  /** Where an answer counts its tokens. */
  readonly usage: string
}
