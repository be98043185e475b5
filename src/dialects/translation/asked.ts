/** A request between two formats: the conversation, and what else both may know. */
import type { Json, JsonObject } from '../../contract/index.ts'
import type { CallPart, Conversation, Part, Tool, Turn } from '../conversation.ts'
import { isNumber, parsedExactly } from '../digits.ts'
import { isObject, objectOf, parsed, textOf, written } from '../values.ts'
import { Untranslatable } from './rules.ts'

export interface Asked extends Conversation, AskedBesides {
  readonly model: string
  readonly isStreamed: boolean
}

/** What a conversation has no member for. */
export interface AskedBesides {
  /** What the client calls the members of a conversation that some formats have no counterpart for. */
  readonly names: Readonly<Record<'stops' | 'format' | 'parallel', string>>
  /** How much the model should think, with the field that says so. */
  readonly effort: Wanted<string>
  readonly seed: Wanted<Json>
  readonly penalties: Readonly<Record<'frequency' | 'presence', Wanted<Json>>>
  /** The names of the tools whose calls must fit their schema exactly. */
  readonly strictTools: ReadonlySet<string>
  readonly formatName: string | null
  readonly isFormatStrict: boolean | null
}

/** Null where the request does not say. */
type Wanted<T> = { readonly where: string; readonly value: T } | null

export function saidText(body: JsonObject, name: string, within = ''): Wanted<string> {
  const value = body[name]
  return typeof value === 'string' ? { where: `${within}${name}`, value } : null
}

export function saidNumber(body: JsonObject, name: string): Wanted<Json> {
  const value = body[name]
  return isNumber(value) ? { where: name, value } : null
}

export const NOTHING_BESIDES: Omit<AskedBesides, 'names'> = {
  effort: null,
  seed: null,
  penalties: { frequency: null, presence: null },
  strictTools: new Set(),
  formatName: null,
  isFormatStrict: null,
}

/** For a format that has no member for it. A penalty of 0 is none. */
export function refuseSaid(...all: readonly Wanted<Json>[]): void {
  for (const said of all) if (said !== null && said.value !== 0) throw new Untranslatable(said.where, 'it has no counterpart')
}

/** The format's word for how much to think. */
export function effortIn({ effort }: Asked, words: readonly string[]): string | null {
  if (effort === null) return null
  if (!words.includes(effort.value)) throw new Untranslatable(effort.where, `it can only be ${words.join(', ')} here`)
  return effort.value
}

/** A part that the place it stands in cannot hold. */
export function unfit(part: Part, where: string): never {
  const [at, what] = part.kind === 'image' || part.kind === 'other' ? [part.where, part.type] : [where, part.kind]
  throw new Untranslatable(at, `${what} has no counterpart there`)
}

/** A custom tool takes plain text. Elsewhere it is a function of one text. */
const CUSTOM_INPUT: JsonObject = { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] }

export const schemaOfTool = ({ shape, parameters }: Tool): JsonObject =>
  shape === 'custom' ? CUSTOM_INPUT : Object.keys(parameters).length === 0 ? { type: 'object', properties: {} } : parameters

export const inputText = ({ input, isCustom }: CallPart): string => (isCustom ? JSON.stringify({ input: textOf(input) }) : written(input))

/** Some formats take an object only. */
export function inputObject(call: CallPart): JsonObject {
  const text = inputText(call)
  const value = text === '' ? {} : parsedExactly(text)
  if (!isObject(value)) throw new Untranslatable(`the arguments of the call of ${call.name}`, 'they are no JSON object')
  return value
}

/** What the model gave a custom tool: the text, or all of it where the model left the shape. */
export const customInput = (given: string): string => {
  const { input } = objectOf(parsed(given))
  return typeof input === 'string' ? input : given
}

/** The media type and the data of a picture that is sent along; null where the address is one of the network. */
export function inlineImage(address: string): { readonly type: string; readonly base64: string } | null {
  const [, type = '', base64 = ''] = /^data:([^;,]+);base64,(.*)$/s.exec(address) ?? []
  return type === '' ? null : { type, base64 }
}

/** Neighbours of one side become one turn, and empty turns none. In place: copied for every turn, a long conversation would cost its square. */
export function bySide<Side extends string>(
  turns: readonly Turn[],
  sideOf: (role: string) => Side,
  partsOf: (turn: Turn) => readonly JsonObject[],
): readonly { readonly side: Side; readonly parts: readonly JsonObject[] }[] {
  const all: { readonly side: Side; readonly parts: JsonObject[] }[] = []
  for (const turn of turns) {
    const side = sideOf(turn.role)
    const parts = partsOf(turn)
    const last = all.at(-1)
    if (parts.length === 0) continue
    if (last?.side !== side) all.push({ side, parts: [...parts] })
    else for (const part of parts) last.parts.push(part)
  }
  return all
}
