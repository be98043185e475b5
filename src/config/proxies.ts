/** The machine's proxies, from the usual environment variables. */
import type { Environment } from './interpolate.ts'
import { ConfigProblem } from './problem.ts'

export interface Proxies {
  /** Empty where there is none. */
  readonly http: string
  readonly https: string
  /** Hosts reached directly, separated by commas. */
  readonly direct: string
}

/** This machine is never reached through a proxy. */
const LOOPBACK = ['localhost', '127.0.0.1', '::1']

/** Null where none is set. Throws ConfigProblem for an invalid one without quoting it, since it may hold a password. */
export function proxiesFrom(environment: Environment): Proxies | null {
  const [http, https] = [proxyIn(environment, 'http_proxy'), proxyIn(environment, 'https_proxy')]
  if (http === '' && https === '') return null
  return { http, https: https === '' ? http : https, direct: [valueIn(environment, 'no_proxy'), ...LOOPBACK].join(',') }
}

function proxyIn(environment: Environment, name: string): string {
  const value = valueIn(environment, name)
  if (value === '') return ''
  const url = value.includes('://') ? value : `http://${value}`
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url
  throw new ConfigProblem([
    `environment ${name.toUpperCase()}: must be the address of a proxy, such as http://proxy:3128; set it, or unset it`,
  ])
}

/** The lower-case variable wins, as with other tools. */
const valueIn = (environment: Environment, name: string): string => (environment[name] || environment[name.toUpperCase()] || '').trim()
