/** Connections to an upstream, direct or through the machine's proxy, and messages for those that fail. */
import type { LookupFunction } from 'node:net'
import { EnvHttpProxyAgent, Pool } from 'undici'
import { isObject, Refusal, upstream, UPSTREAM_HEADER_BYTES_MAX, type Json, type JsonObject } from '../../../src/contract/index.ts'
import { INSIDE_ADDRESS, tlsOptions, type TlsOptions } from '../../../src/kit/index.ts'
import { upstreamLine } from './line.ts'

export interface Connections {
  readonly dispatcher: Pool | EnvHttpProxyAgent
  readonly origin: string
  readonly prefix: string
  /** The address of the proxy that is set, without its password; null where there is none. */
  readonly proxy: string | null
}

interface Proxies {
  readonly http: string
  readonly https: string
  readonly direct: string
}

interface ConnectionOptions {
  /** Unset: as long as an answer. */
  readonly connectTimeoutMs?: number
  readonly tls?: TlsOptions
  /** Resolves the host's name. */
  readonly lookup?: LookupFunction
}

/** The setting `proxy` holds what the environment said; it is not read again. */
export function connectionsTo(url: string, timeoutMs: number, config: JsonObject, options: ConnectionOptions = {}): Connections {
  const { connectTimeoutMs = timeoutMs, tls, lookup } = options
  const { origin, pathname, protocol } = new URL(url)
  const limits = {
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxHeaderSize: UPSTREAM_HEADER_BYTES_MAX,
    factory: upstreamLine,
  }
  const connect = { timeout: connectTimeoutMs, ...tls, ...(lookup && { lookup }) }
  const prefix = pathname.replace(/(?<!\/)\/+$/, '')
  const proxies = proxiesOf(config['proxy'])
  const through = protocol === 'https:' ? proxies?.https : proxies?.http
  if (proxies === null || through === undefined || through === '')
    return { dispatcher: new Pool(origin, { ...limits, connect }), origin, prefix, proxy: null }
  const { http: httpProxy, https: httpsProxy, direct: noProxy } = proxies
  const secured = tls === undefined ? {} : { requestTls: tls }
  const dispatcher = new EnvHttpProxyAgent({
    ...secured,
    connect,
    connectTimeout: connectTimeoutMs,
    httpProxy,
    httpsProxy,
    noProxy,
    // The agent has none of the limits for an address that it asks as the proxy wants it.
    factory: (to, made) => new Pool(to, Object.assign({}, made, limits)),
  })
  return { dispatcher, origin, prefix, proxy: new URL(through).origin }
}

/** The TLS files of an upstream. Throws Refusal 'invalid' where they cannot be used. */
export function tlsOf(settings: Json | undefined): TlsOptions {
  try {
    return tlsOptions(isObject(settings) ? settings : {})
  } catch (cause) {
    throw new Refusal('invalid', 'bad_setting', cause instanceof Error ? cause.message : String(cause), { cause })
  }
}

function proxiesOf(given: JsonObject[string] | undefined): Proxies | null {
  if (!isObject(given)) return null
  const textAt = (key: keyof Proxies): string => (typeof given[key] === 'string' ? given[key] : '')
  return { http: textAt('http'), https: textAt('https'), direct: textAt('direct') }
}

/** The subject of a message, and the setting that holds its address. */
export interface Whom extends Pick<Connections, 'origin' | 'proxy'> {
  readonly name: string
  readonly setting: string
}

const TIMEOUTS = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT'])

export function failureOf(error: unknown, { name, origin, setting, proxy }: Whom): Refusal {
  const { code, message } = read(error)
  const detail = { cause: error }
  if (code === INSIDE_ADDRESS) return insideAddress()
  if (TIMEOUTS.has(code)) return upstream('upstream_timeout', `${name} at ${origin} did not answer in time; try again later`, detail)
  if (code === 'UND_ERR_HEADERS_OVERFLOW')
    return upstream(
      'answer_too_large',
      `${name} at ${origin} answered with more than ${UPSTREAM_HEADER_BYTES_MAX} bytes of headers; see what stands between it and this service`,
      detail,
    )
  const refused = /^Proxy (?:response \((\d+)\)|Authentication Required)/.exec(message)
  if (refused !== null && proxy !== null) {
    const status = refused[1] ?? '407'
    const cure = status === '407' ? 'put its user and password into HTTPS_PROXY' : 'see its log, or list the host in NO_PROXY'
    return upstream('upstream_unreachable', `the proxy at ${proxy} answered ${status} and did not reach ${origin}; ${cure}`, detail)
  }
  const [why, cure] = whyNot(code, setting)
  const said = [code === '' ? message : code, ...(proxy === null ? [] : [`a proxy is set: ${proxy}`])].join('; ')
  return upstream('upstream_unreachable', `${name} at ${origin} ${why} (${said}); ${cure}`, detail)
}

/** Without the address that the name led to. */
export const insideAddress = (): Refusal =>
  upstream('inside_address', "the scenario's model.url leads inside this network; list its host in inference.allow_inside, or give another")

function read(error: unknown): { readonly code: string; readonly message: string } {
  if (!(error instanceof Error)) return { code: '', message: String(error) }
  return { code: 'code' in error && typeof error.code === 'string' ? error.code : '', message: error.message }
}

function whyNot(code: string, setting: string): readonly [why: string, cure: string] {
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return ['could not be reached: its host name is not known', `check ${setting} and the name server`]
  if (code === 'ECONNREFUSED') return ['could not be reached: nothing listens there', `start it, or change ${setting}`]
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return ['has a certificate for another host name', `change the host in ${setting}`]
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID')
    return ['has a certificate that is not valid now', 'renew it, or correct the clock']
  if (/CERT|UNABLE_TO_/.test(code))
    return [
      'has a certificate that is not trusted here',
      `name the file of its authority in ${setting.startsWith('inference.upstreams.') ? `${setting}.tls.ca_file` : 'NODE_EXTRA_CA_CERTS'} and start the service again`,
    ]
  if (/^EPROTO$|^ERR_SSL_/.test(code)) return ['could not agree on TLS', `see whether ${setting} should begin with http or https`]
  return ['could not be reached or broke off', `try again; if it stays, see whether it runs, and check ${setting}`]
}
