/** What a provider's format says about itself, so that no other room needs to compare its name. */
import type { z } from 'zod'
import type { Dialect, Format, Json, JsonObject } from '../contract/index.ts'
import type { Conversation, DialectReader, ModelQuestion, ModelReply, Pieces } from './conversation.ts'
import type { RequestFault } from './faults.ts'
import type { StreamReader } from './stream.ts'
import type { Asked, AskedBesides } from './translation/asked.ts'
import type { Rule } from './translation/rules.ts'
import type { PieceReader, AnswerListener, PieceWriter } from './translation/pieces.ts'
import { filledText, objectOf, textOf } from './values.ts'

export interface DialectSpec {
  readonly name: Dialect
  /** Under which name an upstream says that it speaks it: counting tokens belongs to the format of what is counted. */
  readonly format: Format
  /** The routes, below the service's address and the upstream's alike. */
  readonly paths: readonly string[]
  /** Whether a path, of whatever route, belongs to this format: then its errors and headers have the format's shape. */
  ownsPath(path: string): boolean
  /** What a path with its query asks for and this service does not give; null where there is nothing of the kind. */
  readonly pathFault?: (path: string) => RequestFault | null
  /** In the words of the GenAI conventions. */
  readonly provider: string
  readonly operation: 'chat' | 'count_tokens'
  readonly requestIdHeader: string
  /** The key as the provider wants it, and what else every request must have. */
  readonly keyHeaders: (apiKey: string) => Readonly<Record<string, string>>
  readonly defaultHeaders: Readonly<Record<string, string>>
  /** Members of a request that the request line and its traces read, also where the body is too large to be parsed. */
  readonly facts: readonly string[]
  /** Where a request has its sampling seed: the member, within the one before it, in each of its spellings. Absent: the format has none. */
  readonly seedAt?: readonly (readonly string[])[]
  settingsIn(facts: JsonObject): { readonly maxTokens: Json | undefined; readonly temperature: Json | undefined }
  /** Where an answer says what served it and what that took. */
  readonly answer: AnswerMembers
  finishReasons(answer: JsonObject): readonly Json[]
  /** How the OpenAPI document describes the format; `name` is used in names of operations. */
  readonly openApi: { readonly name: string; readonly words: string; readonly body: z.ZodType; readonly error: z.ZodType }
  /** Without a type, the status says it. */
  writeError(
    status: number,
    fault: { readonly message: string; readonly type?: string; readonly code?: Json; readonly param?: Json; readonly requestId?: string },
  ): JsonObject
  /** Whether a client of the format finds in an upstream's error what it looks for. */
  isError(said: JsonObject): boolean
  isEvent(event: JsonObject): boolean
  /** Absent: its answers are never streamed. */
  readonly openStream?: () => StreamReader
  readonly reader: DialectReader
  /** Which model a request asks for, and whether its answer is streamed; '' where it names none. */
  modelIn(path: string, body: JsonObject): string
  isStreamed(path: string, body: JsonObject): boolean
  /** Present where the path names the model: the same path with another one. */
  readonly renamePath?: (path: string, model: string) => string
  /** What the provider would refuse a request for; null where it would not. `model` is '' where none is named or set. */
  faultIn(body: JsonObject, model: string): RequestFault | null
  /** A request as a chat request, for engines that speak chat completions alone. Throws Refusal 'invalid' for what they cannot be asked. */
  chatRequest(body: JsonObject): JsonObject
  /** How long an id of an answer is, without its prefix. */
  readonly idCharacters: number
  writeAnswer(reply: ModelReply, request: JsonObject): JsonObject
  frames(answer: JsonObject, request: JsonObject, pieces: Pieces): Iterable<Buffer>
  /** Present where the request only counts tokens. */
  readonly writeCount?: (tokens: number) => JsonObject
  /** Present where clients of the format are translated, and the request only counts tokens: the format of the calls that it counts. */
  readonly counted?: DialectSpec
  /** The body of a question to a model; its reader has the path. */
  writeRequest(question: ModelQuestion): JsonObject
  /** Absent: its clients are answered by upstreams of the format only. */
  readonly asClient?: TranslatedClient
  /** Absent: no call of another format is translated into it. */
  readonly asUpstream?: TranslatedUpstream
}

interface TranslatedClient {
  /** What of a request can be translated. */
  readonly fields: Rule
  besides(body: JsonObject): AskedBesides
  /** Present where other formats need more of the conversation than its reader gives. */
  readonly conversation?: (body: JsonObject) => Conversation
  /** Headers of clients that mean something to upstreams of the format alone. */
  readonly headers: readonly string[]
  say(to: AnswerListener): PieceWriter
}

interface TranslatedUpstream {
  /** Throws Untranslatable; names in `leftOut` what is not needed for the answer to be right. */
  ask(asked: Asked, leftOut: string[]): JsonObject
  path(model: string, isStreamed: boolean): string
  hear(): PieceReader
  /** Absent: it does not count a prompt without answering it. */
  readonly count?: UpstreamCount
}

/** How an upstream counts the tokens of a call that it is not to answer. */
interface UpstreamCount {
  readonly dialect: Dialect
  path(model: string): string
  ask(model: string, body: JsonObject): JsonObject
  /** Null where it says none. */
  tokensIn(answer: JsonObject): number | null
}

/** Requests in the formats of OpenAI and Anthropic. Upstreams take each other's names for the limit, so all are read. */
export const flatRequest = {
  facts: ['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'temperature'],
  settingsIn: ({ max_tokens, max_completion_tokens, max_output_tokens, temperature }) => ({
    maxTokens: widestLimit([max_tokens, max_completion_tokens, max_output_tokens]),
    temperature,
  }),
  modelIn: (_path, { model }) => textOf(model),
  isStreamed: (_path, { stream }) => stream === true,
} satisfies Partial<DialectSpec>

/** A provider may keep to any of several limits: the largest of those that are set, or one that bounds nothing. */
export function widestLimit(limits: readonly (Json | undefined)[]): Json | undefined {
  return limits.reduce((widest, limit) => (widthOf(limit) > widthOf(widest) ? limit : widest), undefined)
}

function widthOf(limit: Json | undefined): number {
  if ((limit ?? null) === null) return 0
  return typeof limit === 'number' && limit > 0 ? limit : Infinity
}

interface AnswerMembers {
  readonly model: string
  readonly id: string
  readonly usage: string
  /** Counts that are summed up, each where it is there. */
  readonly inputTokens: readonly string[]
  readonly outputTokens: readonly string[]
}

const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}

/** The type of an error in the formats of OpenAI and Anthropic. */
export function errorType(status: number): string {
  return ERROR_TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error')
}

/** The error object of an answer, where it has a message. */
export function errorIn(said: JsonObject): JsonObject | null {
  const error = objectOf(said['error'])
  return filledText(error['message']) === null ? null : error
}
