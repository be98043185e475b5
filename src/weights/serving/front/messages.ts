/** Messages: blocks of content, to a chat request and back, whole or as events. */
import { invalid, isObject, type Json, type JsonObject } from '../../../contract/index.ts'
import { writeEvent } from '../../../kit/index.ts'
import { assistantTurn, functionTool, readList, readText, schemaFormat, systemTurn, toolCall } from './conversation.ts'
import { objectOf, objectsOf, parsedObject, pick, textOf, textsOf, written } from './json.ts'
import type { Reply } from './reply.ts'

export function readMessages(body: JsonObject): JsonObject {
  const limit = body['max_tokens']
  if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1)
    throw invalid('invalid_request_error', 'max_tokens: Input should be a valid integer of at least 1')
  return { ...readPrompt(body), max_tokens: limit, ...pick(body, ['temperature', 'top_p', 'top_k']), ...readEnding(body) }
}

/** What is counted: everything that becomes the prompt. */
export function readPrompt(body: JsonObject): JsonObject {
  const turns = readList(body, 'messages').flatMap((message, at) => readTurn(message, `messages.${at}.content`))
  const tools = objectsOf(body['tools']).flatMap(readTool)
  const messages = [...systemTurn(readText(body['system'], 'system')), ...turns]
  return tools.length === 0 ? { messages } : { messages, tools, ...readChoice(objectOf(body['tool_choice'])) }
}

/** Results of tools come in the user's message and are turns of their own, before whatever else the user says. */
function readTurn(message: JsonObject, where: string): readonly JsonObject[] {
  const blocks = objectsOf(message['content'])
  const text = readText(message['content'], where)
  if (message['role'] === 'assistant') return [assistantTurn(text, blocks.filter(({ type }) => type === 'tool_use').map(readCall))]
  if (message['role'] === 'system') return systemTurn(text)
  const results = blocks.filter(({ type }) => type === 'tool_result').map((block, at) => readResult(block, `${where}.${at}.content`))
  return text === '' && results.length > 0 ? results : [...results, { role: 'user', content: text }]
}

const readCall = (block: JsonObject): JsonObject => toolCall(textOf(block['id']), textOf(block['name']), written(block['input']))

const readResult = (block: JsonObject, where: string): JsonObject => ({
  role: 'tool',
  tool_call_id: textOf(block['tool_use_id']),
  content: readText(block['content'], where),
})

/** Tools that run at a provider have no schema of the client's: nobody here could run them, so the model is not told of them. */
function readTool(tool: JsonObject): readonly JsonObject[] {
  const schema = tool['input_schema']
  return isObject(schema) ? [functionTool(textOf(tool['name']), tool['description'], schema)] : []
}

function readChoice(choice: JsonObject): JsonObject {
  const parallel = choice['disable_parallel_tool_use'] === true ? { parallel_tool_calls: false } : {}
  const named = { type: 'function', function: { name: textOf(choice['name']) } }
  const words: Readonly<Record<string, Json>> = { auto: 'auto', any: 'required', none: 'none', tool: named }
  const asked = words[textOf(choice['type'])]
  return { ...(asked === undefined ? {} : { tool_choice: asked }), ...parallel }
}

function readEnding(body: JsonObject): JsonObject {
  const stop = textsOf(body['stop_sequences'])
  const format = objectOf(objectOf(body['output_config'])['format'])
  return {
    ...(stop.length === 0 ? {} : { stop }),
    ...(format['type'] === 'json_schema' ? { response_format: schemaFormat(objectOf(format['schema'])) } : {}),
  }
}

export function writeMessage(reply: Reply): JsonObject {
  const calls = reply.calls.map(({ id, name, arguments: text }) => ({ type: 'tool_use', id, name, input: parsedObject(text) }))
  const isTextBlock = reply.text !== '' || calls.length === 0
  return {
    id: `msg_${reply.id}`,
    type: 'message',
    role: 'assistant',
    model: reply.model,
    content: [...(isTextBlock ? [{ type: 'text', text: reply.text }] : []), ...calls],
    ...stopped(reply),
    usage: {
      input_tokens: reply.usage.input,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: reply.usage.output,
    },
  }
}

function stopped({ finish, calls, stop }: Reply): JsonObject {
  if (stop !== null) return { stop_reason: 'stop_sequence', stop_sequence: stop }
  const reasons: Readonly<Record<string, string>> = { length: 'max_tokens', content_filter: 'refusal' }
  return { stop_reason: reasons[finish] ?? (calls.length > 0 ? 'tool_use' : 'end_turn'), stop_sequence: null }
}

export function* messageFrames(message: JsonObject): Generator<Buffer> {
  const { content, stop_reason = null, stop_sequence = null, usage, ...head } = message
  const opening = { ...head, content: [], stop_reason: null, stop_sequence: null, usage: { ...objectOf(usage), output_tokens: 1 } }
  yield frame('message_start', { message: opening })
  for (const [index, block] of objectsOf(content).entries()) {
    const isText = block['type'] === 'text'
    yield frame('content_block_start', { index, content_block: { ...block, ...(isText ? { text: '' } : { input: {} }) } })
    const piece = isText
      ? { type: 'text_delta', text: textOf(block['text']) }
      : { type: 'input_json_delta', partial_json: written(block['input']) }
    yield frame('content_block_delta', { index, delta: piece })
    yield frame('content_block_stop', { index })
  }
  yield frame('message_delta', { delta: { stop_reason, stop_sequence }, usage: objectOf(usage) })
  yield frame('message_stop', {})
}

const frame = (type: string, fields: JsonObject): Buffer => writeEvent(type, JSON.stringify({ type, ...fields }))
