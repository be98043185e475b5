/** A row of the route table. Access is by token and the body limit is the largest one, unless a row says otherwise. */
import { BODY_BYTES_MAX, HEADER, type Right } from '../../contract/index.ts'
import type { Handler, HttpRoute, LineHandler, Scope, TrafficHandler } from '../context.ts'
import type { RouteSpec } from '../openapi/spec.ts'

type Row = Omit<RouteSpec, 'tag'> &
  Partial<Pick<HttpRoute, 'access' | 'bodyBytesMax' | 'scope'>> & {
    /** What a token must let its holder do; null where any token will do. */
    readonly right: Right | null
  }

export function rowsOf(tag: RouteSpec['tag']) {
  const row = (
    method: HttpRoute['method'],
    path: string,
    run: HttpRoute['run'],
    { access = 'service', bodyBytesMax = BODY_BYTES_MAX, right, scope, ...spec }: Row,
  ): HttpRoute => ({
    method,
    path,
    run,
    access,
    right,
    scope: scope ?? scopeOf(path, access, spec),
    bodyBytesMax,
    spec: { tag, ...spec },
  })
  return {
    get: (path: string, plain: Handler, more: Row): HttpRoute => row('GET', path, { plain }, more),
    post: (path: string, plain: Handler, more: Row): HttpRoute => row('POST', path, { plain }, more),
    del: (path: string, plain: Handler, more: Row): HttpRoute => row('DELETE', path, { plain }, more),
    traffic: (path: string, traffic: TrafficHandler, more: Row): HttpRoute => row('POST', path, { traffic }, more),
    line: (path: string, line: LineHandler, more: Row): HttpRoute => row('POST', path, { line }, more),
  }
}

/** A route that names a scenario nowhere is one of the deployment. */
function scopeOf(path: string, access: HttpRoute['access'], { parameters = [] }: Pick<RouteSpec, 'parameters'>): Scope {
  if (path.includes('/:scenario')) return 'path'
  if (access === 'page') return 'page'
  return parameters.some(({ name }) => name === HEADER.scenario) ? 'header' : 'deployment'
}
