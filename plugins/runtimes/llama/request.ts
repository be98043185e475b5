/** A chat completions request as the engine takes it: messages, tools and sampling. */
import { isObject, type Json, type JsonObject, type Sampling } from '../../../src/contract/index.ts'
import { isList, listOf, objectOf, parsed } from '../../../src/dialects/index.ts'

export interface ChatRequest {
  /** As templates know them: texts alone, arguments as objects. */
  readonly messages: readonly JsonObject[]
  readonly tools: readonly JsonObject[]
  /** Without a limit on the answer where the request has none. */
  readonly sampling: Omit<Sampling, 'maxTokens'> & { readonly maxTokens: number | null }
}

/** Why a request cannot be answered, in the shape of the provider. */
export class Unanswerable extends Error {
  readonly answer: JsonObject

  constructor(message: string, param: string | null, code: string | null = null) {
    super(message)
    this.answer = { error: { message, type: 'invalid_request_error', param, code } }
  }
}

const TEMPERATURE_MAX = 2
const STOPS_MAX = 16

export function readChat(body: JsonObject): ChatRequest {
  if ((body['n'] ?? 1) !== 1) throw new Unanswerable('n must be 1: this engine gives one answer to a request.', 'n')
  const format = objectOf(body['response_format'])['type'] ?? 'text'
  if (format !== 'text')
    throw new Unanswerable('response_format must be text: this engine cannot hold an answer to a schema.', 'response_format')
  return {
    messages: readMessages(body['messages']),
    tools: readTools(body),
    sampling: {
      maxTokens: whole(body, 'max_completion_tokens', 1) ?? whole(body, 'max_tokens', 1),
      temperature: number(body, 'temperature', TEMPERATURE_MAX) ?? 1,
      ...present('topP', number(body, 'top_p', 1)),
      ...present('topK', whole(body, 'top_k', -1)),
      ...present('seed', whole(body, 'seed', Number.MIN_SAFE_INTEGER)),
      stop: readStops(body['stop']),
    },
  }
}

export function readMessages(value: Json | undefined): readonly JsonObject[] {
  if (!isList(value) || value.length === 0) throw new Unanswerable('messages must be a list with at least one message.', 'messages')
  return value.map((message, at) => {
    if (!isObject(message) || typeof message['role'] !== 'string')
      throw new Unanswerable('every message must have a role.', `messages.[${at}].role`)
    return readMessage(message, at)
  })
}

/** Keys without a value are left out: templates ask whether a key is there. */
function readMessage(message: JsonObject, at: number): JsonObject {
  const calls = listOf(message['tool_calls']).filter(isObject).map(readCall)
  return {
    role: message['role'] === 'developer' ? 'system' : (message['role'] ?? ''),
    content: textOf(message['content'], at),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(typeof message['name'] === 'string' && { name: message['name'] }),
    ...(typeof message['tool_call_id'] === 'string' && { tool_call_id: message['tool_call_id'] }),
  }
}

function textOf(content: Json | undefined, at: number): string {
  if (content === null || content === undefined) return ''
  if (typeof content === 'string') return content
  const parts = listOf(content).map((part) => {
    const { type, text, refusal } = objectOf(part)
    if (type === 'text' && typeof text === 'string') return text
    if (type === 'refusal' && typeof refusal === 'string') return refusal
    throw new Unanswerable('this model reads text alone: send no image, audio or file.', `messages.[${at}].content`)
  })
  return parts.join('')
}

/** On the wire arguments are JSON text; templates print them as JSON themselves. */
function readCall(call: JsonObject): JsonObject {
  const { name, arguments: written = {} } = objectOf(call['function'])
  const given = typeof written === 'string' ? parsed(written) : written
  return { ...call, type: 'function', function: { name: name ?? '', arguments: isObject(given) ? given : (written ?? {}) } }
}

/** A tool call cannot be forced. */
function readTools(body: JsonObject): readonly JsonObject[] {
  const choice = body['tool_choice'] ?? 'auto'
  if (choice === 'none') return []
  if (choice !== 'auto') throw new Unanswerable('tool_choice must be auto or none: this engine cannot force a call.', 'tool_choice')
  return listOf(body['tools']).filter(isObject)
}

function readStops(value: Json | undefined): readonly string[] {
  const stops = typeof value === 'string' ? [value] : (value ?? [])
  if (!isList(stops) || stops.length > STOPS_MAX || !stops.every((stop) => typeof stop === 'string' && stop !== ''))
    throw new Unanswerable(`stop must be a text, or a list of at most ${STOPS_MAX} texts, and none of them empty.`, 'stop')
  return stops.filter((stop) => typeof stop === 'string')
}

function whole(body: JsonObject, key: string, least: number): number | null {
  const value = body[key] ?? null
  if (value === null) return null
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < least)
    throw new Unanswerable(`${key} must be a whole number of at least ${least}.`, key)
  return value
}

function number(body: JsonObject, key: string, most: number): number | null {
  const value = body[key] ?? null
  if (value === null) return null
  if (typeof value !== 'number' || !(value >= 0 && value <= most)) throw new Unanswerable(`${key} must be a number from 0 to ${most}.`, key)
  return value
}

const present = (key: 'topP' | 'topK' | 'seed', value: number | null): Partial<Sampling> => (value === null ? {} : { [key]: value })
