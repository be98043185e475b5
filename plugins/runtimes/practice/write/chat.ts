/** A reply as a chat completion, whole or as chunks. */
import type { JsonObject } from '../../../../src/contract/index.ts'
import { objectOf } from '../json.ts'
import type { Reply } from '../reply.ts'
import { streamPieces } from '../tokens.ts'
import { dataFrame } from './sse.ts'

export function chatWhole(reply: Reply): JsonObject {
  const message = {
    role: 'assistant',
    content: reply.call === null ? reply.text : null,
    refusal: null,
    annotations: [],
    ...(reply.call === null ? {} : { tool_calls: [toolCall(reply.call, reply.call.input)] }),
  }
  const choice = { index: 0, message, logprobs: null, finish_reason: finishReason(reply) }
  return { ...head(reply), object: 'chat.completion', choices: [choice], usage: usage(reply) }
}

export function* chatFrames(reply: Reply): Generator<string> {
  const isUsageWanted = objectOf(reply.request['stream_options'])['include_usage'] === true
  const chunk = (delta: JsonObject, finish: string | null): string =>
    dataFrame({
      ...head(reply),
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      ...(isUsageWanted ? { usage: null } : {}),
    })
  for (const delta of deltas(reply)) yield chunk(delta, null)
  yield chunk({}, finishReason(reply))
  if (isUsageWanted) yield dataFrame({ ...head(reply), object: 'chat.completion.chunk', choices: [], usage: usage(reply) })
  yield 'data: [DONE]\n\n'
}

function* deltas({ call, text }: Reply): Generator<JsonObject> {
  if (call === null) {
    yield { role: 'assistant', content: '', refusal: null }
    for (const content of streamPieces(text)) yield { content }
    return
  }
  const field = call.tool.shape === 'custom' ? 'input' : 'arguments'
  yield { role: 'assistant', content: null, tool_calls: [{ index: 0, ...toolCall(call, '') }] }
  for (const piece of streamPieces(call.input)) yield { tool_calls: [{ index: 0, [call.tool.shape]: { [field]: piece } }] }
}

const head = ({ seed, createdSeconds, model }: Reply): JsonObject => ({
  id: `chatcmpl-${seed.slice(0, 29)}`,
  created: createdSeconds,
  model,
  service_tier: 'default',
  system_fingerprint: 'fp_practice',
})

function toolCall({ id, tool }: NonNullable<Reply['call']>, input: string): JsonObject {
  const called = tool.shape === 'custom' ? { input } : { arguments: input }
  return { id: `call_${id}`, type: tool.shape, [tool.shape]: { name: tool.name, ...called } }
}

function finishReason({ ending }: Reply): string {
  if (ending.kind === 'call') return 'tool_calls'
  return ending.kind === 'length' ? 'length' : 'stop'
}

const usage = ({ usage: { input, output } }: Reply): JsonObject => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0, accepted_prediction_tokens: 0, rejected_prediction_tokens: 0 },
})
