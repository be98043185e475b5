/** What doctor asks of the upstream: whether it can be reached, and whether it takes the key. */
import { EnvHttpProxyAgent, fetch } from 'undici'
import type { LoadedConfig } from '../config/index.ts'
import type { ModelAddress } from '../contract/index.ts'
import type { Finding } from './finding.ts'

/** A slow network is not a dead one. */
const CALL_MILLISECONDS_MAX = 30_000
const ANTHROPIC_VERSION = '2023-06-01'

export async function checkUpstream({ upstream, proxies }: LoadedConfig): Promise<readonly Finding[]> {
  const { runtime, model, found } = upstream
  if (model === null) return [{ check: 'upstream', state: 'ok', found: `${runtime} (${found})` }]
  const reached = await reach(model.url, {}, proxies)
  if (typeof reached === 'string') {
    return [
      {
        check: 'upstream',
        state: 'problem',
        found: `${model.url} cannot be reached: ${reached}`,
        fix: 'check the network, or set inference.upstream_url',
      },
    ]
  }
  return [{ check: 'upstream', state: 'ok', found: `${model.url} answers (${found})` }, await checkKey(model, proxies)]
}

/** The list of models is the one call every provider answers without cost. */
async function checkKey(model: ModelAddress, proxies: Proxies): Promise<Finding> {
  const check = 'upstream key'
  const answer = await reach(`${model.url}/v1/models`, credentials(model), proxies)
  const who = model.apiKey === null ? 'no key' : 'the key'
  if (answer === 401 || answer === 403) {
    return {
      check,
      state: 'problem',
      found: `the upstream refused ${who} (${answer})`,
      fix: 'set inference.upstream_api_key (or SVC_UPSTREAM_API_KEY)',
    }
  }
  if (typeof answer === 'number' && answer < 300) return { check, state: 'ok', found: `${who} is accepted` }
  return { check, state: 'warning', found: `could not tell whether ${who} is accepted: GET /v1/models answered ${answer}` }
}

function credentials({ api, apiKey }: ModelAddress): Readonly<Record<string, string>> {
  if (apiKey === null) return {}
  return api === 'anthropic' ? { 'x-api-key': apiKey, 'anthropic-version': ANTHROPIC_VERSION } : { authorization: `Bearer ${apiKey}` }
}

/** The status of whatever answered, or why nothing did. */
async function reach(url: string, headers: Readonly<Record<string, string>>, proxies: Proxies): Promise<number | string> {
  try {
    const answer = await fetch(url, {
      headers,
      ...through(proxies),
      redirect: 'manual',
      signal: AbortSignal.timeout(CALL_MILLISECONDS_MAX),
    })
    await answer.body?.cancel()
    return answer.status
  } catch (error) {
    return reasonOf(error)
  }
}

type Proxies = LoadedConfig['proxies']

/** As the service itself will ask. */
function through(proxies: Proxies): { readonly dispatcher?: EnvHttpProxyAgent } {
  if (proxies === null) return {}
  const { http, https, direct } = proxies
  return { dispatcher: new EnvHttpProxyAgent({ httpProxy: http, httpsProxy: https, noProxy: direct }) }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  if (cause instanceof Error && 'code' in cause) return String(cause.code)
  return error.name === 'TimeoutError' ? `no answer within ${CALL_MILLISECONDS_MAX / 1000} s` : error.message
}
