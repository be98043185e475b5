/** What makes the address, the token or the scenario unusable, as the end of a sentence; null when nothing does. */
import { INSECURE_VARIABLE, TOKEN_VARIABLE } from './names.ts'

/** An address that carries more than a place would be kept in files with its secret, or be cut when a route is put after it. */
export function urlProblem(text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return 'must be an http or https address'
  if (url.username !== '' || url.password !== '') return `must not carry credentials; set ${TOKEN_VARIABLE} instead`
  return /[?#]/.test(text) ? 'must not carry a query or a fragment' : null
}

/** Checked before it is sent, because a header that cannot be sent is refused with the token in the message. */
export const tokenProblem = (text: string): string | null =>
  /^[\x21-\x7e]+$/.test(text) ? null : 'holds characters that no token has; copy it again'

export const scenarioProblem = (name: string): string | null => (/\p{Cc}/u.test(name) ? 'must not hold control characters' : null)

/** Without a slash at its end, so that a route can be put after it. */
export const withoutSlash = (url: string): string => new URL(url).href.replace(/(?<!\/)\/+$/, '')

/** Nobody between here and there can read or change what is sent: TLS, or this very machine. */
export function isSafeWay(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' || /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname)
}

/** Plain HTTP beyond this machine is refused unless a person says otherwise. */
export const wayProblem = (url: string, env: NodeJS.ProcessEnv): string | null =>
  isSafeWay(url) || env[INSECURE_VARIABLE] === '1'
    ? null
    : `${new URL(url).origin} is reached without TLS, and anyone on the way can read the token and the traffic; use https, or allow it with ${INSECURE_VARIABLE}=1`
