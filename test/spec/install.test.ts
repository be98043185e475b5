/** The install route: the script, its scenario and its address, and how a slow one begins. */
import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { ownWorld, sharedWorld, type Answer } from '../support/world.ts'
import { bearer, expectRefusal, named, scenarioNames, SLOW_RECIPE, textAt } from './support/helpers.ts'
import { fresh } from './support/trainee.ts'

const INSTALL = '/svc/harness/install?adapter=pi'
const seed = JSON.stringify([{ id: 'style', name: 'rules', config: { text: "It's `here` $(now) \u{1f600}" } }])
const settings = { recipe: 'harness', 'evolution.adapter': 'pi', 'evolution.seed': seed, 'inference.upstream_model': 'm' }

/** Refusals as data: without it they are scripts too. */
const AS_JSON = { accept: 'application/json' }

/** What a script brings, read off its text. */
function installationIn({ text }: Answer): Record<string, unknown> {
  const line = /^const installation = (.*)$/m.exec(text)?.[1] ?? '{}'
  const installation: Record<string, unknown> = JSON.parse(line)
  return installation
}

describe('a script', () => {
  const here = sharedWorld({ settings, environment: { SVC_TOKEN: 'open-sesame' } })
  const get = (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
    here.get(path, { ...bearer('open-sesame'), ...AS_JSON, ...headers })
  const addressFor = async (headers: Record<string, string>): Promise<unknown> =>
    installationIn(await get(INSTALL, { ...named('mine'), ...headers }))['url']
  const created = async (name: string): Promise<string> => {
    const answer = await here.post('/svc/scenarios', { name }, bearer('open-sesame'))
    return textAt(answer.json, 'release_id')
  }

  it('is shell that every shell parses, and brings tree, binding, pin and scenario [harness.install-2] [harness.install-1]', async () => {
    const release_id = await created('mine')
    const answer = await get(INSTALL, named('mine'))
    expect(answer.headers['content-type']).toBe('text/x-shellscript; charset=utf-8')
    for (const shell of ['dash', 'bash']) execFileSync(shell, ['-n'], { input: answer.text })
    expect(installationIn(answer)).toMatchObject({
      adapter: 'pi',
      scenario: 'mine',
      release_id,
      url: here.address.replace('localhost', '127.0.0.1'),
      install: { manager: 'npm', package: '@earendil-works/pi-coding-agent' },
      requires: [],
    })
    expect(Buffer.byteLength(answer.text)).toBe(answer.text.length)
  })

  it('holds no token [harness.install-token]', async () => {
    await created('mine')
    expect((await get(INSTALL, named('mine'))).text).not.toContain('open-sesame')
  })

  it('names the address that the request reached, also behind a gateway [harness.install-address]', async () => {
    await created('mine')
    expect(await addressFor({ 'x-forwarded-host': 'svc.example.com', 'x-forwarded-proto': 'https' })).toBe('https://svc.example.com')
    expect(await addressFor({ 'x-forwarded-host': 'svc.example.com:8443, inner' })).toBe('http://svc.example.com:8443')
    expect(await addressFor({ 'x-forwarded-host': '[::1]:9' })).toBe('http://[::1]:9')
  })

  const BAD_HOSTS = [
    `evil.com'; touch /tmp/x; '`,
    '$(id)',
    'a b',
    'user:pw@host',
    'host/path',
    'host?x',
    '-host',
    'host:99999999',
    'h\u00f6st',
    '..',
  ]
  it.each(BAD_HOSTS)('a forwarded host %j is refused and quoted nowhere [harness.install-address]', async (host) => {
    await created('mine')
    const answer = await get(INSTALL, { ...named('mine'), 'x-forwarded-host': host })
    expectRefusal(answer, 400, 'bad_address')
    expect(answer.text).not.toContain(host)
    expectRefusal(await get(INSTALL, { ...named('mine'), 'x-forwarded-proto': 'javascript' }), 400, 'bad_address')
  })

  it('of a release by its id is of that one; an unknown one is 404 [harness.rule-1]', async () => {
    const release_id = await created('mine')
    expect(installationIn(await get(`${INSTALL}&release_id=${release_id}`, named('mine')))['release_id']).toBe(release_id)
    expectRefusal(await get(`${INSTALL}&release_id=none`, named('mine')), 404, 'unknown_release')
  })

  it('of an agent that the scenario is not for, or that is unknown, is 404 [harness.rule-4]', async () => {
    await created('mine')
    for (const adapter of ['claude', 'none', '$(id)', '%27'])
      expectRefusal(await get(`/svc/harness/install?adapter=${adapter}`, named('mine')), 404, 'unknown_adapter')
  })

  it('without a scenario names one, harness- and an id, of the one recipe that serves files, and asking makes none [harness.install-3]', async () => {
    const before = await scenarioNames(here, bearer('open-sesame'))
    const answer = await get(INSTALL)
    expect(installationIn(answer)).toMatchObject({
      scenario: expect.stringMatching(/^harness-[0-9a-f]{32}$/),
      recipe: 'harness',
      adapter: 'pi',
    })
    for (const shell of ['dash', 'bash']) execFileSync(shell, ['-n'], { input: answer.text })
    expect((await here.ask('HEAD', INSTALL, { headers: bearer('open-sesame') })).status).toBe(200)
    expect(await scenarioNames(here, bearer('open-sesame'))).toEqual(before)
    expectRefusal(await get(`${INSTALL}&release_id=any`), 404, 'unknown_release')
  })

  it('for an agent that no recipe serves is 404 without a scenario too, and makes none [harness.rule-4]', async () => {
    const before = await scenarioNames(here, bearer('open-sesame'))
    expectRefusal(await get('/svc/harness/install?adapter=claude'), 404, 'unknown_adapter')
    expect(await scenarioNames(here, bearer('open-sesame'))).toEqual(before)
  })

  it('for a scenario that does not exist is 404, and makes none', async () => {
    expectRefusal(await get(INSTALL, named('unheard')), 404, 'unknown_scenario')
    expect(await scenarioNames(here, bearer('open-sesame'))).not.toContain('unheard')
  })

  it('needs the token [auth.1]', async () => {
    expectRefusal(await here.get(INSTALL, { ...named('mine'), ...AS_JSON }), 401, 'unauthorized')
  })
})

it('an agent without a configured model gets no script and creates no scenario: the refusal names the setting', async () => {
  const { 'inference.upstream_model': _, ...unnamed } = settings
  const here = await ownWorld({ settings: unnamed })
  expectRefusal(await here.get(INSTALL, AS_JSON), 400, 'model_missing', 'inference.upstream_model')
  expect(await scenarioNames(here)).toEqual([])
})

it('without implicit creation a script without a scenario is 404, and no scenario is created [harness.install-3]', async () => {
  const here = await ownWorld({ settings: { ...settings, 'svc.allow_implicit_scenario_creation': false } })
  expectRefusal(await here.get(INSTALL, AS_JSON), 404, 'unknown_scenario')
  expect(await scenarioNames(here)).toEqual([])
})

const recipes = (one: string, other: string) => ({
  recipe: 'one',
  'recipes.one.use': 'harness',
  'recipes.one.evolution.adapter': one,
  'recipes.other.use': 'harness',
  'recipes.other.evolution.adapter': other,
  'inference.upstream_model': 'm',
})

describe('with several recipes that serve files', () => {
  it('a script without a scenario is of the one for that agent [harness.install-3]', async () => {
    const here = await ownWorld({ settings: recipes('pi', 'codex') })
    for (const adapter of ['codex', 'pi']) {
      const { recipe } = installationIn(await here.get(`/svc/harness/install?adapter=${adapter}`))
      expect(recipe).toBe(adapter === 'pi' ? 'one' : 'other')
    }
    expectRefusal(await here.get('/svc/harness/install?adapter=claude', AS_JSON), 404, 'unknown_adapter')
  })

  it('and is refused, and makes none, where two are for that agent', async () => {
    const here = await ownWorld({ settings: recipes('pi', 'pi') })
    expectRefusal(await here.get(INSTALL, AS_JSON), 400, 'recipe_unclear')
    expect(await scenarioNames(here)).toEqual([])
  })
})

const slow = async (how: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> => {
  const here = await ownWorld({ settings: { ...settings, recipe: `${SLOW_RECIPE}#${how}` } })
  const s = await fresh(here)
  return here.get(INSTALL, { ...named(s.name), ...headers })
}

describe('a script that takes its time', () => {
  it('is begun with a preamble of at least 64 KiB and goes on as one braced group [harness.install-4]', async () => {
    const { status, text } = await slow('late')
    expect(status).toBe(200)
    const body = text.indexOf('\n{\n')
    expect(body).toBeGreaterThanOrEqual(64 * 1024 - 1)
    expect(text.slice(0, body)).toContain('preparing the harness')
    expect(text).toMatch(/\n}\n# svc-signed [\w-]+\n$/)
    for (const shell of ['dash', 'bash']) execFileSync(shell, ['-n'], { input: text })
  })

  it('and fails is a script that says why and exits 1 [harness.install-4]', async () => {
    const { status, text } = await slow('lateFailure')
    expect(status).toBe(200)
    const run = (): unknown => execFileSync('sh', { input: text, encoding: 'utf8', stdio: 'pipe' })
    expect(run).toThrow(/svc: 503: it's `broken` \$\(today\)/)
  })

  it('in time to fail has a status of its own [harness.install-4]', async () => {
    expectRefusal(await slow('failure', AS_JSON), 503, 'not_today', 'broken')
  })

  it('and fails has a status of its own for a client that prefers JSON, since nothing was begun for it', async () => {
    expectRefusal(await slow('lateFailure', AS_JSON), 503, 'not_today', 'broken')
  })
})
