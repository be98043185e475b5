/** Every route with a token of every role, for its own scenario, another one and one that there is not: made from the table of roles and the table of routes. */
import { beforeAll, describe, expect, it } from 'vitest'
import { hasRight, ROLES, type Role } from '../../src/contract/index.ts'
import type { HttpRoute } from '../../src/http/context.ts'
import { routes } from '../../src/http/routes.ts'
import { sharedWorld } from '../support/world.ts'
import { bearer, errorOf, named, OPEN_RECIPE, textAt } from './support/helpers.ts'

const TOKEN = 'admin-token-of-the-test'
const SCENARIOS = ['own', 'other', 'unknown'] as const

interface Holder {
  readonly role: Role
  readonly scenarios: readonly string[] | null
}
/** A token of the role agent is always for some scenarios, one of the role admin never. */
const HOLDERS: readonly Holder[] = ROLES.flatMap((role) => [
  ...(role === 'agent' ? [] : [{ role, scenarios: null }]),
  ...(role === 'admin' ? [] : [{ role, scenarios: ['own'] }]),
])
const titleOf = ({ role, scenarios }: Holder): string => `${role}-${scenarios === null ? 'for-all' : 'for-own'}`

const here = sharedWorld({ settings: { 'svc.token': TOKEN, recipe: OPEN_RECIPE } })
const tokens = new Map<Holder, string>()

beforeAll(restore)

/** A request that is allowed may archive scenarios, and the tokens for one end with it. */
async function restore(): Promise<void> {
  for (const name of ['own', 'other']) await here.post('/svc/scenarios', { name }, bearer(TOKEN))
  for (const holder of HOLDERS) {
    const { role, scenarios } = holder
    const body = { name: titleOf(holder), role, ...(scenarios !== null && { scenarios }) }
    const made = await here.post('/svc/tokens', body, bearer(TOKEN))
    if (made.status === 201) tokens.set(holder, textAt(made.json, 'token'))
  }
}

/** Null where the request reaches its handler. */
function refusalOf({ access, right, scope }: HttpRoute, { role, scenarios }: Holder, scenario: string): string | null {
  if (access === 'open') return null
  if (right !== null && !hasRight(role, right)) return 'role_forbids'
  if (scenarios === null || scope === 'any') return null
  return scope === 'deployment' || !scenarios.includes(scenario) ? 'other_scenario' : null
}

const ask = ({ method, path }: HttpRoute, scenario: string, token: string) =>
  here.ask(method, path.replace(':scenario', scenario).replaceAll(/\/:\w+/g, '/0'), { headers: { ...named(scenario), ...bearer(token) } })

/** Some formats of refusals have no room for a code. */
const hasCode = (answer: Parameters<typeof errorOf>[0], code: string): boolean => {
  const { code: own } = errorOf(answer)
  return typeof own !== 'string' || own === code
}

describe('every role on every route [access.roles] [access.scenarios]', () => {
  it.each(routes)('$method $path', async (route) => {
    const wrong: string[] = []
    for (const holder of HOLDERS)
      for (const scenario of SCENARIOS) {
        const answer = await ask(route, scenario, tokens.get(holder) ?? '')
        const expected = refusalOf(route, holder, scenario)
        const isRight = expected === null ? answer.status !== 401 : answer.status === 401 && hasCode(answer, expected)
        if (!isRight) wrong.push(`${titleOf(holder)} in ${scenario}: ${answer.status} ${answer.text.slice(0, 200)}`)
        if (route.method === 'DELETE' && answer.status === 200) await restore()
      }
    expect(wrong).toEqual([])
    if (route.method !== 'GET') await restore()
  })
})

const evaluationOf = (path: string): string => `POST /svc/scenarios/:scenario/evaluation/${path}`

/** Spelt out here once more, so that a right that is given away is missed. */
const OPENED: Readonly<Record<Exclude<Role, 'admin' | 'read'>, readonly string[]>> = {
  serve: [
    'POST /svc/records',
    'POST /svc/records/batch',
    'POST /svc/report',
    ...['images', 'images/generations', 'embeddings', 'audio/speech', 'decisions'].map((route) => `POST /v1/${route}`),
  ],
  agent: [
    'GET /svc/harness',
    'GET /svc/harness/install',
    'GET /svc/harness/install/line',
    'GET /svc/harness/releases',
    'GET /svc/harness/releases/:step/page',
    'GET /svc/harness/requests/:record_id/page',
    'GET /svc/harness/requests/:record_id/progress',
    'POST /svc/harness/proposals',
    'POST /svc/report',
    'POST /svc/train',
    ...['images', 'images/generations', 'embeddings', 'audio/speech', 'decisions'].map((route) => `POST /v1/${route}`),
  ],
  worker: ['POST /svc/fleet/take', 'POST /svc/fleet/episodes/:lease/beat', 'POST /svc/fleet/episodes/:lease/result'],
  review: [
    'POST /svc/harness/tasks',
    'POST /svc/scenarios/:scenario/comment',
    ...['chat/completions', 'messages', 'messages/count_tokens', 'responses', 'responses/compact', 'responses/input_tokens'].map((route) =>
      evaluationOf(`v1/${route}`),
    ),
    ...['countTokens', 'generateContent', 'streamGenerateContent'].map((verb) => evaluationOf(`v1beta/models/:model:${verb}`)),
    'POST /svc/scenarios/:scenario/promote',
    'POST /svc/scenarios/:scenario/reject',
    'POST /svc/scenarios/:scenario/rollback',
    'POST /svc/scenarios/:scenario/withdraw',
    ...routes.filter(({ right }) => right === 'read' || right === 'pull' || right === 'follow').map(nameOf),
  ],
}
const BESIDE = new Set(['/v1/models', '/v1/models/:model', '/v1/responses', '/v1/completions'])
const INFERENCE = routes.filter(({ run, path }) => 'traffic' in run || BESIDE.has(path)).map(nameOf)

function nameOf({ method, path }: HttpRoute): string {
  return `${method} ${path}`
}

it.each(Object.entries(OPENED))('the role %s opens these routes and no other [access.roles]', (role, listed) => {
  const opened = routes.filter(({ right }) => right !== null && hasRight(roleOf(role), right)).map(nameOf)
  const infers = role === 'serve' || role === 'agent'
  expect(opened.sort()).toEqual([...new Set([...listed, ...(infers ? INFERENCE : [])])].sort())
})

const roleOf = (text: string): Role => ROLES.find((role) => role === text) ?? 'read'

it('the role read opens nothing that changes anything [access.roles]', () => {
  const opened = routes.filter(({ right }) => right !== null && hasRight('read', right))
  expect(new Set(opened.map(({ method }) => method))).toEqual(new Set(['GET']))
})

it('every route that names a scenario is held against those of the token, and the others are known [access.scenarios]', () => {
  const free = routes.filter(({ access, scope }) => access !== 'open' && (scope === 'any' || scope === 'deployment'))
  expect(free.map((route) => `${route.scope} ${nameOf(route)}`).sort()).toEqual([
    'any DELETE /svc/sign-in',
    'any GET /openapi.json',
    'any GET /svc/caller',
    'any GET /svc/harness/adapters',
    'any GET /svc/scenarios',
    'any GET /v1/responses',
    'any POST /svc/fleet/episodes/:lease/beat',
    'any POST /svc/fleet/episodes/:lease/result',
    'any POST /svc/fleet/take',
    'any POST /v1/completions',
    'deployment DELETE /svc/tokens/:token_name',
    'deployment GET /metrics',
    'deployment GET /svc/audit',
    'deployment GET /svc/configuration',
    'deployment GET /svc/fleet',
    'deployment GET /svc/status',
    'deployment GET /svc/tokens',
    'deployment POST /svc/forget',
    'deployment POST /svc/scenarios',
    'deployment POST /svc/tokens',
    'deployment POST /svc/tokens/:token_name/limits',
    'deployment POST /svc/tokens/:token_name/rotate',
    'deployment POST /svc/webhooks/retry',
  ])
})
