/** The cookies of signing in: no script reads them, and pages of other sites do not send them, but for following a link. */
import { COOKIE } from '../../contract/index.ts'
import type { HttpContext } from '../context.ts'
import { cookieIn } from './auth.ts'

type Cookie = keyof typeof COOKIE

/** The prefix has browsers refuse one that another host of the same domain, or a page without TLS, tries to put in its place. */
export const cookieName = (cookie: Cookie, origin: string): string => `${isSecure(origin) ? '__Host-' : ''}${COOKIE[cookie]}`

const isSecure = (origin: string): boolean => origin.startsWith('https:')

export const readCookie = ({ request }: Pick<HttpContext, 'request'>, cookie: Cookie, origin: string): string | null =>
  cookieIn(request.headers.cookie, cookieName(cookie, origin))

/** Zero seconds remove it. */
export function setCookie(
  { response }: Pick<HttpContext, 'response'>,
  cookie: Cookie,
  origin: string,
  value: string,
  seconds: number,
): void {
  const rules = ['Path=/', `Max-Age=${Math.floor(seconds)}`, 'HttpOnly', 'SameSite=Lax', ...(isSecure(origin) ? ['Secure'] : [])]
  response.appendHeader('set-cookie', [`${cookieName(cookie, origin)}=${value}`, ...rules].join('; '))
}
