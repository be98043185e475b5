/** Relays multimodal calls to one gateway, with the gateway's own key. */
import { Pool } from 'undici'
import {
  define,
  invalid,
  upstream,
  UPSTREAM_ANSWER_BYTES_MAX,
  type Gateway,
  type JsonObject,
  type WholeAnswer,
} from '../../../src/contract/index.ts'

export default define('gateway', { make: (config) => makeRelay(config) })

function makeRelay(config: JsonObject): Gateway {
  const { url, api_key } = config
  if (typeof url !== 'string') throw invalid('gateway_url', 'inference.gateway.url: name the gateway to relay to')
  const { origin, pathname } = new URL(url)
  const pool = new Pool(origin)
  const prefix = pathname.replace(/\/+$/, '')
  const credential = typeof api_key === 'string' ? { authorization: `Bearer ${api_key}` } : {}
  const headers = { 'content-type': 'application/json', ...credential }
  return {
    async relay(route, body, signal): Promise<WholeAnswer> {
      const path = `${prefix}/v1/${route}`
      const answer = await pool.request({ method: 'POST', path, headers, body, signal }).catch(unreachable)
      const bytes = Buffer.from(await answer.body.arrayBuffer().catch(unreachable))
      if (bytes.length > UPSTREAM_ANSWER_BYTES_MAX)
        throw upstream('upstream_too_large', 'the gateway answered with more than this service holds')
      const type = answer.headers['content-type']
      return { kind: 'whole', status: answer.statusCode, headers: typeof type === 'string' ? { 'content-type': type } : {}, body: bytes }
    },
  }
}

function unreachable(cause: unknown): never {
  throw upstream('upstream_unreachable', 'the multimodal gateway could not be reached or broke off', { cause })
}
