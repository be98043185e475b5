/** A provider that lies, hangs or fails: nobody is signed in, tokens go on, and what is held of its answers is bounded. */
import { createHash, generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { JsonObject } from '../../src/contract/index.ts'
import { bearer } from '../spec/support/helpers.ts'
import { sharedFolder } from '../support/folder.ts'
import { closeServer, listenOnLoopback } from '../support/listen.ts'
import { world, type World } from '../support/world.ts'
import { TestBrowser } from './support/browser.ts'
import { installedIn, publicPlace, signInSettings, TOKEN, type PublicPlace } from './support/world.ts'

const [OWN, OTHERS] = [generateKeyPairSync('rsa', { modulusLength: 2048 }), generateKeyPairSync('rsa', { modulusLength: 2048 })]
const CLIENT = { clientId: 'svc', clientSecret: 'secret-of-the-client' }
const MIB = 1024 * 1024

type Answering = (response: ServerResponse) => void
const folder = sharedFolder()
const server = createServer()
let [issuer, nonce] = ['', '']
let place: PublicPlace
let here: World
/** What this test has the provider answer with; everything else is right. */
let lies: {
  metadata?: JsonObject
  idToken?: (claims: JsonObject) => string
  token?: Answering
  discovery?: Answering
  userinfo?: JsonObject
} = {}

const base64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
function signed(claims: JsonObject, header: JsonObject = { alg: 'RS256', kid: 'k' }, key: KeyObject = OWN.privateKey): string {
  const text = `${base64(header)}.${base64(claims)}`
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`
}
const json = (response: ServerResponse, value: object): void =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))

function answerAs(path: string, response: ServerResponse): void {
  const now = Math.floor(Date.now() / 1000)
  if (path.startsWith('/.well-known/')) {
    if (lies.discovery !== undefined) return lies.discovery(response)
    const at = (way: string): string => `${issuer}/${way}`
    return json(response, {
      issuer,
      authorization_endpoint: at('authorize'),
      token_endpoint: at('token'),
      jwks_uri: at('keys'),
      userinfo_endpoint: at('userinfo'),
      id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
      ...lies.metadata,
    })
  }
  if (path.startsWith('/keys'))
    return json(response, { keys: [{ ...OWN.publicKey.export({ format: 'jwk' }), kid: 'k', alg: 'RS256', use: 'sig' }] })
  if (path.startsWith('/userinfo')) return json(response, lies.userinfo ?? { sub: 'eve', groups: ['admins'] })
  if (lies.token !== undefined) return lies.token(response)
  const claims = { iss: issuer, aud: CLIENT.clientId, sub: 'eve', iat: now, exp: now + 300, nonce, groups: ['admins'] }
  return json(response, { access_token: 'a', token_type: 'Bearer', id_token: (lies.idToken ?? signed)(claims) })
}

beforeAll(async () => {
  vi.stubEnv(...installedIn(folder))
  server.on('request', (request, response) => answerAs(request.url ?? '', response))
  issuer = `http://127.0.0.1:${await listenOnLoopback(server)}`
  place = await publicPlace()
  here = await world({ settings: signInSettings(place, { issuer, ...CLIENT }) })
})
afterAll(async () => {
  await here.close()
  await closeServer(server)
  vi.unstubAllEnvs()
})
beforeEach(() => {
  lies = {}
})

/** The status of the callback, and whether there is a cookie after it. */
async function signIn(): Promise<readonly [status: number, hasCookie: boolean, text: string]> {
  const browser = new TestBrowser()
  const started = await browser.open(`${place.url}/svc/sign-in/start`)
  if (started.status !== 303) return [started.status, false, started.text]
  const asked = new URL(String(started.headers.location)).searchParams
  nonce = asked.get('nonce') ?? ''
  const back = await browser.open(`${place.callback}?${new URLSearchParams({ code: 'c', state: asked.get('state') ?? '' }).toString()}`)
  return [back.status, browser.cookie(place.url, 'svc-sign-in') !== undefined, back.text]
}

it('what tells the truth is let in, so the others are refused for their lie', async () => {
  expect((await signIn()).slice(0, 2)).toEqual([303, true])
})

const without = (claims: JsonObject, left: string): JsonObject =>
  Object.fromEntries(Object.entries(claims).filter(([name]) => name !== left))
const seconds = (claims: JsonObject, name: string): number => Number(claims[name])

const unsigned = (claims: JsonObject): string => `${base64({ alg: 'none' })}.${base64(claims)}.`
const byMac = (claims: JsonObject): string => {
  const text = `${base64({ alg: 'HS256' })}.${base64(claims)}`
  return `${text}.${createHash('sha256').update(text).digest('base64url')}`
}

describe('an id token', () => {
  it.each<readonly [what: string, idToken: (claims: JsonObject) => string]>([
    ['without a signature, which the metadata allow', unsigned],
    ['of the algorithm none with a signature', (claims) => signed(claims, { alg: 'none' })],
    ['signed with a secret', byMac],
    ['signed by another key', (claims) => signed(claims, { alg: 'RS256', kid: 'k' }, OTHERS.privateKey)],
    [
      'that brings its own key',
      (claims) =>
        signed(
          claims,
          { alg: 'RS256', jwk: { kty: 'RSA', n: OTHERS.publicKey.export({ format: 'jwk' }).n ?? '', e: 'AQAB' } },
          OTHERS.privateKey,
        ),
    ],
    ['changed after it was signed', (claims) => signed(claims).replace(/\.[^.]+\./, `.${base64({ ...claims, sub: 'admin' })}.`)],
    ['of another audience', (claims) => signed({ ...claims, aud: 'another' })],
    ['of several audiences, issued to another', (claims) => signed({ ...claims, aud: ['svc', 'another'], azp: 'another' })],
    ['of another issuer', (claims) => signed({ ...claims, iss: 'https://login.example.com' })],
    ['without a nonce', (claims) => signed(without(claims, 'nonce'))],
    ['of another nonce', (claims) => signed({ ...claims, nonce: 'x'.repeat(43) })],
    ['that expired', (claims) => signed({ ...claims, exp: seconds(claims, 'iat') - 300 })],
    ['that is not good yet', (claims) => signed({ ...claims, nbf: seconds(claims, 'iat') + 3600 })],
    ['without an end', (claims) => signed(without(claims, 'exp'))],
    ['without a subject', (claims) => signed(without(claims, 'sub'))],
    ['of a subject with a line break', (claims) => signed({ ...claims, sub: 'eve\r\nset-cookie: a=b' })],
    ['that is no token', () => 'nothing'],
  ])('%s signs nobody in', async (_, idToken) => {
    lies = { idToken }
    expect((await signIn()).slice(0, 2)).toEqual([401, false])
  })

  it('of a clock that is off by less than a minute is taken', async () => {
    lies = { idToken: (claims) => signed({ ...claims, iat: seconds(claims, 'iat') + 40, exp: seconds(claims, 'iat') - 20 }) }
    expect((await signIn()).slice(0, 2)).toEqual([303, true])
  })

  it('without groups has them looked up for its own subject alone', async () => {
    lies = { idToken: (claims) => signed(without(claims, 'groups')) }
    expect((await signIn()).slice(0, 2)).toEqual([303, true])
    lies = { ...lies, userinfo: { sub: 'another', groups: ['admins'] } }
    expect((await signIn()).slice(0, 2)).toEqual([401, false])
  })
})

describe('a token endpoint', () => {
  it.each<readonly [what: string, token: Answering, status: number]>([
    ['that fails', (response) => void response.writeHead(500).end('a stack trace of theirs'), 503],
    [
      'that refuses',
      (response) => void response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}'),
      401,
    ],
    ['that answers no JSON', (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>hello</h1>'), 401],
    ['that leads elsewhere', (response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(), 401],
    ['that breaks off', (response) => void response.destroy(), 503],
    [
      'that answers more than a MiB',
      (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(`"${'x'.repeat(2 * MIB)}"`),
      503,
    ],
    ['that gives no id token', (response) => json(response, { access_token: 'a', token_type: 'Bearer' }), 401],
  ])('%s signs nobody in, and none of its words are shown', async (_, token, status) => {
    lies = { token }
    const [answered, hasCookie, text] = await signIn()
    expect([answered, hasCookie]).toEqual([status, false])
    expect(text).not.toMatch(/stack trace|hello|xxxx/)
    expect((await here.get('/svc/scenarios', bearer(TOKEN))).status).toBe(200)
  })
})

it('a provider that hangs is given up, in its head and in its body', async () => {
  for (const begin of [false, true]) {
    const timer = new AbortController()
    lies = {
      token(response) {
        if (begin) response.writeHead(200, { 'content-type': 'application/json' }).write('{')
        setImmediate(() => timer.abort(new DOMException('over', 'TimeoutError')))
      },
    }
    const spy = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      expect(ms).toBeLessThanOrEqual(30_000)
      return timer.signal
    })
    const [status, hasCookie, text] = await signIn().finally(() => spy.mockRestore())
    expect([status, hasCookie]).toEqual([503, false])
    expect(text).toContain('no whole answer within 10 s')
  }
})

it('the log says why a sign-in failed, without words of the provider', async () => {
  lies = { idToken: (claims) => signed({ ...claims, aud: 'another' }) }
  await signIn()
  expect(here.log.findLast(({ route }) => route === '/svc/sign-in/callback')).toMatchObject({
    code: 'sign_in_failed',
    cause: 'unexpected JWT claim value encountered',
  })
})

describe('metadata', () => {
  it.each<readonly [what: string, lie: typeof lies]>([
    ['that cannot be had', { discovery: (response) => void response.writeHead(500).end() }],
    ['that are not there', { discovery: (response) => void response.writeHead(404).end() }],
    ['that are no JSON', { discovery: (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{') }],
    [
      'without an end',
      { discovery: (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(' '.repeat(2 * MIB)) },
    ],
    ['of another issuer', { metadata: { issuer: 'https://login.example.com' } }],
    ['without an address for codes', { metadata: { token_endpoint: null } }],
    ['with an address that is none', { metadata: { jwks_uri: 'javascript:alert(1)' } }],
  ])('%s leave the service open for tokens, are told in one line, and are asked for again at the next sign-in', async (_, lie) => {
    lies = lie
    const own = await publicPlace()
    const there = await world({ settings: signInSettings(own, { issuer, ...CLIENT }) })
    try {
      await vi.waitFor(() => expect(there.log.filter(({ event }) => event === 'background_error')).toHaveLength(1))
      expect(JSON.stringify(there.log)).toMatch(/nobody can sign in with svc\.sign_in at the moment; tokens work/)
      const start = (): Promise<number> => new TestBrowser().open(`${own.url}/svc/sign-in/start`).then(({ status }) => status)
      expect(await start()).toBe(503)
      expect((await there.get('/svc/scenarios', bearer(TOKEN))).status).toBe(200)
      lies = {}
      expect(await start()).toBe(303)
    } finally {
      await there.close()
    }
  })
})
