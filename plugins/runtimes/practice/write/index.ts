/** A reply or a refusal in the words of each provider. */
import type { Dialect, JsonObject } from '../../../../src/contract/index.ts'
import type { Reply } from '../reply.ts'
import { chatFrames, chatWhole } from './chat.ts'
import { messagesFrames, messagesWhole } from './messages.ts'
import { responsesFrames, responsesWhole } from './responses.ts'

export interface Writer {
  whole(reply: Reply): JsonObject
  /** One server-sent event at a time, made when it is asked for. */
  frames(reply: Reply): Iterable<string>
}

export const WRITERS: Readonly<Record<Exclude<Dialect, 'count_tokens'>, Writer>> = {
  chat: { whole: chatWhole, frames: chatFrames },
  responses: { whole: responsesWhole, frames: responsesFrames },
  messages: { whole: messagesWhole, frames: messagesFrames },
}
