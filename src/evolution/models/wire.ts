/** One turn of a conversation in each of the three formats that a model's address may speak. */
import type { ChatMessage, ChatTool, ChatTurn, JsonObject, ModelApi } from '../../contract/index.ts'
import * as chat from './wire-chat.ts'
import * as messages from './wire-messages.ts'
import * as responses from './wire-responses.ts'

export interface Asked {
  readonly model: string
  readonly messages: readonly ChatMessage[]
  readonly tools: readonly ChatTool[]
  /** Null: as many as the model likes, where the format lets it. */
  readonly tokensMax: number | null
}
export interface Answered extends ChatTurn {
  readonly inputTokens: number
  readonly outputTokens: number
}

interface Wire {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  bodyOf(asked: Asked): JsonObject
  /** Null when it is no answer of this format. */
  answerIn(body: JsonObject): Answered | null
}

export const WIRES: Readonly<Record<ModelApi, Wire>> = { openai: chat, responses, anthropic: messages }
