/** What a turn of a conversation is made of, in whichever of the three formats it came: the types of their parts do not collide. */
import { dataAt, isData, listAt, pretty, prettyText, textAt, type Data } from '../../data/json.ts'

export type Part =
  | { readonly kind: 'text' | 'thinking' | 'refusal'; readonly text: string }
  /** `source` is a data address; the browser asks nobody for it. */
  | { readonly kind: 'image'; readonly source: string }
  /** Something that lies elsewhere: shown as its address, never loaded. */
  | { readonly kind: 'address'; readonly what: string; readonly address: string }
  | { readonly kind: 'call'; readonly name: string; readonly callId: string | null; readonly input: string }
  | { readonly kind: 'result'; readonly callId: string | null; readonly isError: boolean; readonly parts: readonly Part[] }
  /** Of a type not known here. */
  | { readonly kind: 'other'; readonly type: string; readonly json: string }

const DEPTH_MAX = 4
const WITHHELD = '(withheld by the provider)'

/** Content is a text, a list of parts, or nothing. */
export function partsOf(content: unknown, depth = 0): readonly Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }]
  if (depth > DEPTH_MAX) return [{ kind: 'other', type: 'nested', json: pretty(content) }]
  if (Array.isArray(content)) return content.flatMap((part: unknown) => (isData(part) ? partOf(part, depth) : partsOf(part, depth + 1)))
  return isData(content) ? partOf(content, depth) : []
}

function partOf(part: Data, depth: number): readonly Part[] {
  const type = textAt(part, 'type') ?? ''
  const read = Object.hasOwn(READERS, type) ? READERS[type] : readerByEnding(type)
  return read?.(part, depth) ?? [otherPart(part)]
}

/** Answers null for a part that does not have the shape its type promises. */
type Reader = (part: Data, depth: number) => readonly Part[] | null

const text: Reader = (part) => said('text', part['text'])
const thinking: Reader = (part) => said('thinking', part['text'] ?? part['thinking'])
const withheld: Reader = () => [{ kind: 'thinking', text: WITHHELD }]

const READERS: Readonly<Record<string, Reader>> = {
  text,
  input_text: text,
  output_text: text,
  thinking,
  reasoning_text: thinking,
  summary_text: thinking,
  redacted_thinking: withheld,
  reasoning: (part, depth) => {
    const parts = [...partsOf(listAt(part, 'summary'), depth + 1), ...partsOf(part['content'], depth + 1)]
    return parts.length > 0 || textAt(part, 'encrypted_content') === null ? parts : [{ kind: 'thinking', text: WITHHELD }]
  },
  refusal: (part) => said('refusal', part['refusal']),
  image_url: (part) => pictureAt(textAt(part, 'image_url') ?? textAt(dataAt(part, 'image_url'), 'url')),
  input_image: (part) => pictureAt(textAt(part, 'image_url')),
  image: (part) => pictureOf(dataAt(part, 'source')),
  image_generation_call: (part) => pictureAt(dataAddress('image/png', textAt(part, 'result'))),
  tool_use: (part) => [callPart(part, 'id')],
  function_call: (part) => [callPart(part, 'call_id')],
  tool_result: (part, depth) => [resultPart(textAt(part, 'tool_use_id'), part['content'], part['is_error'] === true, depth)],
}

/** Providers keep adding tools of their own; their calls and results are named alike. */
function readerByEnding(type: string): Reader | undefined {
  if (type.endsWith('_tool_use')) return (part) => [callPart(part, 'id')]
  if (type.endsWith('_call')) return (part) => [callPart(part, 'call_id')]
  if (type.endsWith('_call_output')) return (part, depth) => [resultPart(textAt(part, 'call_id'), part['output'], false, depth)]
  if (type.endsWith('_tool_result')) return (part, depth) => [resultPart(textAt(part, 'tool_use_id'), part['content'], false, depth)]
  return undefined
}

const otherPart = (part: Data): Part => ({ kind: 'other', type: textAt(part, 'type') ?? 'unknown', json: pretty(part) })

function said(kind: 'text' | 'thinking' | 'refusal', value: unknown): readonly Part[] | null {
  if (typeof value !== 'string') return null
  return value === '' ? [] : [{ kind, text: value }]
}

export function callPart(part: Data, idField: string): Part {
  const input = part['arguments'] ?? part['input'] ?? part['action'] ?? part['code'] ?? {}
  return {
    kind: 'call',
    name: textAt(part, 'name') ?? textAt(part, 'type') ?? 'unnamed',
    callId: textAt(part, idField) ?? textAt(part, 'id'),
    input: typeof input === 'string' ? prettyText(input) : pretty(input),
  }
}

export function resultPart(callId: string | null, content: unknown, isError: boolean, depth: number): Part {
  return { kind: 'result', callId, isError, parts: partsOf(content, depth + 1) }
}

/** SVG is left out: it is a document, and says more than a picture. */
const PICTURE = /^data:image\/(?:png|jpeg|gif|webp|avif|bmp);base64,/i

function pictureAt(address: string | null): readonly Part[] | null {
  if (address === null) return null
  return PICTURE.test(address) ? [{ kind: 'image', source: address }] : [{ kind: 'address', what: 'image', address }]
}

function pictureOf(source: Data): readonly Part[] | null {
  return pictureAt(dataAddress(textAt(source, 'media_type'), textAt(source, 'data')) ?? textAt(source, 'url'))
}

const dataAddress = (type: string | null, base64: string | null): string | null =>
  type === null || base64 === null ? null : `data:${type};base64,${base64}`
