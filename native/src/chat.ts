/** One question to the model by chat completions, and its whole answer. */
import { RECEIPT_HEADER, field, isPassing, parseJson } from '@svc-ai/client/shared'
import { ANSWER_BYTES_MAX, ANSWER_SECONDS_MAX, ANSWER_TOKENS_MAX } from './limits.ts'
import type { Data, TreeTool } from './tree.ts'

export interface ModelPlace {
  /** With its `/v1`, without a slash at its end. */
  readonly baseUrl: string
  readonly apiKey: string | null
  readonly model: string | null
  readonly contextTokens: number
  readonly headers: Readonly<Record<string, string>>
  /** Gets the headers of every answer. */
  readonly onAnswer?: (headers: Headers) => void
  readonly answerSecondsMax?: number
}

export type Message =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: string; readonly tool_calls?: readonly WireCall[] }
  | { readonly role: 'tool'; readonly content: string; readonly tool_call_id: string }

interface WireCall {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string; readonly arguments: string }
}

export interface ToolCall {
  readonly id: string
  readonly name: string
  /** Null for what is no JSON object. */
  readonly args: Data | null
}

export interface ChatReply {
  readonly text: string
  readonly calls: readonly ToolCall[]
  readonly usage: unknown
  /** By which the service knows this exchange; null elsewhere. */
  readonly receipt: string | null
}

/** What came instead of an answer, in words without the key. */
export class ModelFailure extends Error {
  override readonly name = 'ModelFailure'
  readonly status: number | null
  readonly isPassing: boolean
  readonly retryAfterSeconds: number | null

  constructor(message: string, about: { status?: number; isPassing: boolean; retryAfterSeconds?: number | null }) {
    super(message)
    this.status = about.status ?? null
    this.isPassing = about.isPassing
    this.retryAfterSeconds = about.retryAfterSeconds ?? null
  }
}

const MESSAGE_CHARACTERS_MAX = 500

/** Throws `ModelFailure`, or the signal's reason once that is given. */
export async function askModel(
  place: ModelPlace,
  messages: readonly Message[],
  tools: readonly Omit<TreeTool, 'code'>[],
  signal: AbortSignal,
): Promise<ChatReply> {
  const seconds = place.answerSecondsMax ?? ANSWER_SECONDS_MAX
  const limit = AbortSignal.timeout(seconds * 1000)
  try {
    const response = await fetch(`${place.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: headersOf(place),
      body: JSON.stringify(bodyOf(place, messages, tools)),
      redirect: 'manual',
      signal: AbortSignal.any([signal, limit]),
    })
    place.onAnswer?.(response.headers)
    const text = await readWhole(response)
    if (response.status !== 200) throw refused(place, response, text)
    return replyIn(text, response.headers.get(RECEIPT_HEADER))
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof ModelFailure) throw error
    if (limit.aborted) throw new ModelFailure(`the model gave no whole answer within ${seconds} s`, { isPassing: true })
    throw new ModelFailure(`the model cannot be reached (${causeOf(error)})`, { isPassing: true })
  }
}

function headersOf({ apiKey, headers }: ModelPlace): Record<string, string> {
  return { 'content-type': 'application/json', ...headers, ...(apiKey !== null && { authorization: `Bearer ${apiKey}` }) }
}

function bodyOf({ model }: ModelPlace, messages: readonly Message[], tools: readonly Omit<TreeTool, 'code'>[]): Data {
  const declared = tools.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters: { type: 'object', properties: {}, ...parameters } },
  }))
  return {
    ...(model !== null && { model }),
    messages,
    ...(declared.length > 0 && { tools: declared }),
    max_tokens: ANSWER_TOKENS_MAX,
    stream: false,
  }
}

/** An answer without an end must not fill the memory. */
async function readWhole({ body }: Response): Promise<string> {
  if (body === null) return ''
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of body) {
    bytes += part.byteLength
    if (bytes > ANSWER_BYTES_MAX)
      throw new ModelFailure(`the model's answer is longer than ${ANSWER_BYTES_MAX} bytes`, { isPassing: false })
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}

function refused({ apiKey }: ModelPlace, { status, headers }: Response, text: string): ModelFailure {
  const said = field(field(parseJson(text), 'error'), 'message')
  const words = (typeof said === 'string' ? said : text).replaceAll(/\s+/g, ' ').trim()
  const shown = (apiKey === null ? words : words.replaceAll(apiKey, '…')).slice(0, MESSAGE_CHARACTERS_MAX)
  const after = Number(headers.get('retry-after') ?? Number.NaN)
  return new ModelFailure(`the model answered ${status}${shown === '' ? '' : `: ${shown}`}`, {
    status,
    isPassing: isPassing(status),
    retryAfterSeconds: Number.isFinite(after) && after >= 0 ? after : null,
  })
}

function replyIn(text: string, receipt: string | null): ChatReply {
  const answer = parseJson(text)
  const choices = field(answer, 'choices')
  const message = field(Array.isArray(choices) ? choices[0] : undefined, 'message')
  if (typeof message !== 'object' || message === null)
    throw new ModelFailure('the answer is no chat completion: does the address belong to a model?', { isPassing: true })
  const calls = field(message, 'tool_calls')
  return {
    text: textIn(field(message, 'content')),
    calls: Array.isArray(calls) ? calls.map(callOf) : [],
    usage: field(answer, 'usage') ?? null,
    receipt,
  }
}

/** Text, or parts of which some are text. */
function textIn(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .map((part: unknown) => field(part, 'text'))
    .filter((each) => typeof each === 'string')
    .join('')
}

function callOf(call: unknown, index: number): ToolCall {
  const [id, name] = [field(call, 'id'), field(field(call, 'function'), 'name')]
  return {
    id: typeof id === 'string' && id !== '' ? id : `call-${index}`,
    name: typeof name === 'string' ? name : '',
    args: argsOf(field(field(call, 'function'), 'arguments')),
  }
}

/** Most models write JSON text, some answer the object itself, and an empty text means no argument. */
function argsOf(given: unknown): Data | null {
  const value = typeof given === 'string' ? (given.trim() === '' ? {} : parseJson(given)) : given
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.fromEntries(Object.entries(value)) : null
}

/** As it is sent back: arguments that were no JSON would be refused by some servers, and the result says what was wrong. */
export function assistantMessage({ text, calls }: ChatReply): Message {
  if (calls.length === 0) return { role: 'assistant', content: text }
  const tool_calls = calls.map(({ id, name, args }): WireCall => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(args ?? {}) },
  }))
  return { role: 'assistant', content: text, tool_calls }
}

function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (!(cause instanceof Error)) return 'unknown'
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message
}
