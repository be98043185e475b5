/** Writes messages: answers, whole or as events, and requests. */
import type { ChatMessage, JsonObject } from '../../contract/index.ts'
import { writeEvent } from '../../kit/index.ts'
import { callId, joinNeighbours, type ModelQuestion, type ModelReply, type Pieces } from '../conversation.ts'
import { objectOf, objectsOf, parsed, textOf, written } from '../values.ts'

export function writeMessage({ id, model, text, calls, ending, usage }: ModelReply): JsonObject {
  const blocks = calls.map((call, at) => ({
    type: 'tool_use',
    id: callId(call, id, at, 'toolu'),
    name: call.name,
    input: objectOf(parsed(call.input)),
  }))
  return {
    id: `msg_${id}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [...(text !== '' || blocks.length === 0 ? [{ type: 'text', text }] : []), ...blocks],
    ...stopped(ending),
    usage: {
      input_tokens: usage.input,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: usage.output,
      service_tier: 'standard',
    },
  }
}

function stopped(ending: ModelReply['ending']): JsonObject {
  if (ending.kind === 'stop') return { stop_reason: 'stop_sequence', stop_sequence: ending.sequence }
  const reason = { call: 'tool_use', length: 'max_tokens', end: 'end_turn', refusal: 'refusal' }[ending.kind]
  return { stop_reason: reason, stop_sequence: null }
}

export function* messageFrames(message: JsonObject, _request: JsonObject, pieces: Pieces): Generator<Buffer> {
  const { content, stop_reason = null, stop_sequence = null, usage, ...head } = message
  const opening = { ...head, content: [], stop_reason: null, stop_sequence: null, usage: { ...objectOf(usage), output_tokens: 1 } }
  yield frame('message_start', { message: opening })
  for (const [index, block] of objectsOf(content).entries()) {
    const isText = block['type'] === 'text'
    yield frame('content_block_start', { index, content_block: { ...block, ...(isText ? { text: '' } : { input: {} }) } })
    if (index === 0) yield frame('ping', {})
    for (const piece of pieces(isText ? textOf(block['text']) : written(block['input']))) {
      const delta = isText ? { type: 'text_delta', text: piece } : { type: 'input_json_delta', partial_json: piece }
      yield frame('content_block_delta', { index, delta })
    }
    yield frame('content_block_stop', { index })
  }
  yield frame('message_delta', { delta: { stop_reason, stop_sequence }, usage: objectOf(usage) })
  yield frame('message_stop', {})
}

const frame = (type: string, fields: JsonObject): Buffer => writeEvent(type, JSON.stringify({ type, ...fields }))

/** This format wants a limit in any case: one that every model takes. */
const TOKENS_UNSAID = 4096

export function writeMessagesRequest({ model, messages, tools, tokensMax }: ModelQuestion): JsonObject {
  const system = messages.flatMap(({ role, content }) => (role === 'system' ? [content] : []))
  return {
    model,
    max_tokens: tokensMax ?? TOKENS_UNSAID,
    ...(system.length > 0 && { system: system.join('\n\n') }),
    // The answers to several calls are one turn here, and two turns of one side may not follow each other.
    messages: joinNeighbours(messages.filter(({ role }) => role !== 'system').map(turnOf), (last, { role, content }) => ({
      role,
      content: [...last.content, ...content],
    })),
    ...(tools.length > 0 && { tools: tools.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters })) }),
  }
}

type BlockTurn = {
  readonly role: 'user' | 'assistant'
  readonly content: readonly JsonObject[]
}

function turnOf(message: ChatMessage): BlockTurn {
  if (message.role === 'tool')
    return { role: 'user', content: [{ type: 'tool_result', tool_use_id: message.call_id, content: message.content }] }
  const said = message.content === '' ? [] : [{ type: 'text', text: message.content }]
  if (message.role !== 'assistant') return { role: 'user', content: said }
  // Arguments of a model may be no JSON: they become an empty object, and the tool reports what is missing.
  const calls = (message.calls ?? []).map((call) => ({
    type: 'tool_use',
    id: call.id,
    name: call.name,
    input: objectOf(parsed(call.arguments)),
  }))
  return { role: 'assistant', content: [...said, ...calls] }
}
