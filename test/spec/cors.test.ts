/** Browser consoles: which origins may send requests, and which headers a browser sees. */
import { describe, expect, it } from 'vitest'
import { ownWorld, sharedWorld, world, type Answer } from '../support/world.ts'
import { bearer, expectRefusal, named, scenarioNames } from './support/helpers.ts'

const LISTED = 'https://console.example.com'
const ALSO_LISTED = 'http://localhost:3000'
const TOKEN = 'token-of-the-console'

const here = sharedWorld({ settings: { 'svc.token': TOKEN, 'svc.console-origins': `[${LISTED}, ${ALSO_LISTED}]` } })
const plain = sharedWorld()

const corsHeaders = ({ headers }: Answer): readonly string[] => Object.keys(headers).filter((name) => name.startsWith('access-control-'))
const preflight = (origin: string, method = 'POST', headers = 'authorization, content-type, x-svc-scenario'): Promise<Answer> =>
  here.ask('OPTIONS', '/svc/report', {
    headers: { origin, 'access-control-request-method': method, 'access-control-request-headers': headers },
  })

it('without console origins no answer carries CORS headers, whatever the origin [cors.off]', async () => {
  const answer = await plain.get('/svc/status', { origin: LISTED })
  expect(answer.status).toBe(200)
  expect(corsHeaders(answer)).toEqual([])
  expect(
    corsHeaders(await plain.ask('OPTIONS', '/svc/report', { headers: { origin: LISTED, 'access-control-request-method': 'POST' } })),
  ).toEqual([])
})

describe('a web page of another site', () => {
  const foreign = { 'sec-fetch-site': 'cross-site', origin: 'https://elsewhere.example.com' }

  it('may not act on a service that has no token', async () => {
    expectRefusal(await plain.post('/svc/scenarios', { name: 'planted' }, foreign), 401, 'unauthorized')
    expect(await scenarioNames(plain)).not.toContain('planted')
    expect((await plain.get('/svc/scenarios', foreign)).status).toBe(200)
  })

  it.each([
    ['on another port of this machine', { 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:1' }],
    ['on another port, to a browser that does not say where from', { origin: 'http://127.0.0.1:1' }],
    ['under another spelling of this machine', { origin: 'http://localhost' }],
    ['of another site, to a browser that does not say where from', { origin: 'https://elsewhere.example.com' }],
    ['in a frame without an origin', { origin: 'null' }],
    ['that sends no origin', { 'sec-fetch-site': 'same-site' }],
    ['that claims to be ours and has another origin', { 'sec-fetch-site': 'same-origin', origin: 'http://127.0.0.1:1' }],
  ])('may not act either: %s', async (_where, headers) => {
    const sent = { headers: { ...headers, ...named('planted') }, body: { name: 'planted' } }
    for (const route of ['POST /svc/scenarios', 'POST /v1/chat/completions', 'DELETE /svc/scenarios/own']) {
      const [method = '', path = ''] = route.split(' ')
      expectRefusal(await plain.ask(method, path, sent), 401, 'unauthorized')
    }
    expect((await plain.get('/svc/harness/install?adapter=pi', headers)).status).toBeGreaterThanOrEqual(400)
    expect(await scenarioNames(plain)).not.toContain('planted')
  })

  it('may act where its origin is listed', async () => {
    const listing = await ownWorld({ settings: { 'svc.console-origins': `[${LISTED}]` } })
    expect((await listing.post('/svc/scenarios', { name: 'a' }, { ...foreign, origin: LISTED })).status).toBe(201)
    expectRefusal(await listing.post('/svc/scenarios', { name: 'b' }, foreign), 401, 'unauthorized')
  })

  it('is judged by its token alone where there is one', async () => {
    const guarded = await ownWorld({ settings: { 'svc.token': TOKEN } })
    expect((await guarded.post('/svc/scenarios', { name: 'asked' }, { ...foreign, ...bearer(TOKEN) })).status).toBe(201)
  })
})

describe('a page of the service itself', () => {
  const own = { 'sec-fetch-site': 'same-origin' }

  it('may ask and act without being listed', async () => {
    expect((await here.get('/svc/scenarios', { ...own, ...bearer(TOKEN) })).status).toBe(200)
    const origin = here.address
    expect((await here.post('/svc/scenarios', { name: 'own' }, { ...own, origin, ...bearer(TOKEN) })).status).toBe(201)
    expect((await plain.get('/svc/scenarios', own)).status).toBe(200)
  })

  it.each(['127.0.0.1:8900', 'localhost:8900', '[::1]:8900'])('may act where it was opened under %s', async (host) => {
    for (const site of [{}, own])
      expect((await plain.post('/svc/scenarios', { name: 'own' }, { host, origin: `http://${host}`, ...site })).status).toBeLessThan(300)
  })

  it('may act behind a proxy that says which host was asked, or under the served address', async () => {
    const origin = 'https://svc.example.com'
    const behind = { origin, ...own, 'x-forwarded-host': 'SVC.example.com, inner', 'x-forwarded-proto': 'https' }
    expect((await plain.post('/svc/scenarios', { name: 'own' }, behind)).status).toBeLessThan(300)
    expectRefusal(await plain.post('/svc/scenarios', { name: 'own' }, { origin, ...own }), 401, 'unauthorized')
    const served = await ownWorld({ settings: { 'svc.served_url': origin } })
    expect((await served.post('/svc/scenarios', { name: 'own' }, { origin, ...own })).status).toBe(201)
  })
})

describe('a service without a token', () => {
  it.each(['elsewhere.example.com', 'localhost.example.com:8900', '127.0.0.1.example.com', 'elsewhere.example.com.', 'a.b:80'])(
    'answers no request under %s, a name whose owner could have given it our address',
    async (host) => {
      // Over plain HTTP browsers do not say where such a request comes from.
      for (const headers of [{ host }, { host, 'sec-fetch-site': 'same-origin' }, { host, origin: `http://${host}` }])
        expectRefusal(await plain.get('/svc/scenarios', headers), 401, 'unauthorized')
    },
  )

  it.each(['localhost:8900', 'svc.localhost', '127.0.0.1', '[::1]:8900', '0.0.0.0:8900', 'svc', 'host.docker.internal:8900'])(
    'answers under %s, which cannot be bought',
    async (host) => {
      expect((await plain.get('/svc/scenarios', { host, 'sec-fetch-site': 'same-origin' })).status).toBe(200)
      expect((await plain.post('/svc/scenarios', { name: 'own' }, { host, origin: `http://${host}` })).status).toBeLessThan(300)
    },
  )

  it('answers under the name of a listed origin', async () => {
    const listing = await ownWorld({ settings: { 'svc.console-origins': `[${LISTED}]` } })
    const { host } = new URL(LISTED)
    expect((await listing.get('/svc/scenarios', { host })).status).toBe(200)
    expectRefusal(await listing.get('/svc/scenarios', { host: `${host}:8443` }), 401, 'unauthorized')
  })

  it.each(['0.0.0.0:8900', '[::ffff:7f00:1]:8900', 'svc'])(
    'lets no page of another site act through %s, to which browsers do not say that they come from elsewhere',
    async (host) => {
      for (const origin of ['http://elsewhere.example.com', 'null'])
        expectRefusal(await plain.post('/svc/scenarios', { name: 'planted' }, { host, origin }), 401, 'unauthorized')
      expect(await scenarioNames(plain)).not.toContain('planted')
    },
  )
})

describe('a preflight', () => {
  it.each([LISTED, ALSO_LISTED])('from %s needs no token and names what may be sent [cors.preflight]', async (origin) => {
    const answer = await preflight(origin)
    expect(answer.status).toBe(204)
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'GET, POST, DELETE',
      'access-control-allow-headers': 'authorization, content-type, x-svc-scenario',
      vary: 'Origin',
    })
  })

  it('allows no cookies [cors.no-cookies]', async () => {
    expect((await preflight(LISTED)).headers['access-control-allow-credentials']).toBeUndefined()
    expect((await here.get('/healthz', { origin: LISTED })).headers['access-control-allow-credentials']).toBeUndefined()
  })

  it.each([
    ['PUT', 'authorization'],
    ['POST', 'authorization, x-svc-tag-a'],
    ['POST', 'cookie'],
  ])('for %s with %s is refused without CORS headers [cors.bad-preflight]', async (method, headers) => {
    const answer = await preflight(LISTED, method, headers)
    expectRefusal(answer, 401, 'unauthorized')
    expect(corsHeaders(answer)).toEqual([])
  })
})

it.each(['https://evil.example.com', `${LISTED}:8443`, 'http://console.example.com', 'null', `${LISTED}/`, LISTED.toUpperCase()])(
  'an unlisted origin is refused before any route runs, without CORS headers: %s [cors.unlisted]',
  async (origin) => {
    for (const answer of [
      await here.post('/svc/report', {}, { origin, ...bearer(TOKEN), ...named('never') }),
      await here.get('/healthz', { origin }),
      await preflight(origin),
    ]) {
      expectRefusal(answer, 401, 'unauthorized')
      expect(corsHeaders(answer)).toEqual([])
    }
    expect(await scenarioNames(here, bearer(TOKEN))).not.toContain('never')
  },
)

describe('a request from a listed origin', () => {
  it('keeps bearer authentication [cors.actual]', async () => {
    expect((await here.get('/svc/status', { origin: LISTED })).status).toBe(401)
    expect((await here.get('/svc/status', { origin: LISTED, ...bearer(TOKEN) })).status).toBe(200)
  })

  it('sees its answers, errors and streams, with three headers exposed [cors.exposed] [decisions.artifact-version]', async () => {
    const headers = { origin: LISTED, ...bearer(TOKEN), ...named('browser') }
    const answers = [
      await here.get('/svc/status', headers),
      await here.get('/svc/status', { origin: LISTED }),
      await here.get('/nothing', headers),
      await here.post('/svc/report', '{', headers),
      await here.post('/v1/chat/completions', { model: 'm', messages: [] }, headers),
      await here.post('/v1/chat/completions', { model: 'm', messages: [], stream: true }, headers),
      await here.post('/v1/chat/completions', '{', headers),
    ]
    for (const answer of answers) {
      expect(answer.headers).toMatchObject({
        'access-control-allow-origin': LISTED,
        'access-control-expose-headers': 'x-svc-agent-record-id, x-svc-release-id, x-svc-artifact-version',
      })
      expect(answer.headers['x-svc-artifact-version']).toBeUndefined()
    }
  })
})

it('a client without an origin sees no change [cors.no-origin]', async () => {
  const answer = await here.get('/svc/status', bearer(TOKEN))
  expect(answer.status).toBe(200)
  expect(corsHeaders(answer)).toEqual([])
})

const ORIGIN = 'https://a.example.com'
it.each([`${ORIGIN}/`, `${ORIGIN}/path`, 'https://user:pass@a.example.com', '*', 'https://*.example.com', 'a.example.com'])(
  'the list of origins takes explicit origins alone: %s is refused at the start [cors.origins]',
  async (origin) => {
    await expect(world({ settings: { 'svc.console_origins': `["${origin}"]` } })).rejects.toThrow(/svc\.console_origins/)
  },
)
