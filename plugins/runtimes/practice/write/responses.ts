/** A reply as a response object, whole or as numbered events. */
import type { Json, JsonObject } from '../../../../src/contract/index.ts'
import { objectOf } from '../json.ts'
import type { Reply } from '../reply.ts'
import { streamPieces } from '../tokens.ts'
import { eventFrame } from './sse.ts'

export function responsesWhole(reply: Reply): JsonObject {
  const isCut = reply.ending.kind === 'length'
  return {
    ...response(reply, isCut ? 'incomplete' : 'completed'),
    incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
    output: [doneItem(reply)],
    usage: usage(reply),
  }
}

export function* responsesFrames(reply: Reply): Generator<string> {
  let sequence = 0
  const frame = (type: string, fields: JsonObject): string => eventFrame(type, { type, sequence_number: sequence++, ...fields })
  const whole = responsesWhole(reply)
  const started = { ...response(reply, 'in_progress'), incomplete_details: null, output: [], usage: null }
  yield frame('response.created', { response: started })
  yield frame('response.in_progress', { response: started })
  yield frame('response.output_item.added', { output_index: 0, item: openItem(reply) })
  for (const [type, fields] of reply.call === null ? textEvents(reply) : callEvents(reply.call)) {
    yield frame(type, { item_id: itemId(reply), output_index: 0, ...fields })
  }
  yield frame('response.output_item.done', { output_index: 0, item: doneItem(reply) })
  yield frame(reply.ending.kind === 'length' ? 'response.incomplete' : 'response.completed', { response: whole })
}

type Event = readonly [string, JsonObject]

function* textEvents({ text }: Reply): Generator<Event> {
  yield ['response.content_part.added', { content_index: 0, part: textPart('') }]
  for (const delta of streamPieces(text)) yield ['response.output_text.delta', { content_index: 0, delta, logprobs: [] }]
  yield ['response.output_text.done', { content_index: 0, text, logprobs: [] }]
  yield ['response.content_part.done', { content_index: 0, part: textPart(text) }]
}

function* callEvents({ tool, input }: NonNullable<Reply['call']>): Generator<Event> {
  const isCustom = tool.shape === 'custom'
  const name = isCustom ? 'response.custom_tool_call_input' : 'response.function_call_arguments'
  for (const delta of streamPieces(input)) yield [`${name}.delta`, { delta }]
  yield [`${name}.done`, isCustom ? { input } : { name: tool.name, arguments: input }]
}

const doneItem = (reply: Reply): JsonObject =>
  item(reply, reply.call === null ? reply.text : reply.call.input, reply.ending.kind === 'length' ? 'incomplete' : 'completed')

const openItem = (reply: Reply): JsonObject => ({
  ...item(reply, '', 'in_progress'),
  ...(reply.call === null ? { content: [] } : {}),
})

function item(reply: Reply, content: string, status: string): JsonObject {
  const id = itemId(reply)
  if (reply.call === null) return { id, type: 'message', status, role: 'assistant', content: [textPart(content)] }
  const { tool, id: callId } = reply.call
  const called = { id, call_id: `call_${callId}`, name: tool.name, ...(tool.namespace === null ? {} : { namespace: tool.namespace }) }
  if (tool.shape === 'custom') return { ...called, type: 'custom_tool_call', status, input: content }
  return { ...called, type: 'function_call', status, arguments: content }
}

function itemId({ call, seed }: Reply): string {
  const prefix = call === null ? 'msg' : call.tool.shape === 'custom' ? 'ctc' : 'fc'
  return `${prefix}_${seed.slice(0, 48)}`
}

const textPart = (text: string): JsonObject => ({ type: 'output_text', annotations: [], logprobs: [], text })

/** What a response repeats of its request, with the provider's default where the request is silent. */
const REPEATED: JsonObject = {
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
  previous_response_id: null,
  prompt_cache_key: null,
  safety_identifier: null,
  store: true,
  temperature: 1,
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  truncation: 'disabled',
  user: null,
}

function response(reply: Reply, status: string): JsonObject {
  const { request } = reply
  const repeated = Object.entries(REPEATED).map(([field, normally]): readonly [string, Json] => [field, request[field] ?? normally])
  return {
    id: `resp_${reply.seed.slice(0, 48)}`,
    object: 'response',
    created_at: reply.createdSeconds,
    completed_at: status === 'completed' ? reply.createdSeconds : null,
    status,
    background: false,
    error: null,
    model: reply.model,
    ...Object.fromEntries(repeated),
    reasoning: { effort: null, summary: null, ...objectOf(request['reasoning']) },
    service_tier: 'default',
    text: { format: { type: 'text' }, ...objectOf(request['text']) },
  }
}

const usage = ({ usage: { input, output } }: Reply): JsonObject => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: input + output,
})
