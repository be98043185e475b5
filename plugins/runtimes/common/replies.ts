/** What an engine's refusals mean: relayed to the caller, an adapter it lost, or a failure of the engine. */
import { Refusal, unavailable, upstream, type ChatAnswer, type JsonObject } from '../../../src/contract/index.ts'
import type { Reply } from './http.ts'

const QUOTED_CHARACTERS_MAX = 300

/** The answer of a call that relays no client's request: anything but success is a failure of the engine. */
export function answerOf(reply: Reply, adapter: string | null): JsonObject {
  if (reply.status >= 400) throw isLost(reply, adapter) ? lost() : failed(reply)
  return wholeOf(reply)
}

export function wholeOf(reply: Reply): JsonObject {
  if (reply.json === null) throw upstream('engine_not_json', 'the engine answered with something that is no JSON object')
  return reply.json
}

/** Of a chat: the engine's own words are relayed to the caller. */
export function refusalOf(reply: Reply, adapter: string | null): ChatAnswer {
  if (isLost(reply, adapter)) throw lost()
  const answer = reply.json ?? { error: { message: reasonIn(reply), type: 'engine_error' } }
  return { kind: 'refused', status: reply.status, answer }
}

/** Engines word it differently; all name the adapter. */
export function isLost(reply: Reply, adapter: string | null): boolean {
  return adapter !== null && (reply.status === 400 || reply.status === 404) && reply.text.includes(adapter) && NOT_HELD.test(reply.text)
}

const NOT_HELD = /not loaded|never been loaded|does not exist|not exist|cannot be found|not found/i

export const isHeldAlready = (reply: Reply): boolean => reply.status === 400 && /already (?:been )?(?:loaded|exists)/i.test(reply.text)

const lost = (): Refusal => unavailable('adapter_lost', 'the engine does not hold the adapter any more; it is loaded again, try again')

export const failed = (reply: Reply): Refusal =>
  upstream('engine_failed', `the engine answered with status ${reply.status}: ${reasonIn(reply)}`, { cause: new Error(reply.text) })

export const refusedAdapter = (reply: Reply): Refusal =>
  new Refusal('invalid', 'bad_adapter', `the engine did not take the adapter: ${reasonIn(reply)}`, { cause: new Error(reply.text) })

/** The engine's message, shortened and without paths. */
function reasonIn({ json, text }: Reply): string {
  const error = json?.['error']
  const inner = typeof error === 'object' && error !== null && 'message' in error ? error['message'] : undefined
  const said = [inner, json?.['error_message'], json?.['message'], json?.['detail'], text].find((one) => typeof one === 'string') ?? ''
  const plain = said.replaceAll(/\/\S+/g, '…').replaceAll(/\s+/g, ' ').trim()
  return plain === '' ? 'no reason given' : plain.slice(0, QUOTED_CHARACTERS_MAX).toWellFormed()
}
