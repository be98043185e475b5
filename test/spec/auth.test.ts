/** Every route with every kind of credentials: which are accepted, and which get 401. */
import { createHmac, hash } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Access } from '../../src/http/credentials/auth.ts'
import { routes } from '../../src/http/routes.ts'
import { ownWorld, sharedWorld, world } from '../support/world.ts'
import { bearer, handedEvaluation, named, OPEN_RECIPE, scenarioNames } from './support/helpers.ts'

const TOKEN = 'first-token-of-the-test'
const SECOND = 'second-token-of-the-test'
const MINE = 'mine'

const pageKey = (token: string, scenario: string): string =>
  createHmac('sha256', hash('sha256', token, 'buffer'))
    .update(`svc-page\n${scenario}`)
    .digest('hex')
const keyQuery = (scenario: string, key: string): string => new URLSearchParams({ scenario, key }).toString()

interface Way {
  readonly headers?: Readonly<Record<string, string>>
  readonly query?: string
  /** Access levels this opens; everything else is 401. */
  readonly opens: readonly Access[]
}
const ALL: readonly Access[] = ['open', 'service', 'evaluation', 'page']
const OPEN: readonly Access[] = ['open']

function waysToAuthenticate(evaluation: string): Readonly<Record<string, Way>> {
  const goodKey = keyQuery(MINE, pageKey(TOKEN, MINE))
  return {
    nothing: { opens: OPEN },
    'a wrong bearer token': { headers: bearer('wrong'), opens: OPEN },
    'a wrong x-api-key': { headers: { 'x-api-key': 'wrong' }, opens: OPEN },
    'an empty x-api-key': { headers: { 'x-api-key': '' }, opens: OPEN },
    'the token with something after it': { headers: bearer(`${TOKEN}x`), opens: OPEN },
    'a bearer token': { headers: bearer(TOKEN), opens: ALL },
    'the second token': { headers: bearer(SECOND), opens: ALL },
    'a lower-case scheme': { headers: { authorization: `bearer ${TOKEN}` }, opens: ALL },
    'an upper-case scheme': { headers: { authorization: `BEARER ${TOKEN}` }, opens: ALL },
    'x-api-key': { headers: { 'x-api-key': TOKEN }, opens: ALL },
    'a good bearer beside a bad x-api-key': { headers: { ...bearer(TOKEN), 'x-api-key': 'wrong' }, opens: ALL },
    'a bad bearer beside a good x-api-key': { headers: { ...bearer('wrong'), 'x-api-key': TOKEN }, opens: OPEN },
    'basic authorization beside a good x-api-key': { headers: { authorization: `Basic ${TOKEN}`, 'x-api-key': TOKEN }, opens: OPEN },
    'a bare token as authorization beside a good x-api-key': { headers: { authorization: TOKEN, 'x-api-key': TOKEN }, opens: OPEN },
    'a scheme without a token beside a good x-api-key': { headers: { authorization: 'Bearer', 'x-api-key': TOKEN }, opens: OPEN },
    'an empty authorization beside a good x-api-key': { headers: { authorization: '', 'x-api-key': TOKEN }, opens: OPEN },
    'the evaluation token': { headers: bearer(evaluation), opens: ['open', 'evaluation'] },
    'the evaluation token as x-api-key': { headers: { 'x-api-key': evaluation }, opens: ['open', 'evaluation'] },
    'a page key': { query: goodKey, opens: ['page'] },
    'a page key of the second token': { query: keyQuery(MINE, pageKey(SECOND, MINE)), opens: ['page'] },
    'a page key beside the header of its scenario': { query: goodKey, headers: named(MINE), opens: ['page'] },
    'a page key beside the header of another scenario': { query: goodKey, headers: named('other'), opens: [] },
    'a page key made for another scenario': { query: keyQuery(MINE, pageKey(TOKEN, 'other')), opens: [] },
    'a page key made from another token': { query: keyQuery(MINE, pageKey('wrong', MINE)), opens: [] },
    'a page key without its scenario': { query: `key=${pageKey(TOKEN, MINE)}`, opens: [] },
    'a page key beside a wrong token': { query: goodKey, headers: bearer('wrong'), opens: [] },
    'a page key beside the evaluation token': { query: goodKey, headers: bearer(evaluation), opens: [] },
    'a page key beside a good token': { query: goodKey, headers: bearer(TOKEN), opens: ['page'] },
    'the token in the query': { query: `token=${TOKEN}`, opens: [] },
    'the token in the query beside a good header': { query: `token=${TOKEN}`, headers: bearer(TOKEN), opens: [] },
    'an empty token in the query beside a good header': { query: 'token', headers: bearer(TOKEN), opens: [] },
    'the token in the query, spelt with escapes': { query: `%74oken=${TOKEN}`, headers: bearer(TOKEN), opens: [] },
    'a token and a page key in the query': { query: `${goodKey}&token=${TOKEN}`, opens: [] },
  }
}

const pathOf = (pattern: string): string => pattern.replace(':scenario', MINE).replaceAll(/\/:\w+/g, '/0')
const openRoutes = routes.map((route) => ({ ...route, path: pathOf(route.path) }))

/** Each test comes from an address of its own, since many wrong tokens from one are slowed. */
let count = 0
beforeEach(() => void (count += 1))
const from = (): string => `127.0.${Math.floor(count / 250)}.${1 + (count % 250)}`

const here = sharedWorld({ settings: { 'svc.token': TOKEN, 'svc.tokens': `[${SECOND}]`, recipe: OPEN_RECIPE }, from })
let evaluation: string
beforeAll(async () => {
  await create()
  evaluation = handedEvaluation(here, MINE).apiKey
})

const create = async (): Promise<void> => {
  await here.post('/svc/scenarios', { name: MINE }, bearer(TOKEN))
}

describe('with authentication on [auth.1] [auth.2] [auth.5] [auth.5-header-wins] [auth.6] [errors.401]', () => {
  it.each(openRoutes)(
    '$method $path accepts the credentials of its access level ($access) [decisions.auth-header-alone]',
    async ({ method, path, access }) => {
      const wrong: string[] = []
      for (const [way, { headers = {}, query, opens }] of Object.entries(waysToAuthenticate(evaluation))) {
        const { status } = await here.ask(method, query === undefined ? path : `${path}?${query}`, { headers })
        if ((status !== 401) !== opens.includes(access)) wrong.push(`${way}: ${status}`)
      }
      expect(wrong).toEqual([])
    },
  )

  it.each(openRoutes)(
    'another method on $path is 405 with allow, and only for a token [decisions.auth-method]',
    async ({ path, method }) => {
      const allowed = new Set<string>(openRoutes.filter((route) => route.path === path).map((route) => route.method))
      if (allowed.has('GET')) allowed.add('HEAD')
      for (const other of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'].filter((one) => !allowed.has(one))) {
        expect((await here.ask(other, path)).status).toBe(401)
        expect((await here.ask(other, path, { headers: bearer(evaluation) })).status).toBe(401)
        const answer = await here.ask(other, path, { headers: bearer(TOKEN) })
        expect(answer).toMatchObject({ status: 405, headers: { allow: expect.stringContaining(method) } })
      }
    },
  )

  it.each(openRoutes.filter(({ method, access }) => method === 'GET' && access !== 'open'))(
    'HEAD $path is as closed as GET',
    async ({ path }) => {
      expect((await here.ask('HEAD', path)).status).toBe(401)
      const { status } = await here.get(path, bearer(TOKEN))
      expect(await here.ask('HEAD', path, { headers: bearer(TOKEN) })).toMatchObject({ status, text: '' })
    },
  )

  it('the page key opens both pages, also for a scenario outside ASCII [decisions.auth-page-key]', async () => {
    await here.post('/svc/scenarios', { name: 'größe' }, bearer(TOKEN))
    const query = keyQuery('größe', pageKey(TOKEN, 'größe'))
    const headers = named(Buffer.from('größe').toString('latin1'))
    for (const page of ['/svc/harness/releases/0/page', '/svc/harness/requests/none/page']) {
      expect((await here.get(`${page}?${query}`)).status).toBe(404)
      expect((await here.get(`${page}?${query}`, headers)).status).toBe(404)
    }
  })

  it('the evaluation token samples its release and posts nowhere else [auth.4] [evaluation.token] [decisions.auth-evaluation-post]', async () => {
    await create()
    const { apiKey } = handedEvaluation(here, MINE)
    const path = `/svc/scenarios/${MINE}/evaluation/v1/chat/completions`
    const answer = await here.post(path, { model: 'm', messages: [] }, bearer(apiKey))
    expect([answer.status, answer.headers['x-svc-agent-record-id']]).toEqual([200, undefined])
    expect((await here.post('/v1/chat/completions', {}, { ...bearer(apiKey), ...named(MINE) })).status).toBe(401)
  })
})

const DOUBTFUL_PATHS = `
  /%68ealthz //healthz /healthz/ /./healthz /svc/../healthz /healthz%2f /HEALTHZ /healthz;v=1 /svc//status /svc/%73tatus
  /svc/status/ /svc/./status /v1/../svc/status /svc/scenarios/%2e%2e/contract /svc/scenarios/%2e/records
  /svc/scenarios/mine/records/%2e%2e /svc/scenarios/mine/records/ /svc/scenarios/%zz/contract
  /svc/scenarios/mine/evaluation/v1/../../../../status /svc/scenarios/mine/evaluation/v1/models
  /svc/scenarios/mine/evaluation/v1/chat%2fcompletions /svc/harness/releases/0/page/ /svc/harness/releases/%2e%2e/page
  /svc/harness/requests/%2e/page /nothing/here /
`

it.each(DOUBTFUL_PATHS.trim().split(/\s+/))(
  'a path that is no route is 401 without a token and 404 with one: %s [decisions.auth-unknown-route]',
  async (path) => {
    const key = keyQuery(MINE, pageKey(TOKEN, MINE))
    for (const headers of [{}, bearer('wrong'), bearer(evaluation)]) expect((await here.get(path, headers)).status).toBe(401)
    expect((await here.get(`${path}?${key}`)).status).toBe(401)
    expect((await here.get(path, bearer(TOKEN))).status).toBe(404)
  },
)

it('with authentication off every route is open, but a token or a stray key in the address is still 401 [auth.6]', async () => {
  const open = await ownWorld()
  const wrong: string[] = []
  for (const { method, path, access } of openRoutes) {
    const [plain, keyed, tokened] = [
      await open.ask(method, path, { headers: bearer('whatever') }),
      await open.get(`${path}?key=x&scenario=${MINE}`),
      await open.ask(method, `${path}?token=x`),
    ]
    const isRight = plain.status !== 401 && (keyed.status === 401) === (access !== 'page') && tokened.status === 401
    if (!isRight) wrong.push(`${method} ${path}: ${plain.status} ${keyed.status} ${tokened.status}`)
  }
  expect(wrong).toEqual([])
})

describe('tokens', () => {
  it('come from SVC_TOKEN when the configuration sets none [decisions.auth-tokens]', async () => {
    const there = await ownWorld({ environment: { SVC_TOKEN: TOKEN } })
    expect((await there.get('/svc/status')).status).toBe(401)
    expect((await there.get('/svc/status', bearer(TOKEN))).status).toBe(200)
  })

  it('of the configuration put SVC_TOKEN out of use [decisions.auth-tokens]', async () => {
    const there = await ownWorld({ environment: { SVC_TOKEN: 'from-the-environment' }, settings: { 'svc.token': TOKEN } })
    expect((await there.get('/svc/status', bearer('from-the-environment'))).status).toBe(401)
    expect((await there.get('/svc/status', bearer(TOKEN))).status).toBe(200)
  })

  it('missing keep the service from listening beyond this machine [decisions.auth-loopback]', async () => {
    await expect(world({ settings: { 'svc.host': '0.0.0.0' } })).rejects.toThrow(/svc\.token.*svc\.host/)
  })

  it('for evaluation are new at every start [auth.4]', async () => {
    const there = await ownWorld({ backend: 'sqlite', settings: { 'svc.token': TOKEN, recipe: OPEN_RECIPE } })
    await there.post('/svc/scenarios', { name: MINE }, bearer(TOKEN))
    const old = handedEvaluation(there, MINE)
    await there.restart()
    expect(await scenarioNames(there, bearer(TOKEN))).toEqual([MINE])
    await there.get(`/svc/scenarios/${MINE}/contract`, bearer(TOKEN))
    const fresh = handedEvaluation(there, MINE)
    const path = `/svc/scenarios/${MINE}/evaluation/v1/messages`
    expect(fresh.apiKey).toMatch(/^[0-9a-f]{64}$/)
    expect((await there.post(path, {}, bearer(old.apiKey))).status).toBe(401)
    expect((await there.post(path, {}, bearer(fresh.apiKey))).status).toBe(200)
  })
})
