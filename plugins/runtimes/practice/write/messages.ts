/** A reply as a message, whole or as events. */
import type { JsonObject } from '../../../../src/contract/index.ts'
import { objectOf, parsed } from '../json.ts'
import type { Reply } from '../reply.ts'
import { streamPieces } from '../tokens.ts'
import { eventFrame } from './sse.ts'

export function messagesWhole(reply: Reply): JsonObject {
  const content = reply.call === null ? [textBlock(reply.text)] : [toolBlock(reply.call, objectOf(parsed(reply.call.input)))]
  return { ...message(reply, reply.usage.output), content, ...stopped(reply) }
}

export function* messagesFrames(reply: Reply): Generator<string> {
  yield frame({ type: 'message_start', message: { ...message(reply, 1), content: [], stop_reason: null, stop_sequence: null } })
  yield frame({ type: 'content_block_start', index: 0, content_block: reply.call === null ? textBlock('') : toolBlock(reply.call, {}) })
  yield frame({ type: 'ping' })
  for (const piece of streamPieces(reply.call === null ? reply.text : reply.call.input)) {
    const delta = reply.call === null ? { type: 'text_delta', text: piece } : { type: 'input_json_delta', partial_json: piece }
    yield frame({ type: 'content_block_delta', index: 0, delta })
  }
  yield frame({ type: 'content_block_stop', index: 0 })
  yield frame({ type: 'message_delta', delta: stopped(reply), usage: usage(reply, reply.usage.output) })
  yield frame({ type: 'message_stop' })
}

const frame = (event: JsonObject & { readonly type: string }): string => eventFrame(event.type, event)

const message = (reply: Reply, outputTokens: number): JsonObject => ({
  id: `msg_${reply.seed.slice(0, 24)}`,
  type: 'message',
  role: 'assistant',
  model: reply.model,
  usage: { ...usage(reply, outputTokens), service_tier: 'standard' },
})

const usage = (reply: Reply, outputTokens: number): JsonObject => ({
  input_tokens: reply.usage.input,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: outputTokens,
})

const textBlock = (text: string): JsonObject => ({ type: 'text', text })

const toolBlock = ({ id, tool }: NonNullable<Reply['call']>, input: JsonObject): JsonObject => ({
  type: 'tool_use',
  id: `toolu_${id}`,
  name: tool.name,
  input,
})

function stopped({ ending }: Reply): JsonObject {
  if (ending.kind === 'stop') return { stop_reason: 'stop_sequence', stop_sequence: ending.sequence }
  const reason = { call: 'tool_use', length: 'max_tokens', end: 'end_turn' }[ending.kind]
  return { stop_reason: reason, stop_sequence: null }
}
