/** The OpenAPI 3.1 document, made from the route table when it is first asked for. */
import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { z } from 'zod'
import { COOKIE, HEADER, PRODUCT } from '../../contract/index.ts'
import { dialectOfPath } from '../../dialects/index.ts'
import { isInstallPath } from '../errors.ts'
import type { Access } from '../credentials/auth.ts'
import type { Handler, HttpRoute } from '../context.ts'
import { PATH_PARAMETERS, RESPONSE_HEADERS, type Parameter, type ResponseHeader } from './parameters.ts'
import { OTHER_SCENARIO, refusals, ROLE_FORBIDS, UNAUTHORIZED, UNREADABLE, type Refusals } from './refusals.ts'
import { componentSchemas, inlineSchema, refTo } from './schemas.ts'
import { TAGS, type RouteAnswer, type RouteSpec } from './spec.ts'

/** The table is a function, since this handler is a row of it. */
export function openApi(routesOf: () => readonly HttpRoute[]): Handler {
  let printed: string | undefined
  return () => {
    printed ??= JSON.stringify(documentOf(routesOf().filter(isDescribed)))
    return { status: 200, headers: { 'content-type': 'application/json' }, body: printed }
  }
}

export type DescribedRoute = HttpRoute & { readonly spec: RouteSpec }
export const isDescribed = (route: HttpRoute): route is DescribedRoute => route.spec !== null

export function documentOf(routes: readonly DescribedRoute[]): object {
  return {
    openapi: '3.1.1',
    info: infoOf(),
    servers: [{ url: '/' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: pathsOf(routes),
    components: {
      schemas: componentSchemas(),
      parameters: mapped(PATH_PARAMETERS, parameterOf),
      headers: mapped(RESPONSE_HEADERS, (description) => ({ description, schema: { type: 'string' } })),
      securitySchemes: SECURITY_SCHEMES,
    },
  }
}

const packageFacts = z.object({ version: z.string(), description: z.string(), license: z.string() })

function infoOf(): object {
  const path = findPackageJSON(import.meta.url)
  if (path === undefined) throw new Error('the package of this module has no package.json')
  const { version, description, license } = packageFacts.parse(JSON.parse(readFileSync(path, 'utf8')))
  return {
    title: PRODUCT,
    version,
    summary: description,
    description:
      'Without a token configured the service is open, and listens on loopback alone. HEAD is answered like GET, without the body; a known path with another method is 405 with allow, an unknown one 404. Query parameters that a route does not name are ignored; inference routes pass the query on to the upstream. The routes below `/v1beta/models/` also answer below `/v1/models/` and `/models/`. Fields may be added to answers: ignore those you do not know.',
    license: { name: license, identifier: license },
  }
}

const SECURITY_SCHEMES = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'A token of the service, whose role and scenarios say what it opens; on the evaluation routes also the evaluation token.',
  },
  apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'The same, where there is no authorization header.' },
  signIn: {
    type: 'apiKey',
    in: 'cookie',
    name: `__Host-${COOKIE.signIn}`,
    description:
      'The sign-in of a person, where no token is sent; without the prefix on plain http. Changes must come from pages of the service.',
  },
  pageKey: {
    type: 'apiKey',
    in: 'query',
    name: 'key',
    description: 'Opens the two pages of one scenario, which stands beside it in the query. Paths of pages carry it.',
  },
}
const TOKENS = [{ bearer: [] }, { apiKey: [] }, { signIn: [] }]
const SECURITY: Readonly<Record<Access, readonly object[]>> = {
  open: [],
  service: TOKENS,
  evaluation: TOKENS,
  page: [...TOKENS, { pageKey: [] }],
}

function pathsOf(routes: readonly DescribedRoute[]): Readonly<Record<string, object>> {
  const byPath = Map.groupBy(routes, ({ path }) => path.replaceAll(/\/:(\w+)/g, '/{$1}'))
  return Object.fromEntries(
    [...byPath].map(([path, members]) => [
      path,
      Object.fromEntries(members.map((route) => [route.method.toLowerCase(), operationOf(route)])),
    ]),
  )
}

function operationOf(route: DescribedRoute): object {
  const { operationId, tag, summary, description, parameters = [], body, ...rest } = route.spec
  const named = [...route.path.matchAll(/\/:(\w+)/g)].map(([, name]) => ({ $ref: `#/components/parameters/${name}` }))
  const all = [...named, ...parameters.map(parameterOf)]
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    security: SECURITY[route.access],
    ...(all.length > 0 && { parameters: all }),
    ...(body !== undefined && { requestBody: bodyOf(route, body) }),
    responses: { ...mapped(rest.answers, answerOf), ...refusalsOf(route, rest.refusals) },
  }
}

const parameterOf = ({ schema, ...parameter }: Parameter): object => ({ ...parameter, schema: inlineSchema(schema) })

function bodyOf({ bodyBytesMax }: HttpRoute, schema: z.ZodType): object {
  return { description: `At most ${bodyBytesMax} bytes.`, required: true, content: { 'application/json': { schema: refTo(schema) } } }
}

function answerOf({ description, content, headers }: RouteAnswer): object {
  const media = mapped(content, (schema) => (schema === null ? {} : { schema: refTo(schema) }))
  return { description, headers: headersOf(headers), content: media }
}

function headersOf(names: readonly ResponseHeader[]): object {
  return Object.fromEntries([HEADER.requestId, ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

const HEADERS_OF_STATUS: Readonly<Record<string, readonly ResponseHeader[]>> = {
  409: ['x-should-retry'],
  426: ['allow'],
  429: ['retry-after'],
  502: [HEADER.upstreamStatus],
  503: ['retry-after'],
}

function refusalsOf(route: HttpRoute, own: RouteSpec['refusals']): object {
  const { path, access } = route
  const all = refusals(UNREADABLE, accessRefusals(route), own)
  const schema = refTo(dialectOfPath(path).openApi.error)
  const other = access === 'page' ? 'text/html' : isInstallPath(path) ? 'text/x-shellscript' : null
  return Object.fromEntries(
    Object.entries(all).map(([status, codes]) => [
      status,
      {
        description: codes.map((code) => `\`${code}\``).join(', '),
        headers: headersOf(HEADERS_OF_STATUS[status] ?? []),
        content: { 'application/json': { schema }, ...(other !== null && { [other]: {} }) },
      },
    ]),
  )
}

/** Of authentication, and of what a token is for. */
export function accessRefusals({ access, right, scope }: Pick<HttpRoute, 'access' | 'right' | 'scope'>): Refusals {
  if (access === 'open') return {}
  return refusals(UNAUTHORIZED, right === null ? {} : ROLE_FORBIDS, scope === 'any' ? {} : OTHER_SCENARIO)
}

function mapped<V, W>(object: Readonly<Record<string, V>>, change: (value: V) => W): Readonly<Record<string, W>> {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]))
}
