/** A refusal as it is sent: as JSON, and on the two pages, which people open in browsers, as HTML for whoever prefers that. */
import { isObject, ROUTE_PREFIX } from '../contract/index.ts'
import { refusalPage } from '../pages/index.ts'
import type { Visit } from './door.ts'
import { answerError } from './errors.ts'
import { htmlReply } from './pages.ts'
import type { Reply } from './reply.ts'

const PAGE = new RegExp(`^${ROUTE_PREFIX}/harness/(releases|requests)/[^/]+/page$`)

export function refusalReply(
  error: unknown,
  { path, request }: Pick<Visit, 'path' | 'request'>,
): Reply & { readonly body: string | Uint8Array } {
  const { status, headers, body, relayed } = answerError(error, path)
  const [, kind] = PAGE.exec(path) ?? []
  if (kind === undefined || !prefersHtml(request.headers.accept ?? ''))
    return { status, headers: { ...headers, 'content-type': 'application/json' }, body: relayed ?? JSON.stringify(body) }
  const told = isObject(body['error']) ? body['error']['message'] : null
  const page = htmlReply(
    refusalPage({ status, message: typeof told === 'string' ? told : '', section: kind === 'releases' ? 'Versions' : 'Requests' }),
    status,
  )
  return { ...page, headers: { ...headers, ...page.headers } }
}

const prefersHtml = (accept: string): boolean => qualityOf(accept, 'text', 'html') > qualityOf(accept, 'application', 'json')

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
