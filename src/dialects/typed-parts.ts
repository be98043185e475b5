/** Parts that say their type, as in the formats of OpenAI and Anthropic: the types of the three do not collide. */
import type { Json, JsonObject } from '../contract/index.ts'
import type { Part, ToolChoice, Turn } from './conversation.ts'
import { isList, isObject, objectOf, objectsOf, textOf, wordsAt } from './values.ts'

const DEPTH_MAX = 4

/** Content is a text, a list of parts, one part, or nothing. `where` names it for a refusal. */
export function partsOf(content: Json | undefined, where: string, depth = 0): readonly Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }]
  if (depth > DEPTH_MAX) return [{ kind: 'other', type: 'nested', value: content ?? null, where }]
  if (isList(content))
    return content.flatMap((part, at) =>
      isObject(part) ? partOf(part, `${where}.${at}`, depth) : partsOf(part, `${where}.${at}`, depth + 1),
    )
  return isObject(content) ? partOf(content, where, depth) : []
}

function partOf(part: JsonObject, where: string, depth: number): readonly Part[] {
  const type = textOf(part['type'])
  const read = Object.hasOwn(READERS, type) ? READERS[type] : readerByEnding(type)
  return read?.(part, where, depth) ?? [{ kind: 'other', type: type === '' ? 'unknown' : type, value: part, where }]
}

/** Answers null for a part that does not have the shape its type promises. */
type Reader = (part: JsonObject, where: string, depth: number) => readonly Part[] | null

const text: Reader = (part) => said('text', part['text'])
const thinking: Reader = (part) => said('thinking', part['text'] ?? part['thinking'])

const READERS: Readonly<Record<string, Reader>> = {
  '': text,
  text,
  input_text: text,
  output_text: text,
  thinking,
  reasoning_text: thinking,
  summary_text: thinking,
  redacted_thinking: () => [{ kind: 'thinking', text: null }],
  reasoning: (part, where, depth) => {
    const parts = [...partsOf(part['summary'], where, depth + 1), ...partsOf(part['content'], where, depth + 1)]
    return parts.length > 0 || wordsAt(part, 'encrypted_content') === null ? parts : [{ kind: 'thinking', text: null }]
  },
  refusal: (part) => said('refusal', part['refusal']),
  image_url: (part, where) => image(wordsAt(part, 'image_url') ?? wordsAt(objectOf(part['image_url']), 'url'), part, where),
  input_image: (part, where) => image(wordsAt(part, 'image_url'), part, where),
  image: (part, where) => {
    const source = objectOf(part['source'])
    return image(dataAddress(wordsAt(source, 'media_type'), wordsAt(source, 'data')) ?? wordsAt(source, 'url'), part, where)
  },
  image_generation_call: (part, where) => image(dataAddress('image/png', wordsAt(part, 'result')), part, where),
  tool_use: (part) => [callPart(part, 'id')],
  function_call: (part) => [callPart(part, 'call_id')],
  tool_result: (part, where, depth) => [
    resultPart(wordsAt(part, 'tool_use_id'), part['content'], part['is_error'] === true, `${where}.content`, depth),
  ],
}

/** Providers keep adding tools of their own; their calls and results are named alike. */
function readerByEnding(type: string): Reader | undefined {
  if (type.endsWith('_tool_use')) return (part) => [callPart(part, 'id')]
  if (type.endsWith('_call')) return (part) => [callPart(part, 'call_id')]
  if (type.endsWith('_call_output'))
    return (part, where, depth) => [
      resultPart(wordsAt(part, 'call_id'), part['output'], part['status'] === 'failed', `${where}.output`, depth),
    ]
  if (type.endsWith('_tool_result'))
    return (part, where, depth) => [resultPart(wordsAt(part, 'tool_use_id'), part['content'], false, `${where}.content`, depth)]
  return undefined
}

function said(kind: 'text' | 'thinking' | 'refusal', value: Json | undefined): readonly Part[] | null {
  if (typeof value !== 'string') return null
  return value === '' ? [] : [{ kind, text: value }]
}

function image(address: string | null, part: JsonObject, where: string): readonly Part[] | null {
  return address === null ? null : [{ kind: 'image', address, type: textOf(part['type']), where }]
}

export const dataAddress = (type: string | null, base64: string | null): string | null =>
  type === null || base64 === null ? null : `data:${type};base64,${base64}`

function callPart(part: JsonObject, idField: string): Part {
  const type = textOf(part['type'])
  return {
    kind: 'call',
    id: wordsAt(part, idField) ?? wordsAt(part, 'id'),
    name: wordsAt(part, 'name') ?? (type === '' ? 'unnamed' : type),
    input: part['arguments'] ?? part['input'] ?? part['action'] ?? part['code'] ?? {},
    isCustom: type.startsWith('custom'),
  }
}

function resultPart(callId: string | null, content: Json | undefined, isError: boolean, where: string, depth: number): Part {
  return { kind: 'result', callId, isError, parts: partsOf(content, where, depth + 1), value: content ?? null }
}

/** A message of the chat or of the messages format; their fields do not collide. */
export function messageTurn(message: JsonObject, where: string): Turn {
  const role = wordsAt(message, 'role') ?? 'unknown'
  if (role === 'tool' || role === 'function') {
    const callId = wordsAt(message, 'tool_call_id') ?? wordsAt(message, 'name')
    return { role: 'tool', parts: [resultPart(callId, message['content'], false, `${where}.content`, 0)] }
  }
  const thought = said('thinking', wordsAt(message, 'reasoning_content') ?? wordsAt(message, 'reasoning') ?? '')
  const refusal = said('refusal', wordsAt(message, 'refusal') ?? '')
  const parts = [...(thought ?? []), ...partsOf(message['content'], `${where}.content`), ...(refusal ?? []), ...callsOf(message)]
  return { role, parts }
}

/** The older `function_call` is one call without an id; a custom tool has its name and input under `custom`. */
function callsOf(message: JsonObject): readonly Part[] {
  const older = message['function_call']
  const made = objectsOf(message['tool_calls']).map((call) =>
    callPart({ ...objectOf(call['custom']), ...objectOf(call['function']), id: call['id'] ?? null, type: call['type'] ?? '' }, 'id'),
  )
  return [...made, ...(isObject(older) ? [callPart(older, 'id')] : [])]
}

export const messageTurns = (messages: Json | undefined): readonly Turn[] =>
  (isList(messages) ? messages : []).flatMap((message, at) => (isObject(message) ? [messageTurn(message, `messages.${at}`)] : []))

export const systemTurns = (content: Json | undefined, where: string): readonly Turn[] => {
  const parts = partsOf(content, where)
  return parts.length === 0 ? [] : [{ role: 'system', parts }]
}

/** Whether the model may, must or must not call a tool, in the spelling of any of the three. */
export function readChoice(choice: Json | undefined): ToolChoice {
  if (typeof choice === 'string') return choiceOf(choice)
  if (!isObject(choice)) return { kind: 'auto' }
  const named = textOf(choice['name']) || textOf(objectOf(choice['function'])['name']) || textOf(objectOf(choice['custom'])['name'])
  if (named !== '') return { kind: 'named', name: named }
  return choiceOf(textOf(choice['mode']) || textOf(objectOf(choice['allowed_tools'])['mode']) || textOf(choice['type']))
}

function choiceOf(word: string): ToolChoice {
  if (word === 'none') return { kind: 'none' }
  return { kind: word === 'required' || word === 'any' ? 'required' : 'auto' }
}

export const readLimit = (value: Json | undefined): number | null =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.floor(value) : null

export const readStops = (value: Json | undefined): readonly string[] =>
  (typeof value === 'string' ? [value] : isList(value) ? value : []).filter(
    (stop): stop is string => typeof stop === 'string' && stop !== '',
  )

export const schemaFormat = (type: Json | undefined, schema: Json | undefined): { readonly schema: JsonObject | null } | null => {
  if (type === 'json_object') return { schema: null }
  return type === 'json_schema' ? { schema: objectOf(schema) } : null
}
