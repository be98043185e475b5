/**
 * Dialects: a folder for each provider format, and here the one table of them; other rooms look up what they need to know of a format.
 * A new format is its folder, its name and schemas in the contract, and a row here and in `readers`; the compiler names what is missing.
 * Does not serve, record or ask anything.
 */
import type { ChatTurn, Dialect, JsonObject, ModelApi } from '../contract/index.ts'
import { chat } from './chat/index.ts'
import { callsIn } from './conversation.ts'
import type { DialectSpec } from './dialect.ts'
import { gemini, geminiCount } from './gemini/index.ts'
import { geminiRoute } from './gemini/read.ts'
import { messages, messagesCount } from './messages/index.ts'
import { responses, responsesCompact, responsesCount } from './responses/index.ts'
import { objectOf, written } from './values.ts'

export const dialects: Readonly<Record<Dialect, DialectSpec>> = {
  chat,
  responses,
  responses_count_tokens: responsesCount,
  responses_compact: responsesCompact,
  messages,
  count_tokens: messagesCount,
  gemini,
  gemini_count_tokens: geminiCount,
}

/** By the words of the model settings. */
export const dialectsByApi: Readonly<Record<ModelApi, DialectSpec>> = { openai: chat, responses, anthropic: messages, gemini }

const all = Object.values(dialects)

/** The format whose clients read what is answered at a path: chat where no other claims it. */
export const dialectOfPath = (path: string): DialectSpec => all.find((dialect) => dialect.ownsPath(path)) ?? chat

/** The path of the route that answers at a path. One format has clients that ask below other versions than its routes. */
export const routedPath = (path: string): string => geminiRoute(path)

/** The path that the upstream is asked at: no provider serves anything without a version. */
export const sentPath = (path: string): string => (path.startsWith('/models/') ? routedPath(path) : path)

/** The format of a call of a route, whatever stands before and behind it; null where it is no call of a model. */
export const dialectOfCall = (path: string): DialectSpec | null => ROUTES.find(({ route }) => route.test(routedPath(path)))?.dialect ?? null

const ROUTES = all.flatMap((dialect) =>
  dialect.paths.map((path) => ({ dialect, route: new RegExp(`${path.replace(':model', '[^/?]+')}(?:\\?|$)`) })),
)

/** The format of a stream that was recorded as text: each says in its first event which it is. */
export const dialectOfEvent = (event: JsonObject): DialectSpec | null => all.find((dialect) => dialect.isEvent(event)) ?? null

/** The headers, besides authorization, that clients of some format send their key in. */
export const keyHeaderNames: readonly string[] = [...new Set(all.flatMap(({ keyHeaders }) => Object.keys(keyHeaders(''))))].filter(
  (name) => name !== 'authorization',
)

/** The members of a request that some format has facts in. */
export const factsOfAll: readonly string[] = all.flatMap(({ facts }) => facts)

/** An upstream may count in the words of another format: the first names that occur are read. Those of responses are among those of messages. */
const COUNTED = [chat.answer, messages.answer, gemini.answer]

/** The tokens that an answer says it took; null where it says none. */
export function tokensIn(dialect: DialectSpec, answer: JsonObject): { readonly input: number | null; readonly output: number | null } {
  const usage = objectOf(answer[dialect.answer.usage])
  return { input: tokenCount(usage, 'inputTokens'), output: tokenCount(usage, 'outputTokens') }
}

function tokenCount(usage: JsonObject, kind: 'inputTokens' | 'outputTokens'): number | null {
  for (const { [kind]: names } of COUNTED) {
    if (names.every((name) => usage[name] === undefined)) continue
    let sum: number | null = null
    for (const name of names) {
      const count = usage[name]
      if (typeof count === 'number' && count >= 0) sum = (sum ?? 0) + count
    }
    return Number.isSafeInteger(sum) ? sum : null
  }
  return null
}

export interface ModelAnswer extends ChatTurn {
  readonly inputTokens: number
  readonly outputTokens: number
}

/** Null when it is no answer of this format. */
export function readModelAnswer(dialect: DialectSpec, body: JsonObject): ModelAnswer | null {
  const [first] = dialect.reader.readAnswer(body)
  if (first === undefined) return null
  const tokens = tokensIn(dialect, body)
  return {
    text: first.parts.map((part) => (part.kind === 'text' ? part.text : '')).join(''),
    calls: callsIn(first.parts).map(({ id, name, input }) => ({ id: id ?? '', name, arguments: written(input) })),
    inputTokens: tokens.input ?? 0,
    outputTokens: tokens.output ?? 0,
  }
}

export {
  callsIn,
  isInstruction,
  resultText,
  textsIn,
  withResultsApart,
  type CallPart,
  type DialectReader,
  type ModelReply,
  type Part,
  type ReplyCall,
  type Tool,
  type ToolChoice,
  type Turn,
} from './conversation.ts'
export { parseExactly } from './digits.ts'
export { ownWords } from './own-words.ts'
export { readerOf, replayOf, type Replay, type ReplayOrder } from './readers/index.ts'
export type { RequestFault } from './faults.ts'
export { filledText, isList, isObject, listOf, objectOf, objectsOf, parsed, tagsIn, textOf, written } from './values.ts'
export type { DialectSpec } from './dialect.ts'
export { withSeed } from './seed.ts'
export { readObject, type StreamReader } from './stream.ts'
export { translate, translateCount, type StreamTranslation, type Translated } from './translation/index.ts'
