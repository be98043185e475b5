/** People sign in with a real provider: to it and back, what they may do, who the audit says they are, and out again. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { sharedFolder } from '../support/folder.ts'
import { world, type World } from '../support/world.ts'
import { bearer, errorOf, expectRefusal, named, OPEN_RECIPE, rowsOf, textAt } from '../spec/support/helpers.ts'
import { TestBrowser } from './support/browser.ts'
import { startProvider, type TestAccount, type TestProvider } from './support/provider.ts'
import { installedIn, publicPlace, signInSettings, TOKEN, type PublicPlace } from './support/world.ts'

const ADMIN = bearer(TOKEN)
const ADA: TestAccount = { sub: 'ada-1', email: 'ada@example.com', groups: ['staff', 'admins'] }
const RUTH: TestAccount = { sub: 'ruth-2', email: 'ruth@example.com', groups: ['reviewers'] }

const folder = sharedFolder()
let place: PublicPlace
let provider: TestProvider
let here: World

beforeAll(async () => {
  vi.stubEnv(...installedIn(folder))
  place = await publicPlace()
  provider = await startProvider(place.callback)
  here = await world({ settings: { ...signInSettings(place, provider), recipe: OPEN_RECIPE }, backend: 'sqlite' })
  for (const name of ['own', 'other']) await here.post('/svc/scenarios', { name }, ADMIN)
})
afterAll(async () => {
  await here.close()
  await provider.close()
  vi.unstubAllEnvs()
})

const startUrl = (returnTo?: string): string =>
  `${place.url}/svc/sign-in/start${returnTo === undefined ? '' : `?${new URLSearchParams({ return_to: returnTo }).toString()}`}`

/** To the provider and back, as far as the callback; its address is answered, and not opened. */
async function upToCallback(browser: TestBrowser, account: TestAccount | null, returnTo?: string): Promise<string> {
  provider.account = account
  const { url } = await browser.follow(startUrl(returnTo), (at) => at.startsWith(place.callback))
  expect(url).toContain(place.callback)
  return url
}

async function signedIn(account: TestAccount, browser = new TestBrowser()): Promise<TestBrowser> {
  const answer = await browser.open(await upToCallback(browser, account))
  expect(answer.status).toBe(303)
  return browser
}

const at = (path: string): string => place.url + path

describe('signing in [access.sign-in]', () => {
  it('sends the browser to the provider with PKCE, state and nonce, and back to where it was, with a cookie that no script reads', async () => {
    const browser = new TestBrowser()
    provider.account = ADA
    const started = await browser.open(startUrl('/console#/scenarios'))
    expect(started.status).toBe(303)
    const asked = new URL(String(started.headers.location))
    expect(asked.origin).toBe(provider.issuer)
    const { state, nonce, code_challenge, ...rest } = Object.fromEntries(asked.searchParams)
    expect(rest).toEqual({
      client_id: provider.clientId,
      code_challenge_method: 'S256',
      redirect_uri: place.callback,
      response_type: 'code',
      scope: 'openid email groups',
    })
    for (const word of [state, nonce, code_challenge]) expect(word).toMatch(/^[\w-]{43}$/)
    const { url } = await browser.follow(asked.href, (next) => next.startsWith(place.callback))
    const back = await browser.open(url)
    expect([back.status, back.headers.location]).toEqual([303, at('/console#/scenarios')])
    const cookies = (back.headers['set-cookie'] ?? []).toSorted()
    expect(cookies).toEqual([
      'svc-sign-in-attempt=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax',
      expect.stringMatching(/^svc-sign-in=svc_token_[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax$/),
    ])
    const secret = browser.cookie(place.url, 'svc-sign-in') ?? ''
    expect((await browser.act('GET', at('/svc/caller'))).json).toMatchObject({
      kind: 'person',
      name: 'ada@example.com (ada-1)',
      role: 'admin',
      scenarios: null,
    })
    expect(JSON.stringify(here.log)).not.toContain(secret)
    expect((await here.get('/svc/tokens', ADMIN)).text).not.toContain(secret)
  })

  it('gives the role and the scenarios of the group, and no more', async () => {
    const browser = await signedIn(RUTH)
    expect(rowsOf(await browser.act('GET', at('/svc/scenarios')), 'scenarios').map(({ scenario }) => scenario)).toEqual(['own'])
    expect((await browser.act('GET', at('/svc/scenarios/own/releases'))).status).toBe(200)
    const other = await browser.act('GET', at('/svc/scenarios/other/releases'))
    expectRefusal(other, 401, 'other_scenario', /^ruth@example\.com \(ruth-2\) is for other scenarios/)
    const forbidden = await browser.act('GET', at('/svc/configuration'))
    expectRefusal(forbidden, 401, 'role_forbids', /^ruth@example\.com \(ruth-2\) has the role review/)
    expectRefusal(await browser.act('DELETE', at('/svc/scenarios/own')), 401, 'role_forbids')
  })

  it('names the person in the audit and in the log', async () => {
    const browser = await signedIn(ADA)
    expect((await browser.act('DELETE', at('/svc/scenarios/none'))).status).toBe(404)
    await here.post('/svc/scenarios', { name: 'made-by-ada' }, ADMIN)
    expect((await browser.act('DELETE', at('/svc/scenarios/made-by-ada'))).status).toBe(200)
    const rows = rowsOf(await here.get('/svc/audit?order=newest&limit=50', ADMIN), 'audit')
    expect(rows.find(({ action, scenario }) => action === 'archiveScenario' && scenario === 'made-by-ada')).toMatchObject({
      by: 'ada@example.com (ada-1)',
      role: 'admin',
      from: '127.0.0.1',
    })
    expect(rows.find(({ action }) => action === 'signIn')).toMatchObject({ by: 'ada@example.com (ada-1)', role: 'admin' })
    expect(here.log.some(({ by, route }) => by === 'ada@example.com (ada-1)' && route === '/svc/scenarios/:scenario')).toBe(true)
  })

  it('opens the pages without a key, and links made for a person carry none', async () => {
    const browser = await signedIn(RUTH)
    const page = await browser.open(at('/svc/harness/releases/0/page?scenario=own'))
    // The recipe of this scenario serves no files, which is said to those who may see it.
    expect(page.status).toBe(404)
    const closed = await new TestBrowser().open(at('/svc/harness/releases/0/page?scenario=own&key=stale'))
    expect(closed.status).toBe(401)
    const back = new URLSearchParams({ return_to: '/svc/harness/releases/0/page?scenario=own' }).toString()
    expect(closed.text).toContain(`href="${at('/svc/sign-in/start')}?${back}"`)
    expect(closed.text).toContain('Sign in with Example')
  })

  it('leaves tokens as they are, also beside a cookie', async () => {
    const browser = await signedIn(RUTH)
    expect((await here.get('/svc/configuration', ADMIN)).status).toBe(200)
    expect((await here.get('/svc/configuration', { ...ADMIN, ...browser.cookies(place.url) })).status).toBe(200)
    expect((await here.get('/svc/scenarios', { ...bearer('wrong'), ...browser.cookies(place.url) })).status).toBe(401)
    const chat = await here.post('/v1/chat/completions', { model: 'm', messages: [] }, { ...ADMIN, ...named('own') })
    expect(chat.status).toBe(200)
  })

  it('is offered to everybody, and says where it begins', async () => {
    expect((await here.get('/svc/sign-in')).json).toEqual({ sign_in: { name: 'Example', start_url: at('/svc/sign-in/start') } })
  })

  it('survives a restart of the service', async () => {
    const browser = await signedIn(ADA)
    await here.restart()
    expect((await browser.act('GET', at('/svc/caller'))).json).toMatchObject({ kind: 'person' })
  })
})

describe('a person of no group', () => {
  it.each([
    ['of other groups', ['staff', 'admin', 'Admins', 'admins ', '__proto__', 'constructor']],
    ['of none', []],
    ['whose claim is one text of several names', 'staff admins'],
    ['whose claim is an object', { admins: true, 0: 'admins', length: 1 }],
    ['whose claim holds lists and numbers', [['admins'], { name: 'admins' }, 1, null]],
    ['without the claim', undefined],
  ])('%s is refused in plain words, and gets no cookie', async (_, groups) => {
    const browser = new TestBrowser()
    const answer = await browser.open(await upToCallback(browser, { sub: 'eve-3', email: 'eve@example.com', groups }))
    expect(answer.status).toBe(401)
    expect(answer.text).toContain('eve@example.com (eve-3) belongs to no group that may use this service')
    expect(answer.text).toContain('Sign in with Example')
    expect(browser.cookie(place.url, 'svc-sign-in')).toBeUndefined()
    expect(here.log.findLast(({ route }) => route === '/svc/sign-in/callback')).toMatchObject({ code: 'no_group', status: 401 })
  })

  it('one name is a group, and of a huge list the listed ones count', async () => {
    const one = await signedIn({ sub: 'one', groups: 'callers' })
    expect((await one.act('GET', at('/svc/caller'))).json).toMatchObject({ name: 'subject one', role: 'serve' })
    const many = await signedIn({
      sub: 'many',
      groups: [...Array.from({ length: 20_000 }, (_, each) => `group-${each}`), 'callers', 'reviewers'],
    })
    expect((await many.act('GET', at('/svc/caller'))).json).toMatchObject({ role: 'review', scenarios: ['own'] })
  })
})

describe('signing out', () => {
  it('ends the sign-in for everybody who copied the cookie', async () => {
    const browser = await signedIn(ADA)
    const copied = browser.cookies(place.url)
    const out = await browser.act('DELETE', at('/svc/sign-in'))
    expect(out.status).toBe(204)
    expect(browser.cookie(place.url, 'svc-sign-in')).toBeUndefined()
    expectRefusal(await here.get('/svc/scenarios', copied), 401, 'token_expired', /this sign-in is over; sign in again/)
    const rows = rowsOf(await here.get('/svc/audit?order=newest&limit=1', ADMIN), 'audit')
    expect(rows).toMatchObject([{ action: 'signOut', by: 'ada@example.com (ada-1)' }])
  })

  it('is nothing for a token', async () => {
    expectRefusal(await here.ask('DELETE', '/svc/sign-in', { headers: ADMIN }), 409, 'no_sign_in')
    expect((await here.get('/svc/caller', ADMIN)).json).toMatchObject({ kind: 'token', name: 'svc.token', role: 'admin' })
  })

  it('an administrator ends it by its name, and cannot rotate it', async () => {
    const browser = await signedIn(RUTH)
    const mine = rowsOf(await here.get('/svc/tokens', ADMIN), 'tokens').filter(({ created_by: by }) => by === 'ruth@example.com (ruth-2)')
    const [newest] = mine.toSorted((one, two) => Number(two['created_at']) - Number(one['created_at']))
    const name = textAt(newest ?? {}, 'name')
    expect(name).toMatch(/^sign-in:[0-9a-f]{16}$/)
    expectRefusal(await here.post(`/svc/tokens/${name}/rotate`, {}, ADMIN), 409, 'sign_in_token')
    expect((await here.ask('DELETE', `/svc/tokens/${encodeURIComponent(name)}`, { headers: ADMIN })).status).toBe(200)
    expect((await browser.act('GET', at('/svc/caller'))).status).toBe(401)
  })
})

describe('attacks on the way', () => {
  it('a callback in another browser, which began nothing, is refused', async () => {
    const url = await upToCallback(new TestBrowser(), ADA)
    const victim = new TestBrowser()
    const answer = await victim.open(url)
    expect(answer.status).toBe(401)
    expect(answer.text).toContain('this browser began no sign-in')
    expect(victim.cookie(place.url, 'svc-sign-in')).toBeUndefined()
  })

  it('a callback in another browser, which began its own, is refused', async () => {
    const [url, victim] = [await upToCallback(new TestBrowser(), ADA), new TestBrowser()]
    await upToCallback(victim, RUTH)
    expect((await victim.open(url)).status).toBe(401)
    expect(victim.cookie(place.url, 'svc-sign-in')).toBeUndefined()
  })

  it('a wrong, an empty or a missing state is refused, and the attempt is used up', async () => {
    for (const change of [
      (query: URLSearchParams) => query.set('state', 'x'.repeat(43)),
      (query: URLSearchParams) => query.set('state', ''),
      (query: URLSearchParams) => query.delete('state'),
      (query: URLSearchParams) => query.append('state', 'x'.repeat(43)),
    ]) {
      const browser = new TestBrowser()
      const url = new URL(await upToCallback(browser, ADA))
      change(url.searchParams)
      expect((await browser.open(url.href)).status).toBe(401)
      expect(browser.cookie(place.url, 'svc-sign-in-attempt')).toBeUndefined()
      expect((await browser.open(url.href)).text).toContain('this browser began no sign-in')
    }
  })

  it('a code that was used is refused, also with the cookie of its attempt', async () => {
    const browser = new TestBrowser()
    const url = await upToCallback(browser, ADA)
    const attempt = browser.cookie(place.url, 'svc-sign-in-attempt') ?? ''
    expect((await browser.open(url)).status).toBe(303)
    const thief = new TestBrowser()
    thief.put(place.url, 'svc-sign-in-attempt', attempt)
    const again = await thief.open(url)
    expect(again.status).toBe(401)
    expect(again.text).toContain('invalid_grant')
  })

  it('a nonce or a verifier of another attempt is refused', async () => {
    for (const field of ['nonce', 'verifier'] as const) {
      const browser = new TestBrowser()
      const url = await upToCallback(browser, ADA)
      const kept: Record<string, string> = JSON.parse(
        Buffer.from(browser.cookie(place.url, 'svc-sign-in-attempt') ?? '', 'base64url').toString(),
      )
      kept[field] = 'y'.repeat(43)
      browser.put(place.url, 'svc-sign-in-attempt', Buffer.from(JSON.stringify(kept)).toString('base64url'))
      expect((await browser.open(url)).status, field).toBe(401)
      expect(browser.cookie(place.url, 'svc-sign-in')).toBeUndefined()
    }
  })

  it('an issuer that is another in the answer is refused', async () => {
    const browser = new TestBrowser()
    const url = new URL(await upToCallback(browser, ADA))
    expect(url.searchParams.get('iss')).toBe(provider.issuer)
    url.searchParams.set('iss', 'http://127.0.0.1:1')
    expect((await browser.open(url.href)).status).toBe(401)
  })

  it('what the provider says instead of a code is told by its word alone', async () => {
    const browser = new TestBrowser()
    const url = new URL(await upToCallback(browser, null))
    url.searchParams.set('error_description', '<script>alert(1)</script>')
    const answer = await browser.open(url.href)
    expect(answer.status).toBe(401)
    expect(answer.text).toContain('not accepted (access_denied); sign in again')
    expect(answer.text).not.toContain('alert')
  })

  it('what is no attempt in the cookie of one is refused', async () => {
    const browser = new TestBrowser()
    const url = await upToCallback(browser, ADA)
    for (const text of ['', 'x', '{}', '[]', 'null', '{"state":1,"nonce":2,"verifier":3}', 'a'.repeat(3000)]) {
      browser.put(place.url, 'svc-sign-in-attempt', Buffer.from(text).toString('base64url'))
      expect((await browser.open(url)).text, text).toContain('this browser began no sign-in')
    }
  })

  it.each(['//evil.example', '/\\evil.example', '/console\r\nset-cookie: a=b'])(
    'a person who is to return to %j returns to the console',
    async (wanted) => {
      const browser = new TestBrowser()
      const answer = await browser.open(await upToCallback(browser, RUTH, wanted))
      expect(answer.headers.location).toBe(at('/console'))
    },
  )

  it('an address that was changed in the cookie of the attempt leads to the console', async () => {
    const browser = new TestBrowser()
    const url = await upToCallback(browser, RUTH)
    const kept: object = JSON.parse(Buffer.from(browser.cookie(place.url, 'svc-sign-in-attempt') ?? '', 'base64url').toString())
    browser.put(
      place.url,
      'svc-sign-in-attempt',
      Buffer.from(JSON.stringify({ ...kept, returnTo: '//evil.example' })).toString('base64url'),
    )
    expect((await browser.open(url)).headers.location).toBe(at('/console'))
  })
})

describe('attacks with the cookie [access.cookie]', () => {
  let browser: TestBrowser
  beforeAll(async () => {
    browser = await signedIn(ADA)
  })

  it('one that was changed, cut, or holds another token opens nothing', async () => {
    const secret = browser.cookie(place.url, 'svc-sign-in') ?? ''
    for (const wrong of [`${secret}x`, secret.slice(0, -1), secret.toUpperCase(), '', TOKEN, 'sign-in:0000000000000000', '"', '%00', '='])
      expect((await here.get('/svc/scenarios', { cookie: `svc-sign-in=${wrong}` })).status, wrong).toBe(401)
    expect((await here.get('/svc/scenarios', { cookie: `a=b; svc-sign-in=${secret}; c` })).status).toBe(200)
  })

  it('its secret is no token', async () => {
    const secret = browser.cookie(place.url, 'svc-sign-in') ?? ''
    expect((await here.get('/svc/scenarios', bearer(secret))).status).toBe(401)
    expect((await here.get('/svc/scenarios', { 'x-api-key': secret })).status).toBe(401)
  })

  const CROSS: readonly (readonly [what: string, headers: Readonly<Record<string, string>>])[] = [
    ['a page of another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
    ['a page of a neighbouring host', { origin: 'http://other.127.0.0.1', 'sec-fetch-site': 'same-site' }],
    ['a page of another port', { origin: 'http://127.0.0.1:1', 'sec-fetch-site': 'same-site' }],
    ['a page that hides its origin', { origin: 'null', 'sec-fetch-site': 'cross-site' }],
    ['a page of an old browser', { origin: 'https://evil.example' }],
    ['a form that was sent again', { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }],
    ['a form of another site', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }],
    ['nobody who says where they are', {}],
  ]
  it.each(CROSS)('%s changes nothing with it', async (_, headers) => {
    const cookies = browser.cookies(place.url)
    for (const [method, path] of [
      ['POST', '/svc/tokens'],
      ['DELETE', '/svc/scenarios/own'],
      ['DELETE', '/svc/sign-in'],
      ['POST', '/v1/chat/completions'],
    ] as const) {
      const answer = await here.ask(method, path, { headers: { ...cookies, ...headers, ...named('own') }, body: {} })
      expect([answer.status, errorOf(answer)['code']], path).toEqual([401, 'unauthorized'])
    }
  })

  it('a page of another site reads nothing with it, but a link to this one works', async () => {
    const cookies = browser.cookies(place.url)
    const cross = { ...cookies, 'sec-fetch-site': 'cross-site' }
    expect((await here.get('/svc/scenarios', { ...cross, 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'script' })).status).toBe(401)
    expect((await here.get('/svc/scenarios', { ...cross, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' })).status).toBe(401)
    expect((await here.get('/svc/scenarios', { ...cross, origin: 'https://evil.example' })).status).toBe(401)
    expect((await here.get('/svc/scenarios', { ...cross, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' })).status).toBe(200)
  })
})

it('a sign-in lasts for its hours, whatever becomes of the group, and is taken away by the next one', async () => {
  const browser = await signedIn({ sub: 'gone', email: 'gone@example.com', groups: ['admins'] })
  provider.account = { sub: 'gone', groups: [] }
  expect((await browser.act('GET', at('/svc/caller'))).status).toBe(200)
  const real = Date.now
  onTestFinished(() => void vi.restoreAllMocks())
  vi.spyOn(Date, 'now').mockImplementation(() => real() + 12 * 3600 * 1000 + 1000)
  expectRefusal(await browser.act('GET', at('/svc/caller')), 401, 'token_expired', /sign in again/)
  vi.restoreAllMocks()
})

it('a person has ten sign-ins at most: a further one ends the oldest', async () => {
  const account = { sub: 'many-browsers', groups: ['callers'] }
  const first = await signedIn(account)
  const others = []
  for (let count = 0; count < 10; count += 1) others.push(await signedIn(account))
  expect((await first.act('GET', at('/svc/caller'))).status).toBe(401)
  expect((await others[0]?.act('GET', at('/svc/caller')))?.status).toBe(200)
  const rows = rowsOf(await here.get('/svc/audit?order=newest&limit=5', ADMIN), 'audit')
  expect(rows.find(({ action }) => action === 'endSignIn')).toMatchObject({ by: null, role: null })
})
