/** A stored exchange as a conversation: what was asked, what was answered, how it ended; whatever is missing or misshapen is left out. */
import {
  claimingReader,
  isObject,
  readerOf,
  type AnswerTurn,
  type DialectReader,
  type Part,
  type Turn,
} from '../../../../src/dialects/readers/index.ts'
import { objectAt, isRecord, pretty, prettyText, textAt, type UnknownRecord } from '../../../../src/presentation/index.ts'

export type ShownPart =
  | { readonly kind: 'text' | 'thinking' | 'refusal'; readonly text: string }
  /** `source` is a data address; the browser sends no request for it. */
  | { readonly kind: 'image'; readonly source: string }
  /** Something that lies elsewhere: shown as its address, never loaded. */
  | { readonly kind: 'address'; readonly what: string; readonly address: string }
  | { readonly kind: 'call'; readonly name: string; readonly callId: string | null; readonly input: string }
  | { readonly kind: 'result'; readonly callId: string | null; readonly isError: boolean; readonly parts: readonly ShownPart[] }
  /** Of a type not known here. */
  | { readonly kind: 'other'; readonly type: string; readonly json: string }

export interface ShownTurn {
  /** As the format says it: system, developer, user, assistant, tool. */
  readonly role: string
  readonly parts: readonly ShownPart[]
}
interface ShownAnswer extends ShownTurn {
  readonly stop: string | null
}
export interface ShownExchange {
  /** Null where no format claims it. */
  readonly format: string | null
  readonly asked: readonly ShownTurn[]
  /** More than one where several choices were asked for. */
  readonly answers: readonly ShownAnswer[]
  readonly tools: readonly { readonly name: string; readonly description: string | null }[]
  /** The settings of the request that are one word or number. */
  readonly settings: readonly Fact[]
  readonly usage: readonly Fact[]
  readonly isStreamed: boolean
  /** Why it is not whole; null when it is. */
  readonly trouble: string | null
}
type Fact = readonly [name: string, value: string]

export function exchangeOf(payload: UnknownRecord): ShownExchange {
  const request = isObject(payload) ? payload : {}
  const response = payload['response']
  const answer = isObject(response) ? response : {}
  const reader = readerOf(request)
  const { turns, tools } = reader.read(request)
  return {
    format: claimingReader(request)?.title ?? null,
    asked: (reader.shownTurns?.(request) ?? turns).filter(({ parts }) => parts.length > 0).map(shownTurn),
    answers: answersIn(reader, response),
    tools: tools.map(({ name, description }) => ({ name, description: description === '' ? null : description })),
    settings: settingsIn(payload),
    usage: usageIn(objectAt(answer, reader.usage)),
    isStreamed: answer['stream'] === true,
    trouble: troubleIn(answer),
  }
}

/** What the user said last; empty where nothing was said in words. */
export function lastAsked({ asked }: Pick<ShownExchange, 'asked'>): string {
  const texts = asked
    .filter(({ role }) => role === 'user')
    .map(({ parts }) => parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])))
  return texts.map((parts) => parts.join('\n')).findLast((text) => text.trim() !== '') ?? ''
}

const shownTurn = ({ role, parts }: Turn): ShownTurn => ({ role, parts: shownParts(parts) })

function answersIn(reader: DialectReader, response: unknown): readonly ShownAnswer[] {
  if (typeof response === 'string') return [{ role: 'assistant', parts: [{ kind: 'text', text: response }], stop: null }]
  if (!isObject(response) || Object.keys(response).length === 0) return []
  const answers = reader.readAnswer(response)
  if (answers.length > 0) return answers.map((answer: AnswerTurn) => ({ ...shownTurn(answer), stop: answer.stop }))
  return [{ role: 'assistant', parts: [{ kind: 'other', type: 'response', json: pretty(response) }], stop: null }]
}

const SETTING_CHARACTERS_MAX = 200
/** More would not be read. */
const FACTS_MAX = 40
const NOT_SETTINGS: ReadonlySet<string> = new Set(['system', 'instructions', 'input', 'response', 'score'])

function settingsIn(payload: UnknownRecord): readonly Fact[] {
  const settings = Object.entries(payload).filter(([name, value]) => isSetting(value) && !NOT_SETTINGS.has(name))
  return settings.slice(0, FACTS_MAX).map(([name, value]) => [name, String(value)])
}

const isSetting = (value: unknown): boolean =>
  typeof value === 'number' || typeof value === 'boolean' || (typeof value === 'string' && value.length <= SETTING_CHARACTERS_MAX)

/** Counts, those of one level below too: what was cached and what was thought is counted there. */
function usageIn(usage: UnknownRecord): readonly Fact[] {
  const counts = Object.entries(usage).flatMap(([name, value]) => (isRecord(value) ? Object.entries(value) : [[name, value] as const]))
  const numbers = counts.filter(([, count]) => typeof count === 'number')
  return numbers.slice(0, FACTS_MAX).map(([name, count]) => [name, String(count)])
}

function troubleIn(answer: UnknownRecord): string | null {
  const { error } = answer
  const words = textAt(answer, 'cause') ?? (isRecord(error) ? (textAt(error, 'message') ?? pretty(error)) : textAt(answer, 'error'))
  return words ?? (answer['complete'] === false ? 'The answer broke off.' : null)
}

const WITHHELD = '(withheld by the provider)'
/** SVG is left out: it is a document, and says more than a picture. */
const PICTURE = /^data:image\/(?:png|jpeg|gif|webp|avif|bmp);base64,/i

const shownParts = (parts: readonly Part[]): readonly ShownPart[] => parts.map(shownPart)

function shownPart(part: Part): ShownPart {
  switch (part.kind) {
    case 'thinking':
      return { kind: 'thinking', text: part.text ?? WITHHELD }
    case 'image': {
      const { address } = part
      return PICTURE.test(address) ? { kind: 'image', source: address } : { kind: 'address', what: 'image', address }
    }
    case 'call': {
      const { name, id, input } = part
      return { kind: 'call', name, callId: id, input: typeof input === 'string' ? prettyText(input) : pretty(input) }
    }
    case 'result':
      return { kind: 'result', callId: part.callId, isError: part.isError, parts: shownParts(part.parts) }
    case 'other':
      return { kind: 'other', type: part.type, json: pretty(part.value) }
    default:
      return part
  }
}
