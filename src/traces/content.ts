/** Prompts and answers for spans, as their dialect reads them: roles and parts as the GenAI conventions define them, cut to size. */
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

/** Instructions that the request has apart from its messages; others are messages. */
export function instructionsOf(request: JsonObject, reader: DialectReader): string | null {
  const { apart } = turnsIn(request, reader)
  return printAll(apart.flatMap(({ parts }) => parts.map(spanPart)))
}

export function inputMessages(request: JsonObject, reader: DialectReader): string | null {
  return printAll(turnsIn(request, reader).messages.map(spanTurn))
}

/** One message per choice. */
export function outputMessages(answer: JsonObject, reader: DialectReader): string | null {
  return printAll(reader.readAnswer(answer).map((turn) => ({ ...spanTurn(turn), finish_reason: turn.stop ?? '' })))
}

function turnsIn(request: JsonObject, reader: DialectReader): { apart: readonly Turn[]; messages: readonly Turn[] } {
  const { turns } = reader.read(request)
  const isApart = reader.instructions.some((member) => request[member] !== undefined) && isInstruction(turns[0]?.role ?? '')
  return { apart: turns.slice(0, isApart ? 1 : 0), messages: turns.slice(isApart ? 1 : 0) }
}

const spanTurn = ({ role, parts }: Turn): { readonly role: string; readonly parts: readonly SpanPart[] } => ({
  role,
  parts: parts.map(spanPart),
})

function spanPart(part: Part): SpanPart {
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

function printAll(members: readonly object[]): string | null {
  return members.length === 0 ? null : printNewest(members)
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
