/** Every format in front of an engine that speaks chat completions alone: requests to it, answers and refusals back. */
import type { Dialect, JsonObject } from '../../../contract/index.ts'
import { dialects } from '../../../dialects/index.ts'
import { chatFrames, readChat, writeChat } from './chat.ts'
import { objectOf, textOf } from './json.ts'
import { messageFrames, readMessages, readPrompt, writeMessage } from './messages.ts'
import type { Reply } from './reply.ts'
import { readResponses } from './responses.ts'
import { responseFrames, writeResponse } from './write-responses.ts'

export { replyOf } from './reply.ts'

export interface Front {
  /** The chat request that it comes to. Throws Refusal 'invalid' for what the engine cannot be asked. */
  read(body: JsonObject): JsonObject
  write(reply: Reply, body: JsonObject): JsonObject
  /** The events of a whole answer. */
  frames(whole: JsonObject, body: JsonObject): Iterable<Buffer>
}

export const FRONTS: Readonly<Record<Exclude<Dialect, 'count_tokens'>, Front>> = {
  chat: { read: readChat, write: writeChat, frames: chatFrames },
  responses: { read: readResponses, write: writeResponse, frames: responseFrames },
  messages: { read: readMessages, write: writeMessage, frames: messageFrames },
}

/** Counting has the body of a message, and no limit on its answer. */
export const readCount = readPrompt

/** What the engine said when it refused, in the shape of the format's provider. Engines put the words in different places. */
export function writeError(dialect: Dialect, status: number, answer: JsonObject): JsonObject {
  const said = { ...answer, ...objectOf(answer['error']) }
  const message = textOf(said['message']) || textOf(said['detail']) || textOf(answer['error']) || 'the engine refused the request'
  const { type, param = null, code = null } = said
  return dialects[dialect].writeError(status, { message, param, code, ...(textOf(type) !== '' && { type: textOf(type) }) })
}
