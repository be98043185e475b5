/** Shared by the SDK tests: the service with both kinds of runtime, and a provider that answers text or calls a tool. */
import type { ServerResponse } from 'node:http'
import { expect } from 'vitest'
import { chatStreams } from '../support/chat-streams.ts'
import { named } from '../support/frames.ts'
import { messageStreams } from '../support/message-streams.ts'
import type { Settings } from '../support/settings.ts'
import { answerPlainly, sendFrames, sendJson, type Received } from '../support/upstream.ts'
import { world, type World } from '../support/world.ts'

/** Every test runs with both: an upstream provider, and the built-in model. */
export const RUNTIMES: readonly { readonly runtime: string; readonly settings: Settings }[] = [
  { runtime: 'a provider', settings: {} },
  { runtime: 'the built-in mock model', settings: { 'inference.runtime': 'practice' } },
]

export const TOKEN = 'the-service-token'
const SCENARIO = 'sdk'
export const HEADERS = { 'x-svc-scenario': SCENARIO }

export async function serviceWith(settings: Settings): Promise<World> {
  const here = await world({ settings: { 'svc.token': TOKEN, ...settings } })
  here.upstream.answer(answerOrCall)
  return here
}

/** A tool that both call on request. */
export const TOOL = {
  name: 'look',
  description: 'Looks at a place.',
  schema: { type: 'object', properties: { at: { type: 'integer' } }, required: ['at'], additionalProperties: false },
} as const

/** Calls the tool when one is offered, and says hello otherwise. */
export function answerOrCall(received: Received, response: ServerResponse): void {
  const body = received.body.toString()
  if (!/"tools"\s*:\s*\[\s*\{/.test(body) || received.url.includes('count_tokens')) return answerPlainly(received, response)
  const { frames, whole } = callOf(received.url)
  if (/"stream"\s*:\s*true/.test(body)) return sendFrames(response, frames)
  return sendJson(response, 200, whole)
}

function callOf(url: string): { readonly frames: readonly string[]; readonly whole: object } {
  const found = url.includes('/responses') ? responsesCall : url.includes('/messages') ? messageStreams.at(-1) : chatStreams[2]
  return found ?? responsesCall
}

const call = { id: 'fc_1', type: 'function_call', status: 'completed', call_id: 'call_1', name: TOOL.name, arguments: '{"at":1}' }
const response = {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  model: 'm',
  status: 'completed',
  error: null,
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
}
const responsesCall = {
  whole: { ...response, output: [call] },
  frames: [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item: { ...call, status: 'in_progress', arguments: '' } },
    { type: 'response.function_call_arguments.delta', output_index: 0, item_id: 'fc_1', delta: '{"at":1}' },
    { type: 'response.function_call_arguments.done', output_index: 0, item_id: 'fc_1', arguments: '{"at":1}' },
    { type: 'response.output_item.done', output_index: 0, item: call },
    { type: 'response.completed', response: { ...response, output: [call] } },
  ].map((event, sequence_number) => named({ ...event, sequence_number })),
}

/** The receipt an object of a stream carries, whatever its type says. */
export function receiptOf(value: object): string | null {
  const receipt: unknown = new Map(Object.entries(value)).get('svc.agent_record_id')
  return typeof receipt === 'string' ? receipt : null
}

/** The receipt names a record that holds the whole answer. */
export async function expectKept(here: World, receipt: string | null | undefined): Promise<void> {
  expect(receipt).toMatch(/^[0-9a-f]{32}$/)
  const { json } = await here.get(`/svc/scenarios/${SCENARIO}/records/${receipt}`, { authorization: `Bearer ${TOKEN}` })
  expect(json).toMatchObject({ agent_record_id: receipt, request_type: 'inference' })
  expect(json['payload']).not.toMatchObject({ response: { complete: false } })
}

/** The classes of both official SDKs, by the status that the provider refused with. */
export const ERROR_CLASSES = {
  400: 'BadRequestError',
  401: 'AuthenticationError',
  403: 'PermissionDeniedError',
  404: 'NotFoundError',
  409: 'ConflictError',
  422: 'UnprocessableEntityError',
  429: 'RateLimitError',
} as const

/** What a promise rejects with; null when it resolves. */
export const errorOf = (asked: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(asked).then(
    () => null,
    (thrown: unknown) => thrown,
  )

/** The items of a stream. */
export async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = []
  for await (const item of stream) items.push(item)
  return items
}
