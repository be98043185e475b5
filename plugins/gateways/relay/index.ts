/** Relays multimodal calls to one gateway, with the gateway's own key. */
import type { Dispatcher } from 'undici'
import {
  define,
  invalid,
  upstream,
  UPSTREAM_ANSWER_BYTES_MAX,
  type Gateway,
  type JsonObject,
  type WholeAnswer,
} from '../../../src/contract/index.ts'
import { connectionsTo, failureOf } from '../../runtimes/common/upstream.ts'

export default define('gateway', { make: (config) => makeRelay(config) })

const TIMEOUT_SECONDS_DEFAULT = 300

function makeRelay(config: JsonObject): Gateway {
  const { url, api_key, timeout_s = TIMEOUT_SECONDS_DEFAULT } = config
  if (typeof url !== 'string') throw invalid('gateway_url', 'inference.gateway.url: name the gateway to relay to')
  if (typeof timeout_s !== 'number') throw invalid('gateway_timeout', 'timeout_s: a number of seconds')
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
      return { kind: 'whole', status: answer.statusCode, headers: flatten(answer.headers), body: await wholeBody(answer.body, unreachable) }
    },
  }
}

async function wholeBody(chunks: AsyncIterable<Uint8Array>, unreachable: (cause: unknown) => never): Promise<Buffer> {
  const parts: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const chunk of chunks) {
      bytes += chunk.length
      if (bytes > UPSTREAM_ANSWER_BYTES_MAX) break
      parts.push(chunk)
    }
  } catch (cause) {
    unreachable(cause)
  }
  if (bytes > UPSTREAM_ANSWER_BYTES_MAX) throw upstream('upstream_too_large', 'the gateway answered with more than this service holds')
  return Buffer.concat(parts)
}

function flatten(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  const entries = Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)] as const]))
  return Object.fromEntries(entries)
}
