/** Doctor's checks of the upstream: whether it answers, accepts the key, and has the model. */
import { Agent, EnvHttpProxyAgent, fetch, type Dispatcher, type Response } from 'undici'
import type { LoadedConfig } from '../config/index.ts'
import { API_OF_FORMAT, type ModelAddress } from '../contract/index.ts'
import { dialectsByApi } from '../dialects/index.ts'
import { tlsOptions } from '../kit/index.ts'
import type { Finding } from './explain.ts'

const CALL_MILLISECONDS_MAX = 30_000

/** `asksModels`: whether the service itself calls the model, besides its clients. */
export async function checkUpstream({ config, upstream, proxies }: LoadedConfig, asksModels: boolean): Promise<readonly Finding[]> {
  const { runtime, model, found } = upstream
  const named = Object.entries(config.inference.upstreams)
  if (named.length > 0 && model !== null) {
    const each = await Promise.all(named.map(([name, own]) => checkNamed(name, own, proxies)))
    return [...each.flat(), ...nameFindings(model, null, asksModels)]
  }
  if (runtime === 'practice' && config.inference.runtime === null) return [MOCK_MODEL]
  if (model === null) return [{ check: 'upstream', state: 'ok', found: `${runtime} (${found})` }]
  const problem = await reachProblem(model.url, through(proxies))
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
  const listed = await listModels(model, through(proxies))
  return [
    { check: 'upstream', state: 'ok', found: `${model.url} answers (${found})` },
    keyFinding(model, listed),
    ...nameFindings(model, typeof listed === 'object' ? listed : null, asksModels),
  ]
}

type NamedUpstream = LoadedConfig['config']['inference']['upstreams'][string]

/** Asked with its own key and TLS files, as the service asks it. */
async function checkNamed(name: string, own: NamedUpstream, proxies: Proxies): Promise<readonly Finding[]> {
  const check = `upstream ${name}`
  const section = `inference.upstreams.${name}`
  const problem = (found: string, fix: string): readonly Finding[] => [{ check, state: 'problem', found, fix }]
  let dispatcher: Dispatcher
  try {
    const tls = own.url.startsWith('https:') ? tlsOptions(own.tls) : {}
    const connect = { timeout: own.connect_timeout_s * 1000, ...tls }
    dispatcher = proxies === null ? new Agent({ connect }) : new EnvHttpProxyAgent({ ...proxyOptions(proxies), connect, requestTls: tls })
  } catch (error) {
    return problem(reasonOf(error), `check the files of ${section}.tls`)
  }
  const model = { url: own.url, api: API_OF_FORMAT[own.formats[0] ?? 'chat'], apiKey: own.api_key, model: null }
  try {
    const unreached = await reachProblem(own.url, { dispatcher })
    if (unreached !== null) return problem(`${own.url} cannot be reached: ${unreached}`, `check the network, or set ${section}.url`)
    const listed = await listModels(model, { dispatcher })
    const reached: Finding = { check, state: 'ok', found: `${own.url} answers` }
    return [reached, keyFinding(model, listed, `${check} key`, `set ${section}.api_key`), ...unlistedFindings(own, listed, check, section)]
  } finally {
    await dispatcher.close()
  }
}

/** Names that the configuration gives to models which the upstream does not list. */
function unlistedFindings(
  { models, aliases }: NamedUpstream,
  listed: readonly string[] | number | string,
  check: string,
  section: string,
): readonly Finding[] {
  if (typeof listed !== 'object' || listed.length === 0) return []
  const wanted = [...(models ?? []).filter((name) => !name.endsWith('*') && aliases[name] === undefined), ...Object.values(aliases)]
  const missing = wanted.filter((name) => !listed.includes(name))
  if (missing.length === 0) return []
  const found = `it does not list ${missing.join(', ')}`
  return [{ check: `${check} models`, state: 'warning', found, fix: `correct ${section}.models and ${section}.aliases` }]
}

const MOCK_MODEL: Finding = {
  check: 'upstream',
  state: 'warning',
  found: 'the built-in mock model answers, since no upstream is set or found',
  fix: 'set inference.upstream_url and inference.upstream_model, or set inference.runtime: practice to keep it',
}

/** Lists the models, which costs nothing at any provider. Answers their names, a status, or the reason of a failure. */
async function listModels(model: ModelAddress, way: Way): Promise<readonly string[] | number | string> {
  try {
    const answer = await call(`${model.url}/v1/models`, credentials(model), way)
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

function keyFinding(
  { apiKey }: ModelAddress,
  listed: readonly string[] | number | string,
  check = 'upstream key',
  fix = 'set inference.upstream_api_key (or SVC_UPSTREAM_API_KEY)',
): Finding {
  const who = apiKey === null ? 'no key' : 'the key'
  if (listed === 401 || listed === 403) {
    return {
      check,
      state: 'problem',
      found: `the upstream refused ${who} (${listed})`,
      fix,
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

export function credentials({ api, apiKey }: ModelAddress): Readonly<Record<string, string>> {
  if (apiKey === null) return {}
  const { defaultHeaders, keyHeaders } = dialectsByApi[api]
  return { ...defaultHeaders, ...keyHeaders(apiKey) }
}

/** Why there was no answer; null when there was one. */
async function reachProblem(url: string, way: Way): Promise<string | null> {
  try {
    await (await call(url, {}, way)).body?.cancel()
    return null
  } catch (error) {
    return reasonOf(error)
  }
}

const call = (url: string, headers: Readonly<Record<string, string>>, way: Way): Promise<Response> =>
  fetch(url, { headers, ...way, redirect: 'manual', signal: AbortSignal.timeout(CALL_MILLISECONDS_MAX) })

type Proxies = LoadedConfig['proxies']
/** Through which connections. */
interface Way {
  readonly dispatcher?: Dispatcher
}

/** As the service itself connects. */
export function through(proxies: Proxies): Way {
  if (proxies === null) return {}
  return { dispatcher: new EnvHttpProxyAgent(proxyOptions(proxies)) }
}

const proxyOptions = ({ http, https, direct }: NonNullable<Proxies>) => ({ httpProxy: http, httpsProxy: https, noProxy: direct })

export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  if (cause instanceof Error && 'code' in cause) return String(cause.code)
  return error.name === 'TimeoutError' ? `no answer within ${CALL_MILLISECONDS_MAX / 1000} s` : error.message
}
