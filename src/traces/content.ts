/**
 * Prompts and answers for spans: roles and parts as the GenAI conventions define them, cut to size. Messages whose parts say their type stay
 * close to what was sent; any other format is shown as its dialect reads it.
 */
import { isObject, type Json, type JsonObject } from '../contract/index.ts'
import { isInstruction, type DialectReader, type Part, type Turn } from '../dialects/index.ts'
import { shortened } from './attributes.ts'

/** Per attribute; the newest messages are kept. */
const CONTENT_CHARACTERS_MAX = 8192
/** Per text, so that a long one does not displace the others. */
const PART_CHARACTERS_MAX = 2048
/** A shorter text would be useless. */
const PART_CHARACTERS_LEAST = 32

interface SpanPart {
  readonly type: string
  readonly [member: string]: Json
}

export function instructionsOf(request: JsonObject, reader: DialectReader): string | null {
  const said = request['system'] ?? request['instructions']
  if (said !== undefined) return printNewest(partsOf(said))
  if (isTyped(request)) return null
  const [first] = reader.read(request).turns
  return first !== undefined && isInstruction(first.role) ? printNewest(first.parts.map(readPart)) : null
}

export function inputMessages(request: JsonObject, reader: DialectReader): string | null {
  if (!isTyped(request))
    return printTurns(
      reader
        .read(request)
        .turns.filter(({ role }) => !isInstruction(role))
        .map(readTurn),
    )
  const said = request['messages'] ?? request['input']
  if (typeof said === 'string') return printNewest([{ role: 'user', parts: partsOf(said) }])
  return Array.isArray(said) ? printNewest(said.map((one: Json) => messageOf(one, 'user'))) : null
}

/** One message per choice. An answer made of items is one choice. */
export function outputMessages(answer: JsonObject, reader: DialectReader): string | null {
  const { choices, content, output, stop_reason, status } = answer
  if (Array.isArray(choices)) return printNewest(choices.filter(isObject).map(choiceOf))
  if (content !== undefined) return printNewest([{ role: 'assistant', parts: partsOf(content), finish_reason: stop_reason ?? '' }])
  if (!Array.isArray(output))
    return printTurns(reader.readAnswer(answer).map((turn) => ({ ...readTurn(turn), finish_reason: turn.stop ?? '' })))
  const parts = output.flatMap((item: Json) => messageOf(item, 'assistant').parts)
  return printNewest([{ role: 'assistant', parts, finish_reason: status ?? '' }])
}

const isTyped = ({ messages, input }: JsonObject): boolean => messages !== undefined || input !== undefined

const printTurns = (turns: readonly object[]): string | null => (turns.length === 0 ? null : printNewest(turns))

const readTurn = ({ role, parts }: Turn): { readonly role: string; readonly parts: readonly SpanPart[] } => ({
  role,
  parts: parts.map(readPart),
})

function readPart(part: Part): SpanPart {
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return { type: 'text', content: part.text }
    case 'thinking':
      return { type: 'reasoning', content: part.text ?? '' }
    case 'image':
      return { type: 'uri', modality: 'image', uri: part.address }
    case 'call':
      return { type: 'tool_call', id: part.id, name: part.name, arguments: part.input }
    case 'result':
      return { type: 'tool_call_response', id: part.callId, response: part.value }
    default:
      return { ...(isObject(part.value) && part.value), type: part.type }
  }
}

function choiceOf({ message, finish_reason }: JsonObject): JsonObject {
  return { ...messageOf(message ?? null, 'assistant'), finish_reason: finish_reason ?? '' }
}

/** A message, or an item between messages: a tool call or its result. */
function messageOf(said: Json, usualRole: string): { readonly role: string; readonly parts: readonly SpanPart[] } {
  if (!isObject(said)) return { role: usualRole, parts: partsOf(said) }
  const { role, content, tool_calls, tool_call_id, type } = said
  if (role === 'tool') return { role, parts: [{ type: 'tool_call_response', id: tool_call_id ?? null, response: content ?? null }] }
  if (typeof type === 'string' && type !== 'message')
    return { role: type.endsWith('_output') ? 'tool' : 'assistant', parts: [partOf(said)] }
  const calls = Array.isArray(tool_calls) ? tool_calls.filter(isObject).map(toolCallOf) : []
  return { role: typeof role === 'string' ? role : usualRole, parts: [...partsOf(content ?? null), ...calls] }
}

function toolCallOf({ id, function: called }: JsonObject): SpanPart {
  const { name, arguments: given } = isObject(called) ? called : {}
  return { type: 'tool_call', id: id ?? null, name: name ?? '', arguments: given ?? null }
}

function partsOf(content: Json): readonly SpanPart[] {
  if (content === null || content === '') return []
  if (Array.isArray(content)) return content.map((part: Json) => (isObject(part) ? partOf(part) : textPart(part)))
  return [isObject(content) ? partOf(content) : textPart(content)]
}

const textPart = (said: Json): SpanPart => ({ type: 'text', content: typeof said === 'string' ? said : JSON.stringify(said) })

/** A part of a kind unknown to the conventions stays as the provider sent it. */
function partOf(part: JsonObject): SpanPart {
  const type = typeof part['type'] === 'string' ? part['type'] : 'unknown'
  if (typeof part['text'] === 'string') return { type: 'text', content: part['text'] }
  const [id, name] = [part['call_id'] ?? part['id'] ?? null, part['name'] ?? '']
  switch (type) {
    case 'thinking':
      return { type: 'reasoning', content: part['thinking'] ?? '' }
    case 'tool_use':
      return { type: 'tool_call', id, name, arguments: part['input'] ?? null }
    case 'function_call':
      return { type: 'tool_call', id, name, arguments: part['arguments'] ?? null }
    case 'tool_result':
      return { type: 'tool_call_response', id: part['tool_use_id'] ?? null, response: part['content'] ?? null }
    case 'function_call_output':
      return { type: 'tool_call_response', id, response: part['output'] ?? null }
    default:
      return { ...part, type }
  }
}

function printNewest(members: readonly object[]): string {
  const kept: string[] = []
  let room = CONTENT_CHARACTERS_MAX - 2
  for (const member of members.toReversed()) {
    const printed = kept.length === 0 ? squeezed(member, room) : print(member, PART_CHARACTERS_MAX)
    room -= printed.length + 1
    if (room < 0) break
    kept.unshift(printed)
  }
  return `[${kept.join(',')}]`
}

/** The newest message is always shown: its texts are shortened until all fit. */
function squeezed(member: object, room: number): string {
  let printed = ''
  for (let charactersMax = PART_CHARACTERS_MAX; charactersMax >= PART_CHARACTERS_LEAST; charactersMax /= 4) {
    printed = print(member, charactersMax)
    if (printed.length < room) break
  }
  return printed
}

function print(member: object, charactersMax: number): string {
  return JSON.stringify(member, (_key, value: unknown) => (typeof value === 'string' ? shortened(value, charactersMax) : value))
}
