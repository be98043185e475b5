/** Writes chat completions: answers, whole or as chunks, and requests. */
import type { ChatMessage, JsonObject } from '../../contract/index.ts'
import { writeEvent } from '../../kit/index.ts'
import { type ModelQuestion, callId, type ModelReply, type Pieces, type ReplyCall } from '../conversation.ts'
import { isObject, objectOf, objectsOf, textOf } from '../values.ts'

export function writeChat(reply: ModelReply): JsonObject {
  if (reply.completion !== undefined) return reply.completion
  const { id, model, createdSeconds, text, calls, ending, usage } = reply
  const message = {
    role: 'assistant',
    content: calls.length === 0 ? text : text || null,
    refusal: null,
    annotations: [],
    ...(calls.length > 0 && { tool_calls: calls.map((call, at) => toolCall(call, callId(call, id, at))) }),
  }
  const reason = { call: 'tool_calls', length: 'length', stop: 'stop', end: 'stop', refusal: 'content_filter' }[ending.kind]
  return {
    id: `chatcmpl-${id}`,
    created: createdSeconds,
    model,
    service_tier: 'default',
    system_fingerprint: 'fp_practice',
    object: 'chat.completion',
    choices: [{ index: 0, message, logprobs: null, finish_reason: reason }],
    usage: {
      prompt_tokens: usage.input,
      completion_tokens: usage.output,
      total_tokens: usage.input + usage.output,
      prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0, accepted_prediction_tokens: 0, rejected_prediction_tokens: 0 },
    },
  }
}

function toolCall({ name, input, shape }: ReplyCall, id: string): JsonObject {
  const called = shape === 'custom' ? { name, input } : { name, arguments: input }
  return { id, type: shape, [shape]: called }
}

export function* chatFrames(completion: JsonObject, request: JsonObject, pieces: Pieces): Generator<Buffer> {
  const { choices, usage = null, ...rest } = completion
  const head = { ...rest, object: 'chat.completion.chunk' }
  const isUsageWanted = objectOf(request['stream_options'])['include_usage'] === true
  const chunk = (part: JsonObject): Buffer =>
    frame({ ...head, choices: [{ index: 0, ...part }], ...(isUsageWanted ? { usage: null } : {}) })
  const { message, finish_reason = null, index: _index, ...more } = objectOf(objectsOf(choices)[0])
  for (const delta of deltas(objectOf(message), pieces)) yield chunk({ delta, finish_reason: null })
  yield chunk({ delta: {}, ...more, finish_reason })
  if (isUsageWanted) yield frame({ ...head, choices: [], usage })
  yield writeEvent(null, '[DONE]')
}

const frame = (chunk: JsonObject): Buffer => writeEvent(null, JSON.stringify(chunk))

function* deltas({ content = null, tool_calls, ...rest }: JsonObject, pieces: Pieces): Generator<JsonObject> {
  yield { ...rest, content: content === null ? null : '' }
  for (const piece of pieces(textOf(content))) yield { content: piece }
  for (const [index, call] of objectsOf(tool_calls).entries()) {
    const [shape, field] = isObject(call['custom']) ? ['custom', 'input'] : ['function', 'arguments']
    const called = objectOf(call[shape])
    yield { tool_calls: [{ ...call, index, [shape]: { ...called, [field]: '' } }] }
    for (const piece of pieces(textOf(called[field]))) yield { tool_calls: [{ index, [shape]: { [field]: piece } }] }
  }
}

export const writeChatRequest = ({ model, messages, tools, tokensMax }: ModelQuestion): JsonObject => ({
  model,
  messages: messages.map(messageOf),
  ...(tokensMax !== null && { max_tokens: tokensMax }),
  ...(tools.length > 0 && {
    tools: tools.map(({ name, description, parameters }) => ({ type: 'function', function: { name, description, parameters } })),
  }),
})

function messageOf(message: ChatMessage): JsonObject {
  if (message.role === 'tool') return { role: 'tool', tool_call_id: message.call_id, content: message.content }
  const { role, content } = message
  if (message.role !== 'assistant' || message.calls === undefined || message.calls.length === 0) return { role, content }
  const calls = message.calls.map((call) => ({ id: call.id, type: 'function', function: { name: call.name, arguments: call.arguments } }))
  return { role, content, tool_calls: calls }
}
