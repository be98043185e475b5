/** A reply as a response object, whole or as numbered events. */
import type { Json, JsonObject } from '../../../contract/index.ts'
import { writeEvent } from '../../../kit/index.ts'
import { objectOf, objectsOf, parsedObject, textOf } from './json.ts'
import type { Reply, ReplyCall } from './reply.ts'
import { toolsOf, type OfferedTool } from './responses.ts'

/** What a response repeats of its request, with the provider's default where the request is silent. */
const REPEATED: JsonObject = {
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
  previous_response_id: null,
  store: true,
  temperature: 1,
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  truncation: 'disabled',
  user: null,
}

export function writeResponse(reply: Reply, request: JsonObject): JsonObject {
  const isCut = reply.finish === 'length'
  const status = isCut ? 'incomplete' : 'completed'
  const repeated = Object.entries(REPEATED).map(([field, normally]): readonly [string, Json] => [field, request[field] ?? normally])
  return {
    id: `resp_${reply.id}`,
    object: 'response',
    created_at: reply.createdSeconds,
    completed_at: isCut ? null : reply.createdSeconds,
    status,
    background: false,
    error: null,
    incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
    model: reply.model,
    ...Object.fromEntries(repeated),
    reasoning: { effort: null, summary: null, ...objectOf(request['reasoning']) },
    service_tier: 'default',
    text: { format: { type: 'text' }, ...objectOf(request['text']) },
    output: writeItems(reply, toolsOf(request), status),
    usage: writeUsage(reply),
  }
}

function writeItems({ id, text, calls }: Reply, offered: ReadonlyMap<string, OfferedTool>, status: string): readonly JsonObject[] {
  const message = { id: `msg_${id}`, type: 'message', status, role: 'assistant', content: [textPart(text)] }
  const items = calls.map((call, at) => writeCall(call, offered.get(call.name), `${id}${at}`, status))
  return text === '' && items.length > 0 ? items : [message, ...items]
}

const textPart = (text: string): JsonObject => ({ type: 'output_text', annotations: [], logprobs: [], text })

function writeCall(call: ReplyCall, tool: OfferedTool | undefined, id: string, status: string): JsonObject {
  const namespace = (tool?.namespace ?? null) === null ? {} : { namespace: tool?.namespace ?? null }
  const called = { call_id: call.id, name: call.name, ...namespace, status }
  if (tool?.isCustom !== true) return { id: `fc_${id}`, type: 'function_call', ...called, arguments: call.arguments }
  return { id: `ctc_${id}`, type: 'custom_tool_call', ...called, input: textOf(parsedObject(call.arguments)['input']) }
}

const writeUsage = ({ usage: { input, output } }: Reply): JsonObject => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: input + output,
})

export function* responseFrames(response: JsonObject): Generator<Buffer> {
  let sequence = 0
  const frame = (type: string, fields: JsonObject): Buffer =>
    writeEvent(type, JSON.stringify({ type, sequence_number: sequence++, ...fields }))
  const opening = { ...response, status: 'in_progress', completed_at: null, incomplete_details: null, output: [], usage: null }
  yield frame('response.created', { response: opening })
  yield frame('response.in_progress', { response: opening })
  for (const [output_index, item] of objectsOf(response['output']).entries()) {
    const { opened, events } = piecesOf(item)
    yield frame('response.output_item.added', { output_index, item: { ...opened, status: 'in_progress' } })
    for (const [type, fields] of events) yield frame(type, { item_id: item['id'] ?? null, output_index, ...fields })
    yield frame('response.output_item.done', { output_index, item })
  }
  yield frame(response['status'] === 'incomplete' ? 'response.incomplete' : 'response.completed', { response })
}

interface Pieces {
  /** The item before its first piece. */
  readonly opened: JsonObject
  readonly events: readonly (readonly [string, JsonObject])[]
}

function piecesOf(item: JsonObject): Pieces {
  switch (item['type']) {
    case 'function_call': {
      const text = textOf(item['arguments'])
      const done = { name: item['name'] ?? null, arguments: text }
      return { opened: { ...item, arguments: '' }, events: callEvents('response.function_call_arguments', text, done) }
    }
    case 'custom_tool_call': {
      const input = textOf(item['input'])
      return { opened: { ...item, input: '' }, events: callEvents('response.custom_tool_call_input', input, { input }) }
    }
    default:
      return { opened: { ...item, content: [] }, events: textEvents(textOf(objectsOf(item['content'])[0]?.['text'])) }
  }
}

const callEvents = (name: string, delta: string, done: JsonObject): Pieces['events'] => [
  [`${name}.delta`, { delta }],
  [`${name}.done`, done],
]

const textEvents = (text: string): Pieces['events'] => [
  ['response.content_part.added', { content_index: 0, part: textPart('') }],
  ['response.output_text.delta', { content_index: 0, delta: text, logprobs: [] }],
  ['response.output_text.done', { content_index: 0, text, logprobs: [] }],
  ['response.content_part.done', { content_index: 0, part: textPart(text) }],
]
