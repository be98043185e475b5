/** Verbs for the tests of this folder: a runtime with a still clock, a call in any dialect, the events of a stream. */
import { createParser } from 'eventsource-parser'
import type { ChatMessage, Dialect, JsonObject, Model, Runtime, RuntimeAnswer, RuntimeCall } from '../../../src/contract/index.ts'
import { dialects, isObject, objectOf, parsed, type Tool } from '../../../src/dialects/index.ts'
import type { Prompt } from './prompt.ts'
import { isFault, readPrompt } from './read-prompt.ts'
import { makePractice } from './runtime.ts'

export const STILL_SECONDS = 1_790_000_000

export const practice = (settings: { readonly noise?: number; readonly chunkDelayMs?: number } = {}): Runtime =>
  makePractice({ noise: settings.noise ?? 0, chunkDelayMs: settings.chunkDelayMs ?? 0 }, () => STILL_SECONDS)

const PATHS: Readonly<Record<Dialect, string>> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  responses_count_tokens: '/v1/responses/input_tokens',
  responses_compact: '/v1/responses/compact',
  messages: '/v1/messages?beta=true',
  count_tokens: '/v1/messages/count_tokens?beta=true',
  gemini: '/v1beta/models/m:generateContent',
  gemini_count_tokens: '/v1beta/models/m:countTokens',
}

export function callOf(dialect: Dialect, body: JsonObject | string, given: Partial<RuntimeCall> = {}): RuntimeCall {
  return {
    dialect,
    path: PATHS[dialect],
    headers: {},
    body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
    model: { url: '', model: null, api: 'openai', apiKey: null },
    release: { release_id: 'r1', parent_release_id: null, content_id: 'c1' },
    // Most tests look at answers, not at the notice before the first of them.
    purpose: 'evaluation',
    signal: new AbortController().signal,
    ...given,
  }
}

export async function ask(
  dialect: Dialect,
  body: JsonObject | string,
  runtime: Runtime = practice(),
): Promise<{ status: number; body: JsonObject }> {
  return wholeOf(await runtime.infer(callOf(dialect, body)))
}

/** The mock model as a proposer calls it. `plain` removes parts of the prompt that differ from run to run. */
export function practiceModel(runtime: Runtime = practice(), plain = (content: string): string => content): Model {
  const chat = async (messages: readonly ChatMessage[]): Promise<string> => {
    const sent = messages.map((message) => ({ ...message, content: plain(message.content) }))
    const { status, body } = await ask('chat', { model: 'practice', messages: JSON.parse(JSON.stringify(sent)) }, runtime)
    if (status !== 200) throw new Error(`status ${status}`)
    return textAt(body, 'choices', 0, 'message', 'content')
  }
  return { name: 'practice', chat, turn: async (messages) => ({ text: await chat(messages), calls: [] }) }
}

export function wholeOf(answer: RuntimeAnswer): { status: number; body: JsonObject } {
  if (answer.kind !== 'whole') throw new Error(`expected a whole answer, got ${answer.kind}`)
  return { status: answer.status, body: objectOf(parsed(Buffer.from(answer.body).toString())) }
}

export interface SseEvent {
  readonly event: string | undefined
  readonly data: string
}

/** The events of a streamed answer, as any client's parser finds them. */
export async function eventsOf(dialect: Dialect, body: JsonObject, runtime: Runtime = practice()): Promise<readonly SseEvent[]> {
  const answer = await runtime.infer(callOf(dialect, { ...body, stream: true }))
  if (answer.kind !== 'stream') throw new Error(`expected a stream, got ${answer.kind}`)
  const events: SseEvent[] = []
  const parser = createParser({ onEvent: ({ event, data }) => events.push({ event, data }) })
  const decoder = new TextDecoder()
  for await (const chunk of answer.chunks) parser.feed(decoder.decode(chunk, { stream: true }))
  return events
}

export const dataOf = (events: readonly SseEvent[]): readonly JsonObject[] => events.map(({ data }) => parsed(data)).filter(isObject)

/** The member at that path, for looking into answers without a type for each of them. */
export function at(value: JsonObject, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (inside, step) => (typeof inside === 'object' && inside !== null ? Reflect.get(inside, step) : undefined),
    value,
  )
}

/** The same, as text: '' where there is none. */
export function textAt(value: JsonObject | undefined, ...path: readonly (string | number)[]): string {
  const found = at(value ?? {}, ...path)
  return typeof found === 'string' ? found : ''
}

export function promptOf(dialect: Dialect, body: JsonObject): Prompt {
  const prompt = readPrompt(dialects[dialect], { max_tokens: 1000, ...body }, 'm')
  if (isFault(prompt)) throw new Error(prompt.message)
  return prompt
}

export function toolOf(name: string, parameter: string, description = ''): Tool {
  const parameters = { type: 'object', properties: { [parameter]: { type: 'string' } }, required: [parameter] }
  return { name, description, parameters, shape: 'function', namespace: null }
}
