/** A reply or a refusal in the words of each provider. */
import type { Dialect, JsonObject } from '../../../../src/contract/index.ts'
import type { Fault } from '../read-prompt.ts'
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

export function writeFault(dialect: Dialect, { message, param, code }: Fault, requestId: string): JsonObject {
  if (dialect === 'chat' || dialect === 'responses') return { error: { message, type: 'invalid_request_error', param, code } }
  return { type: 'error', error: { type: 'invalid_request_error', message }, request_id: requestId }
}

/** The providers' names for the header that carries the id of a request. */
export const requestIdHeader = (dialect: Dialect): string => (dialect === 'chat' || dialect === 'responses' ? 'x-request-id' : 'request-id')
