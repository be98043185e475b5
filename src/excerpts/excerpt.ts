/** What a record says, as text of bounded length: what was asked last and what was answered, for lists and for the search. */
import {
  isObject,
  SEARCHED_CHARACTERS_MAX,
  EXCERPT_CHARACTERS_MAX,
  SESSION_TAG,
  TAG_VALUE_CHARACTERS_MAX,
  TAGS_MAX,
  type Json,
  type JsonObject,
  type RecordExcerpt,
  type RecordRow,
} from '../contract/index.ts'
import {
  callsIn,
  isInstruction,
  objectOf,
  ownWords,
  parsed,
  readerOf,
  resultText,
  tagsIn,
  textOf,
  textsIn,
  written,
  type Part,
  type Turn,
} from '../dialects/index.ts'
import { firstCodePoints } from '../kit/index.ts'

export interface Excerpt {
  readonly input: string
  readonly output: string
  readonly tags: Readonly<Record<string, string>>
  readonly model: string | null
  /** False when the answer broke off. */
  readonly isComplete: boolean
  /** As the provider counted it. */
  readonly cost: number | null
}

const NOTHING = { tags: {}, model: null, isComplete: true, cost: null }

/** Of a body that is no JSON object, or that nothing can be read of, it is empty. */
export function excerptOf(type: RecordRow['request_type'], payload: Uint8Array): Excerpt {
  try {
    const value: Json = JSON.parse(Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).toString())
    if (isObject(value)) return READERS[type](value)
  } catch {
    // Nested too deep, or damaged.
  }
  return { input: '', output: '', ...NOTHING }
}

const READERS: Readonly<Record<RecordRow['request_type'], (payload: JsonObject) => Excerpt>> = {
  inference: exchangeExcerpt,
  report: (payload) => ({ ...NOTHING, input: cut(written(payload['feedback'])), output: '', tags: textTags(payload) }),
  train: (payload) => ({ ...NOTHING, input: cut(textOf(payload['text'])), output: '' }),
}

function exchangeExcerpt(payload: JsonObject): Excerpt {
  const response = objectOf(payload['response'])
  const reader = readerOf(payload)
  const input = lastAsked(reader.read(payload).turns)
  const output = answered(payload['response'], reader.readAnswer(response)[0]?.parts ?? [])
  const isRead = input !== '' || output !== ''
  const { cost } = objectOf(response[reader.usage])
  return {
    input: isRead ? input : ownTexts(payload),
    output,
    tags: textTags(payload),
    model: textOf(response['model']) || textOf(payload['model']) || null,
    isComplete: response['complete'] !== false,
    cost: typeof cost === 'number' && cost >= 0 && Number.isFinite(cost) ? cost : null,
  }
}

/** The last turn before the answer that says anything. Instructions are the same in every exchange, and what the agent said is in an earlier one. */
function lastAsked(turns: readonly Turn[]): string {
  for (const { role, parts } of turns.toReversed()) {
    const text = isInstruction(role) || role === 'assistant' ? '' : cut(parts.map(askedText).join('\n'))
    if (text !== '') return text
  }
  return ''
}

function askedText(part: Part): string {
  if (part.kind === 'result') return cut(resultText(part))
  return part.kind === 'text' ? ownWords(part.text.slice(0, READ_CHARACTERS_MAX)) : ''
}

function answered(response: Json | undefined, parts: readonly Part[]): string {
  if (typeof response === 'string') return cut(response)
  return cut([...textsIn(parts), ...callsIn(parts).map(({ name, input }) => `${name} ${written(input)}`)].join('\n'))
}

/** Of an import in a format of its own: the texts of its first level. */
function ownTexts(payload: JsonObject): string {
  const texts = Object.entries(payload).flatMap(([name, value]) => (typeof value === 'string' && name !== 'model' ? [value] : []))
  return cut(texts.join('\n'))
}

/** What agents put into a person's turn comes before the person's words. */
const READ_CHARACTERS_MAX = 16 * SEARCHED_CHARACTERS_MAX

const cut = (text: string): string => text.trim().slice(0, SEARCHED_CHARACTERS_MAX).toWellFormed()

/** An import may say anything there. */
function textTags(payload: JsonObject): Excerpt['tags'] {
  const texts = Object.entries(tagsIn(payload)).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' && value !== '' ? [[name.slice(0, TAG_VALUE_CHARACTERS_MAX), value.slice(0, TAG_VALUE_CHARACTERS_MAX)]] : [],
  )
  return Object.fromEntries(texts.slice(0, TAGS_MAX).map(([name, value]) => [name.toWellFormed(), value.toWellFormed()]))
}

/** Every tag that a record was sent with, whole, however many there are and wherever they stand; of an instruction its session. */
export function tagsWithin(type: RecordRow['request_type'], payload: Uint8Array): readonly (readonly [string, Json])[] {
  const body = objectOf(parsed(Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).toString()))
  if (type === 'train') return [[SESSION_TAG, body['session'] ?? null]]
  return [body['metadata_tags'], objectOf(body['metadata'])['tags']].flatMap((tags) => Object.entries(objectOf(tags)))
}

/** The first words of each on one line. */
export function shownExcerpt({ input, output, tags, cost }: Excerpt): RecordExcerpt {
  return { input: firstWords(input), output: firstWords(output), tags, ...(cost !== null && { cost }) }
}

const firstWords = (text: string): string =>
  firstCodePoints(text.slice(0, 4 * EXCERPT_CHARACTERS_MAX).replaceAll(/\s+/g, ' '), EXCERPT_CHARACTERS_MAX)
