/** Writes responses: answers, whole or as numbered events, and requests. */
import type { ChatMessage, Json, JsonObject } from '../../contract/index.ts'
import { writeEvent } from '../../kit/index.ts'
import { type ModelQuestion, callId, type ModelReply, type Pieces, type ReplyCall } from '../conversation.ts'
import { objectOf, objectsOf, textOf } from '../values.ts'

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

export function writeResponse(reply: ModelReply, request: JsonObject): JsonObject {
  const isCut = reply.ending.kind === 'length'
  const status = isCut ? 'incomplete' : 'completed'
  const { input, output } = reply.usage
  return {
    ...responseHead(request),
    id: `resp_${reply.id}`,
    created_at: reply.createdSeconds,
    completed_at: isCut ? null : reply.createdSeconds,
    status,
    incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
    model: reply.model,
    output: writeItems(reply, status),
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + output,
    },
  }
}

/** What every response to the request says. */
export function responseHead(request: JsonObject): JsonObject {
  const repeated = Object.entries(REPEATED).map(([field, normally]): readonly [string, Json] => [field, request[field] ?? normally])
  return {
    object: 'response',
    background: false,
    error: null,
    incomplete_details: null,
    ...Object.fromEntries(repeated),
    reasoning: { effort: null, summary: null, ...objectOf(request['reasoning']) },
    service_tier: 'default',
    text: { format: { type: 'text' }, ...objectOf(request['text']) },
  }
}

function writeItems({ id, text, calls }: ModelReply, status: string): readonly JsonObject[] {
  const message = { id: `msg_${id}`, type: 'message', status, role: 'assistant', content: [textPart(text)] }
  const items = calls.map((call, at) => writeCall(call, callId(call, id, at), `${id}${at || ''}`, status))
  return text === '' && items.length > 0 ? items : [message, ...items]
}

const textPart = (text: string): JsonObject => ({ type: 'output_text', annotations: [], logprobs: [], text })

function writeCall({ name, namespace, input, shape }: ReplyCall, call_id: string, id: string, status: string): JsonObject {
  const called = { call_id, name, ...(namespace !== null && { namespace }), status }
  if (shape === 'custom') return { id: `ctc_${id}`, type: 'custom_tool_call', ...called, input }
  return { id: `fc_${id}`, type: 'function_call', ...called, arguments: input }
}

export function* responseFrames(response: JsonObject, _request: JsonObject, cut: Pieces): Generator<Buffer> {
  let sequence = 0
  const frame = (type: string, fields: JsonObject): Buffer =>
    writeEvent(type, JSON.stringify({ type, sequence_number: sequence++, ...fields }))
  const opening = { ...response, status: 'in_progress', completed_at: null, incomplete_details: null, output: [], usage: null }
  yield frame('response.created', { response: opening })
  yield frame('response.in_progress', { response: opening })
  for (const [output_index, item] of objectsOf(response['output']).entries()) {
    const { opened, events } = eventsOf(item, cut)
    yield frame('response.output_item.added', { output_index, item: { ...opened, status: 'in_progress' } })
    for (const [type, fields] of events) yield frame(type, { item_id: item['id'] ?? null, output_index, ...fields })
    yield frame('response.output_item.done', { output_index, item })
  }
  yield frame(response['status'] === 'incomplete' ? 'response.incomplete' : 'response.completed', { response })
}

interface ItemEvents {
  /** The item before its first piece. */
  readonly opened: JsonObject
  readonly events: readonly (readonly [string, JsonObject])[]
}

function eventsOf(item: JsonObject, cut: Pieces): ItemEvents {
  switch (item['type']) {
    case 'function_call': {
      const text = textOf(item['arguments'])
      const done = { name: item['name'] ?? null, arguments: text }
      return { opened: { ...item, arguments: '' }, events: callEvents('response.function_call_arguments', cut(text), done) }
    }
    case 'custom_tool_call': {
      const input = textOf(item['input'])
      return { opened: { ...item, input: '' }, events: callEvents('response.custom_tool_call_input', cut(input), { input }) }
    }
    default:
      return { opened: { ...item, content: [] }, events: textEvents(textOf(objectsOf(item['content'])[0]?.['text']), cut) }
  }
}

const callEvents = (name: string, deltas: readonly string[], done: JsonObject): ItemEvents['events'] => [
  ...deltas.map((delta) => [`${name}.delta`, { delta }] as const),
  [`${name}.done`, done],
]

const textEvents = (text: string, cut: Pieces): ItemEvents['events'] => [
  ['response.content_part.added', { content_index: 0, part: textPart('') }],
  ...cut(text).map((delta) => ['response.output_text.delta', { content_index: 0, delta, logprobs: [] }] as const),
  ['response.output_text.done', { content_index: 0, text, logprobs: [] }],
  ['response.content_part.done', { content_index: 0, part: textPart(text) }],
]

export const writeResponsesRequest = ({ model, messages, tools, tokensMax }: ModelQuestion): JsonObject => ({
  model,
  input: messages.flatMap(itemsOf),
  store: false,
  ...(tokensMax !== null && { max_output_tokens: tokensMax }),
  ...(tools.length > 0 && {
    tools: tools.map(({ name, description, parameters }) => ({ type: 'function', name, description, parameters })),
  }),
})

function itemsOf(message: ChatMessage): readonly JsonObject[] {
  if (message.role === 'tool') return [{ type: 'function_call_output', call_id: message.call_id, output: message.content }]
  const { role, content } = message
  const calls = message.role === 'assistant' ? (message.calls ?? []) : []
  return [
    ...(content === '' ? [] : [{ role, content }]),
    ...calls.map((call) => ({ type: 'function_call', call_id: call.id, name: call.name, arguments: call.arguments })),
  ]
}
