/** A row of the route table. Access is by service token and the body limit is the largest one, unless a row says otherwise. */
import { BODY_BYTES_MAX } from '../../contract/index.ts'
import type { Handler, HttpRoute, LineHandler } from '../context.ts'
import type { RouteSpec } from '../openapi/spec.ts'

type Row = RouteSpec & Partial<Pick<HttpRoute, 'access' | 'bodyBytesMax'>>

export const get = (path: string, plain: Handler, more: Row): HttpRoute => row('GET', path, { plain }, more)
export const post = (path: string, plain: Handler, more: Row): HttpRoute => row('POST', path, { plain }, more)
export const del = (path: string, plain: Handler, more: Row): HttpRoute => row('DELETE', path, { plain }, more)
/** An inference route, which writes to the socket itself. */
export const line = (path: string, handler: LineHandler, more: Row): HttpRoute => row('POST', path, { line: handler }, more)

function row(
  method: HttpRoute['method'],
  path: string,
  run: HttpRoute['run'],
  { access = 'service', bodyBytesMax = BODY_BYTES_MAX, ...spec }: Row,
): HttpRoute {
  return { method, path, run, access, bodyBytesMax, spec }
}
