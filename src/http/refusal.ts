/**
 * A refusal as it is sent: as JSON; on the two pages and on the way to a sign-in, which people open in browsers, as HTML for clients that prefer it; on the install route,
 * whose answers people pipe into a shell, as a script that says why and exits 1, unless JSON is preferred.
 */
import type { IncomingMessage } from 'node:http'
import { isObject, ROUTE_PREFIX, type JsonObject } from '../contract/index.ts'
import type { HttpContext } from './context.ts'
import { answerError, isInstallPath } from './errors.ts'
import type { HttpReply } from './reply.ts'
import { SIGN_IN_START } from './handlers/sign-in.ts'
import type { TrafficServices } from './services.ts'

const PAGE = new RegExp(`^${ROUTE_PREFIX}/(?:harness/(releases|requests)/[^/]+/page|(sign-in)/(?:start|callback))$`)
const SECTIONS: Readonly<Record<string, 'Versions' | 'Requests' | 'Sign-in'>> = {
  releases: 'Versions',
  requests: 'Requests',
  'sign-in': 'Sign-in',
}

export const SCRIPT_HEADERS = { 'content-type': 'text/x-shellscript; charset=utf-8', 'cache-control': 'no-store' }

/** What draws pages and scripts is loaded with the first of them. */
export async function refusalReply(
  error: unknown,
  { path, rawQuery, request, services: { signIn } }: Pick<HttpContext<TrafficServices>, 'path' | 'rawQuery' | 'request' | 'services'>,
): Promise<HttpReply & { readonly body: string | Uint8Array }> {
  const { status, headers, body, relayed } = answerError(error, path)
  const accept = request.headers.accept ?? ''
  const [, shown, signingIn] = PAGE.exec(path) ?? []
  const section = SECTIONS[shown ?? signingIn ?? '']
  if (section !== undefined && prefers(accept, ['text', 'html'])) {
    const { refusedPage } = await import('./handlers/pages.ts')
    const url =
      signIn === null ? '' : `${signIn.origin}${SIGN_IN_START}${section === 'Sign-in' ? '' : `?${returnTo(path, rawQuery).toString()}`}`
    const page = refusedPage({
      status,
      message: messageIn(body),
      section,
      signIn: signIn === null || status === 404 ? null : { name: signIn.name, url },
    })
    return { ...page, headers: { ...headers, ...page.headers } }
  }
  if (isInstallPath(path) && !prefersJson(request)) {
    const { failureScript } = await import('../harness/index.ts')
    return { status, headers: { ...headers, ...SCRIPT_HEADERS }, body: failureScript(status, messageIn(body)) }
  }
  return { status, headers: { ...headers, 'content-type': 'application/json' }, body: relayed ?? shellSafe(JSON.stringify(body)) }
}

/** To the same page, without the key that did not open it. */
function returnTo(path: string, rawQuery: string): URLSearchParams {
  const query = new URLSearchParams(rawQuery)
  query.delete('key')
  return new URLSearchParams({ return_to: `${path}?${query.toString()}` })
}

/** On the install route, whether a refusal is read by a program instead of a shell. */
export const prefersJson = ({ headers: { accept = '' } }: IncomingMessage): boolean =>
  prefers(accept, ['application', 'json'], ['text', 'x-shellscript'])

export function messageIn({ error }: JsonObject): string {
  const message = isObject(error) ? error['message'] : null
  return typeof message === 'string' ? message : ''
}

/** The same JSON, in which a shell that is fed it finds nothing to run: its strings are quoted for one but for these characters. */
const shellSafe = (json: string): string => json.replaceAll(/[$`!]/g, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`)

type MediaType = readonly [family: string, name: string]

const prefers = (accept: string, wanted: MediaType, other: MediaType = ['application', 'json']): boolean =>
  qualityOf(accept, ...wanted) > qualityOf(accept, ...other)

/** How welcome a type is, from 0 to 1: as its own name says, else as its family's, else as anything's. */
function qualityOf(accept: string, family: string, name: string): number {
  const ranges = accept.toLowerCase().split(',').map(rangeOf)
  const range = [`${family}/${name}`, `${family}/*`, '*/*']
    .map((type) => ranges.find((each) => each.type === type))
    .find((found) => found !== undefined)
  return range?.quality ?? 0
}

function rangeOf(text: string): { readonly type: string; readonly quality: number } {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim())
  const quality = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1)
  return { type, quality: Number.isNaN(quality) ? 0 : quality }
}
