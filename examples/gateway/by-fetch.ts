/** The smallest gateway: relays a call with fetch and returns the provider's answer. */
import { define, invalid, upstream, UPSTREAM_ANSWER_BYTES_MAX, type WholeAnswer } from '../../src/contract/index.ts'

const TIMEOUT_SECONDS_DEFAULT = 300

export default define('gateway', {
  make({ url, api_key, timeout_s = TIMEOUT_SECONDS_DEFAULT }) {
    if (typeof url !== 'string') throw invalid('gateway_url', 'url: name the provider to relay to, without its /v1')
    if (typeof timeout_s !== 'number') throw invalid('gateway_timeout', 'timeout_s: must be a number of seconds')
    const credential = typeof api_key === 'string' ? { authorization: `Bearer ${api_key}` } : {}
    const headers = { 'content-type': 'application/json', 'accept-encoding': 'identity', ...credential }
    return {
      async relay(route, body, caller) {
        const signal = AbortSignal.any([caller, AbortSignal.timeout(timeout_s * 1000)])
        // Redirects are not followed: the key goes to the provider only.
        const call = { method: 'POST', headers, body: Buffer.from(body), signal, redirect: 'manual' } as const
        return fetch(`${url}/v1/${route}`, call).then(whole).catch(noAnswer)
      },
    }
  },
})

async function whole(answer: Response): Promise<WholeAnswer> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of answer.body ?? []) {
    bytes += part.length
    // Leaving the loop ends the call.
    if (bytes > UPSTREAM_ANSWER_BYTES_MAX) throw new Error('the answer is larger than the service holds')
    parts.push(part)
  }
  return { kind: 'whole', status: answer.status, headers: Object.fromEntries(answer.headers), body: Buffer.concat(parts) }
}

function noAnswer(cause: unknown): never {
  throw upstream('no_answer', 'the provider gave no whole answer in time; try again later', { cause })
}
