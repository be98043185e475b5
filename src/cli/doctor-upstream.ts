/** Doctor's checks of the upstream: whether it answers, accepts the key, and has the model. */
import { EnvHttpProxyAgent, fetch, type Response } from 'undici'
import type { LoadedConfig } from '../config/index.ts'
import type { ModelAddress } from '../contract/index.ts'
import { dialectsByApi } from '../dialects/index.ts'
import type { Finding } from './explain.ts'

const CALL_MILLISECONDS_MAX = 30_000

/** `asksModels`: whether the service itself calls the model, besides its clients. */
export async function checkUpstream({ config, upstream, proxies }: LoadedConfig, asksModels: boolean): Promise<readonly Finding[]> {
  const { runtime, model, found } = upstream
  if (runtime === 'practice' && config.inference.runtime === null) return [MOCK_MODEL]
  if (model === null) return [{ check: 'upstream', state: 'ok', found: `${runtime} (${found})` }]
  const problem = await reachProblem(model.url, proxies)
  if (problem !== null) {
    return [
      {
        check: 'upstream',
        state: 'problem',
        found: `${model.url} cannot be reached: ${problem}`,
        fix: 'check the network, or set inference.upstream_url',
      },
      ...nameFindings(model, null, asksModels),
    ]
  }
  const listed = await listModels(model, proxies)
  return [
    { check: 'upstream', state: 'ok', found: `${model.url} answers (${found})` },
    keyFinding(model, listed),
    ...nameFindings(model, typeof listed === 'object' ? listed : null, asksModels),
  ]
}

const MOCK_MODEL: Finding = {
  check: 'upstream',
  state: 'warning',
  found: 'the built-in mock model answers, since no upstream is set or found',
  fix: 'set inference.upstream_url and inference.upstream_model, or set inference.runtime: practice to keep it',
}

/** Lists the models, which costs nothing at any provider. Answers their names, a status, or the reason of a failure. */
async function listModels(model: ModelAddress, proxies: Proxies): Promise<readonly string[] | number | string> {
  try {
    const answer = await call(`${model.url}/v1/models`, credentials(model), proxies)
    if (!answer.ok) {
      await answer.body?.cancel()
      return answer.status
    }
    return namesIn(await answer.json().catch(() => null))
  } catch (error) {
    return reasonOf(error)
  }
}

function namesIn(list: unknown): readonly string[] {
  const { data }: { readonly data?: unknown } = Object(list)
  const ids: readonly unknown[] = Array.isArray(data) ? data.map((model) => Object(model).id) : []
  return ids.filter((id) => typeof id === 'string')
}

function keyFinding({ apiKey }: ModelAddress, listed: readonly string[] | number | string): Finding {
  const check = 'upstream key'
  const who = apiKey === null ? 'no key' : 'the key'
  if (listed === 401 || listed === 403) {
    return {
      check,
      state: 'problem',
      found: `the upstream refused ${who} (${listed})`,
      fix: 'set inference.upstream_api_key (or SVC_UPSTREAM_API_KEY)',
    }
  }
  if (typeof listed === 'object') return { check, state: 'ok', found: `${who} is accepted` }
  return { check, state: 'warning', found: `could not tell whether ${who} is accepted: GET /v1/models answered ${listed}` }
}

const NAME_IT = 'set inference.upstream_model (or SVC_UPSTREAM_MODEL)'

/** Clients name their own models; this one is for the service's own calls. */
function nameFindings({ model }: ModelAddress, listed: readonly string[] | null, asksModels: boolean): readonly Finding[] {
  const check = 'upstream model'
  if (model === null && !asksModels) return [{ check, state: 'ok', found: 'none is set; clients name their own' }]
  if (model === null) {
    const found = 'none is set, and a recipe asks the model itself'
    // A server with a single model accepts any name for it.
    return [{ check, state: listed?.length === 1 ? 'warning' : 'problem', found, fix: NAME_IT }]
  }
  if (listed === null || listed.length === 0 || listed.includes(model)) return [{ check, state: 'ok', found: model }]
  return [
    { check, state: 'warning', found: `the upstream does not list ${model}`, fix: `${NAME_IT} to one that it has, unless it is an alias` },
  ]
}

function credentials({ api, apiKey }: ModelAddress): Readonly<Record<string, string>> {
  if (apiKey === null) return {}
  const { defaultHeaders, keyHeaders } = dialectsByApi[api]
  return { ...defaultHeaders, ...keyHeaders(apiKey) }
}

/** Why there was no answer; null when there was one. */
async function reachProblem(url: string, proxies: Proxies): Promise<string | null> {
  try {
    await (await call(url, {}, proxies)).body?.cancel()
    return null
  } catch (error) {
    return reasonOf(error)
  }
}

const call = (url: string, headers: Readonly<Record<string, string>>, proxies: Proxies): Promise<Response> =>
  fetch(url, { headers, ...through(proxies), redirect: 'manual', signal: AbortSignal.timeout(CALL_MILLISECONDS_MAX) })

type Proxies = LoadedConfig['proxies']

/** As the service itself connects. */
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
