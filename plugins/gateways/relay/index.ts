/** Relays multimodal calls to one gateway, with the gateway's own key. */
import type { Dispatcher } from 'undici'
import { define, invalid, upstream, ANSWER_BYTES_DEFAULT } from '../../../src/contract/index.ts'
import type { Gateway, JsonObject, WholeAnswer } from '../../../src/contract/index.ts'
import { withoutKey } from '../../../src/kit/index.ts'
import { connectionsTo, failureOf } from '../../runtimes/common/upstream.ts'

export default define('gateway', { make: (config) => makeRelay(config) })

const TIMEOUT_SECONDS_DEFAULT = 300
/** Of a refusal, more than this is not passed on. */
const REFUSAL_BYTES_MAX = 64 * 1024

function makeRelay(config: JsonObject): Gateway {
  const { url, api_key, timeout_s = TIMEOUT_SECONDS_DEFAULT, max_answer_bytes = ANSWER_BYTES_DEFAULT } = config
  if (typeof url !== 'string') throw invalid('gateway_url', 'inference.gateway.url: name the gateway to relay to')
  if (typeof timeout_s !== 'number') throw invalid('gateway_timeout', 'timeout_s: a number of seconds')
  if (typeof max_answer_bytes !== 'number') throw invalid('gateway_answer', 'max_answer_bytes: a number of bytes')
  const { dispatcher, origin, prefix, proxy } = connectionsTo(url, timeout_s * 1000, config)
  const unreachable = (cause: unknown): never => {
    throw failureOf(cause, { name: 'the multimodal gateway', origin, proxy, setting: 'inference.gateway.url' })
  }
  const credential = typeof api_key === 'string' ? { authorization: `Bearer ${api_key}` } : {}
  const headers = { 'content-type': 'application/json', 'accept-encoding': 'identity', ...credential }
  return {
    async relay(route, body, signal): Promise<WholeAnswer> {
      const path = `${prefix}/v1/${route}`
      const answer = await dispatcher.request({ origin, method: 'POST', path, headers, body, signal }).catch(unreachable)
      const relayed = { kind: 'whole', status: answer.statusCode, headers: flatten(answer.headers) } as const
      const whole = await wholeBody(answer.body, max_answer_bytes, unreachable)
      return answer.statusCode >= 300 && typeof api_key === 'string' ? withoutEcho(relayed, whole, api_key) : { ...relayed, body: whole }
    },
  }
}

/** A refusal that names the key is passed on without it. */
function withoutEcho(relayed: Omit<WholeAnswer, 'body'>, body: Buffer, key: string): WholeAnswer {
  const headers = Object.fromEntries(Object.entries(relayed.headers).map(([name, value]) => [name, withoutKey(value, key)]))
  return { ...relayed, headers, body: Buffer.from(withoutKey(body.toString('utf8', 0, REFUSAL_BYTES_MAX), key)) }
}

async function wholeBody(chunks: AsyncIterable<Uint8Array>, bytesMax: number, unreachable: (cause: unknown) => never): Promise<Buffer> {
  const parts: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const chunk of chunks) {
      bytes += chunk.length
      if (bytes > bytesMax) break
      parts.push(chunk)
    }
  } catch (cause) {
    unreachable(cause)
  }
  if (bytes > bytesMax)
    throw upstream('answer_too_large', `the gateway answered with more than ${bytesMax} bytes (inference.max_answer_bytes); raise that`)
  return Buffer.concat(parts)
}

function flatten(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  const entries = Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)] as const]))
  return Object.fromEntries(entries)
}
