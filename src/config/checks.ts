/** Rules that involve several keys, and helpers for addresses. */
import { isIPv6 } from 'node:net'
import { ENV } from '../contract/index.ts'
import { isLoopback } from './loopback.ts'
import { place, type GivenValue } from './problem.ts'
import { RECIPE_SECTIONS, type Config, type ConfigValues } from './schema.ts'
import type { readSettings } from './settings.ts'
import { isWeakToken, WEAK_TOKEN_RULE } from './weak-token.ts'

/** A rule is skipped when one of its keys has a problem of its own. */
export function crossProblems({ settings, given, refused }: ReturnType<typeof readSettings>, fileName: string): readonly string[] {
  if (settings === null) return []
  const whereOf = (key: string): string => place(given.get(key)?.origin ?? 'default', fileName)
  const problems = [...recipeProblems(settings, given, fileName), ...upstreamProblems(settings, whereOf)]
  if (hasStrayKey(settings, refused))
    problems.unshift(
      `${whereOf('inference.upstream_api_key')}: inference.upstream_api_key is set without inference.upstream_url; set the address the key belongs to (or ${ENV.upstreamUrl})`,
    )
  if (isOpen(settings, refused))
    problems.unshift(
      `${whereOf('svc.host')}: svc.host is open to other machines and no token is set; set svc.token (or ${ENV.token}), or bind svc.host to 127.0.0.1`,
    )
  const weak = refused.has('svc.host') ? null : weakTokenKey(settings.svc)
  if (weak !== null)
    problems.unshift(
      `${whereOf(weak)}: ${weak} is easily guessed, and svc.host is open to other machines: a token needs ${WEAK_TOKEN_RULE}; set one that openssl rand -hex 32 prints, or bind svc.host to 127.0.0.1`,
    )
  if (settings.svc.sign_in !== null && asksNobody(settings, refused))
    problems.unshift(
      `${whereOf('svc.sign_in.issuer')}: svc.sign_in is set and no token is, so the service is open to everybody; set svc.token (or ${ENV.token})`,
    )
  const priced = [...given.keys()].find((key) => key.startsWith('limits.') && key.endsWith('.cost_per_day'))
  if (priced !== undefined && lacksPrices(settings, refused))
    problems.unshift(
      `${whereOf(priced)}: ${priced} is a limit of money, and no model has a price; set limits.prices.<model> to {input, output}, or limits.prices.'*' for all models`,
    )
  return problems
}

/** Without a price nothing would ever count. */
function lacksPrices({ limits }: ConfigValues, refused: ReadonlySet<string>): boolean {
  if ([...refused].some((key) => key.startsWith('limits.'))) return false
  const { token, tokens, scenario, scenarios, prices } = limits
  const all = [token, scenario, ...Object.values(tokens), ...Object.values(scenarios)]
  return all.some(({ cost_per_day }) => cost_per_day > 0) && Object.keys(prices).length === 0
}

const asksNobody = ({ svc }: ConfigValues, refused: ReadonlySet<string>): boolean =>
  svc.token === null && svc.tokens.length === 0 && !refused.has('svc.token') && !refused.has('svc.tokens')

function isOpen({ svc }: ConfigValues, refused: ReadonlySet<string>): boolean {
  const isUnknown = ['svc.host', 'svc.token', 'svc.tokens'].some((key) => refused.has(key))
  return !isUnknown && isOpenToAll(svc)
}

/** Whether other machines would be let in without a token. */
export function isOpenToAll({ host, token, tokens }: Pick<Config['svc'], 'host' | 'token' | 'tokens'>): boolean {
  return token === null && tokens.length === 0 && !isLoopback(host)
}

/** The place of the first token that other machines could guess. */
export function weakTokenKey({ host, token, tokens }: Pick<Config['svc'], 'host' | 'token' | 'tokens'>): 'svc.token' | 'svc.tokens' | null {
  if (isLoopback(host)) return null
  if (token !== null && isWeakToken(token)) return 'svc.token'
  return tokens.some(isWeakToken) ? 'svc.tokens' : null
}

/** A key is sent only to the address configured with it, never to one that was detected. */
function hasStrayKey({ inference }: ConfigValues, refused: ReadonlySet<string>): boolean {
  const { runtime, upstream_url, upstream_api_key } = inference
  return upstream_api_key !== null && upstream_url === null && runtime !== 'practice' && !refused.has('inference.upstream_url')
}

/** Several upstreams stand for themselves. */
function upstreamProblems(
  { inference: { upstreams, upstream_url, upstream_formats, runtime } }: ConfigValues,
  whereOf: (key: string) => string,
): readonly string[] {
  const names = Object.keys(upstreams)
  const problems: string[] = []
  if (upstream_formats !== null && upstream_url === null) {
    const cure = names.length === 0 ? 'set the address that speaks them' : 'set formats for each upstream'
    problems.push(`${whereOf('inference.upstream_formats')}: inference.upstream_formats is set without inference.upstream_url; ${cure}`)
  }
  if (names.length === 0) return problems
  if (upstream_url !== null)
    problems.push(
      `${whereOf('inference.upstream_url')}: inference.upstream_url and inference.upstreams are both set; move the one among the others`,
    )
  if (runtime !== null && runtime !== 'provider')
    problems.push(`${whereOf('inference.runtime')}: inference.upstreams needs inference.runtime: provider; leave inference.runtime out`)
  for (const name of names) {
    const { cert_file, key_file } = upstreams[name]?.tls ?? {}
    if ((cert_file ?? null) === (key_file ?? null) || (cert_file != null && key_file != null)) continue
    const [there, missing] = cert_file == null ? ['key_file', 'cert_file'] : ['cert_file', 'key_file']
    const section = `inference.upstreams.${name}.tls`
    problems.push(`${whereOf(`${section}.${there}`)}: ${section}.${there} is set without ${section}.${missing}; set both`)
  }
  return problems
}

/** With several recipes, sections at the top of the file would be ambiguous. */
function recipeProblems(settings: ConfigValues, given: ReadonlyMap<string, GivenValue>, fileName: string): readonly string[] {
  const names = Object.keys(settings.recipes)
  if (names.length === 0) return []
  return [...given.values()]
    .filter(({ path }) => RECIPE_SECTIONS.has(path[0] ?? ''))
    .map(({ path, origin }) => {
      const key = path.join('.')
      return `${place(origin, fileName)}: ${key} stands at the top beside recipes; move it under a recipe, such as recipes.${names[0]}.${key}`
    })
}

export function servedUrl(config: Config, port: number): string {
  return config.svc.served_url ?? localUrl(config.svc, port)
}

/** The address at which this machine reaches a service bound to that host: loopback for a bind to all addresses. */
export function localUrl({ host, tls }: Pick<Config['svc'], 'host' | 'tls'>, port: number): string {
  const address = host === '0.0.0.0' ? '127.0.0.1' : host.replace(/^::$/, '::1')
  return `${tls === null ? 'http' : 'https'}://${isIPv6(address) ? `[${address}]` : address}:${port}`
}
