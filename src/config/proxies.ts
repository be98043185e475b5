/** The proxies of the machine, as every tool reads them from the environment. */
import type { Environment } from './interpolate.ts'
import { ConfigProblem } from './problem.ts'

export interface Proxies {
  /** For http addresses and for https ones; empty where there is none. */
  readonly http: string
  readonly https: string
  /** Hosts that are asked directly, separated by commas. */
  readonly direct: string
}

/** This machine is never asked through another one. */
const LOOPBACK = ['localhost', '127.0.0.1', '::1']

/** Null where none is set. Throws ConfigProblem where one cannot be read; its value may hold a password and is not shown. */
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

/** The lower-case spelling wins, as with other tools. */
const valueIn = (environment: Environment, name: string): string => (environment[name] || environment[name.toUpperCase()] || '').trim()
