/** An answer in no provider's words, as models inside this process give it. */
import type { JsonObject } from '../contract/index.ts'

export interface ModelReply {
  /** What the answer's ids are made of. */
  readonly id: string
  readonly model: string
  /** Whole seconds since the epoch. */
  readonly createdSeconds: number
  readonly text: string
  readonly calls: readonly ReplyCall[]
  readonly ending: { readonly kind: 'end' | 'length' | 'call' | 'refusal' } | { readonly kind: 'stop'; readonly sequence: string }
  readonly usage: { readonly input: number; readonly output: number }
  /** The chat completion that the reply was read from, where there is one: the chat format gives it on as it is. */
  readonly completion?: JsonObject
}

export interface ReplyCall {
  /** Null: one that the format makes up. */
  readonly id: string | null
  readonly name: string
  /** JSON text, or the free text of a custom tool. */
  readonly input: string
  readonly shape: 'function' | 'custom'
  readonly namespace: string | null
}

const CALL_ID_CHARACTERS = 24

export const callId = ({ id }: ReplyCall, replyId: string, at: number, prefix = 'call'): string =>
  id ?? `${prefix}_${replyId.slice(0, CALL_ID_CHARACTERS)}${at || ''}`

/** How a stream cuts a text; put together, the pieces are the text again. */
export type Pieces = (text: string) => readonly string[]
