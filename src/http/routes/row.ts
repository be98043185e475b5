/** A row of the route table. Access is by service token and the body limit is the largest one, unless a row says otherwise. */
import { BODY_BYTES_MAX } from '../../contract/index.ts'
import type { Handler, HttpRoute, LineHandler, TrafficHandler } from '../context.ts'
import type { RouteSpec } from '../openapi/spec.ts'

type Row = Omit<RouteSpec, 'tag'> & Partial<Pick<HttpRoute, 'access' | 'bodyBytesMax'>>

export function rowsOf(tag: RouteSpec['tag']) {
  const row = (
    method: HttpRoute['method'],
    path: string,
    run: HttpRoute['run'],
    { access = 'service', bodyBytesMax = BODY_BYTES_MAX, ...spec }: Row,
  ): HttpRoute => ({ method, path, run, access, bodyBytesMax, spec: { tag, ...spec } })
  return {
    get: (path: string, plain: Handler, more: Row): HttpRoute => row('GET', path, { plain }, more),
    post: (path: string, plain: Handler, more: Row): HttpRoute => row('POST', path, { plain }, more),
    del: (path: string, plain: Handler, more: Row): HttpRoute => row('DELETE', path, { plain }, more),
    traffic: (path: string, traffic: TrafficHandler, more: Row): HttpRoute => row('POST', path, { traffic }, more),
    line: (path: string, line: LineHandler, more: Row): HttpRoute => row('POST', path, { line }, more),
  }
}
