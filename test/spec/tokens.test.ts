/** Tokens that are made while the service runs: what they open, how long, and what is kept of them. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WRONG_TOKENS_PER_MINUTE, type JsonObject } from '../../src/contract/index.ts'
import { sendAndListen } from '../support/client.ts'
import { ownWorld, sharedWorld, type World } from '../support/world.ts'
import { bearer, errorOf, expectRefusal, named, OPEN_RECIPE, rowsOf, scenarioNames, textAt } from './support/helpers.ts'

const TOKEN = 'admin-token-of-the-test'
const ADMIN = bearer(TOKEN)
const CHAT = '/v1/chat/completions'
const settings = { 'svc.token': TOKEN, recipe: OPEN_RECIPE }
const here = sharedWorld({ settings })

const create = (there: World, body: JsonObject) => there.post('/svc/tokens', body, ADMIN)
const secretOf = async (there: World, body: JsonObject): Promise<string> => textAt((await create(there, body)).json, 'token')
const chat = (there: World, token: string, scenario: string) =>
  there.post(CHAT, { model: 'm', messages: [] }, { ...bearer(token), ...named(scenario) })
let count = 0
const fresh = (): string => `t${(count += 1)}`

describe('a token that is made [access.tokens]', () => {
  it('is answered once with its secret, listed without it, and opens what its role and scenarios say', async () => {
    const name = fresh()
    const made = await create(here, { name, role: 'serve', scenarios: ['made'], expires_in_days: 1 })
    expect(made.status).toBe(201)
    expect(made.headers['cache-control']).toBe('no-store')
    const { token: _, ...row } = made.json
    const token = textAt(made.json, 'token')
    expect(row).toMatchObject({ name, role: 'serve', scenarios: ['made'], created_by: 'svc.token' })
    expect(row['expires_at']).toBe(Number(row['created_at']) + 86_400)
    const listed = await here.get('/svc/tokens', ADMIN)
    expect(rowsOf(listed, 'tokens').find((each) => each['name'] === name)).toEqual(row)
    expect(listed.text).not.toContain(token)
    expect((await chat(here, token, 'made')).status).toBe(200)
    expect((await here.post(CHAT, { model: 'm', messages: [] }, { 'x-api-key': token, ...named('made') })).status).toBe(200)
    expectRefusal(await chat(here, token, 'not-its-own'), 401, 'other_scenario', new RegExp(`${name} is for other scenarios; name one`))
    expectRefusal(await here.get('/svc/scenarios', bearer(token)), 401, 'role_forbids', /role serve.*admin, review, read$/)
    expect(await scenarioNames(here, ADMIN)).not.toContain('not-its-own')
  })

  it('is for scenarios by their exact names, outside ASCII too', async () => {
    const token = await secretOf(here, { name: fresh(), role: 'serve', scenarios: [' größe '] })
    const ask = (name: string) =>
      here.post(CHAT, { model: 'm', messages: [] }, { ...bearer(token), ...named(Buffer.from(name).toString('latin1')) })
    expect((await ask('größe')).status).toBe(200)
    for (const name of ['Größe', 'größe2', 'große']) expectRefusal(await ask(name), 401, 'other_scenario')
    expectRefusal(await here.post(CHAT, { model: 'm', messages: [] }, bearer(token)), 400, 'scenario_missing')
  })

  it('lists of the scenarios those that it is for', async () => {
    for (const name of ['listed-1', 'listed-2']) await here.post('/svc/scenarios', { name }, ADMIN)
    const token = await secretOf(here, { name: fresh(), role: 'read', scenarios: ['listed-2', 'not-there'] })
    expect(await scenarioNames(here, bearer(token))).toEqual(['listed-2'])
  })

  it('names itself in the log, and its secret is in no line', async () => {
    const name = fresh()
    const token = await secretOf(here, { name, role: 'serve' })
    await chat(here, token, 'logged')
    expect(here.log.filter(({ by }) => by === name)).toMatchObject([{ event: 'request', route: CHAT, scenario: 'logged' }])
    expect(JSON.stringify(here.log)).not.toContain(token)
  })

  it('is refused as a body that is wrong, field by field', async () => {
    const good = { name: 'good', role: 'read' }
    const bad: readonly JsonObject[] = [
      { role: 'read' },
      { ...good, name: '' },
      { ...good, name: 'svc.token' },
      { ...good, name: '-x' },
      { ...good, name: 'x'.repeat(65) },
      { ...good, role: 'root' },
      { ...good, scenarios: [] },
      { ...good, scenarios: ['a', ''] },
      { ...good, scenarios: 'a' },
      { ...good, scenarios: Array.from({ length: 101 }, (_, at) => `s${at}`) },
      { ...good, expires_in_days: 0 },
      { ...good, expires_in_days: -1 },
      { ...good, expires_in_days: '1' },
      { ...good, expires_in_days: 1e9 },
      { ...good, expires_at: 5 },
      { ...good, role: 'agent' },
      { ...good, role: 'admin', scenarios: ['a'] },
    ]
    for (const body of bad) expectRefusal(await create(here, body), 400, 'invalid_field')
    expectRefusal(await create(here, { ...good, scenarios: ['a/b'] }), 400, 'bad_scenario_name')
    expect(rowsOf(await here.get('/svc/tokens', ADMIN), 'tokens').map(({ name }) => name)).not.toContain('good')
  })

  it('keeps its name to itself', async () => {
    const name = fresh()
    await create(here, { name, role: 'read' })
    expectRefusal(await create(here, { name, role: 'read' }), 409, 'token_exists', /choose another name/)
  })
})

describe('a token that is gone [access.revoked]', () => {
  it('revoked: is refused when the answer comes, and its name is free', async () => {
    const name = fresh()
    const token = await secretOf(here, { name, role: 'serve' })
    expect((await here.ask('DELETE', `/svc/tokens/${name}`, { headers: ADMIN })).json).toEqual({ name, revoked: true })
    expectRefusal(await chat(here, token, 's'), 401, 'unauthorized', /revoked or replaced/)
    expectRefusal(await here.ask('DELETE', `/svc/tokens/${name}`, { headers: ADMIN }), 404, 'unknown_token', /GET \/svc\/tokens/)
    expect((await create(here, { name, role: 'read' })).status).toBe(201)
  })

  it('rotated: the old secret is refused, the new one opens the same', async () => {
    const name = fresh()
    const old = await secretOf(here, { name, role: 'serve', scenarios: ['s'] })
    const rotated = await here.post(`/svc/tokens/${name}/rotate`, {}, ADMIN)
    expect(rotated.status).toBe(200)
    const token = textAt(rotated.json, 'token')
    expect((await chat(here, old, 's')).status).toBe(401)
    expect((await chat(here, token, 's')).status).toBe(200)
    expect((await chat(here, token, 'other')).status).toBe(401)
  })

  it('expired: is refused with what to do', async () => {
    const name = fresh()
    const token = await secretOf(here, { name, role: 'read', expires_in_days: 1e-12 })
    const answer = await here.get('/svc/scenarios', bearer(token))
    expectRefusal(answer, 401, 'token_expired', new RegExp(`${name} expired on .*Z; .*: svc token rotate ${name}$`))
    expect((await here.post(`/svc/tokens/${name}/rotate`, { expires_in_days: 1 }, ADMIN)).status).toBe(200)
  })

  it.each(['svc_token_', 'svc_token_AAAA', `${TOKEN} `, `x${TOKEN}`, 'ÿ'.repeat(300), 'a'.repeat(20_000)])(
    'malformed, as %j: is refused like any that is unknown',
    async (token) => {
      const answer = await here.get('/svc/scenarios', { 'x-api-key': token })
      expect([answer.status, errorOf(answer)['code']]).toEqual(token.trim() === TOKEN ? [200, undefined] : [401, 'unauthorized'])
    },
  )
})

const keyIn = async (token: string, scenario: string): Promise<string> => {
  const answer = await here.post('/svc/train', { text: 'x', session: 's', release_id: 'r' }, { ...bearer(token), ...named(scenario) })
  return new URLSearchParams(textAt(answer.json, 'page_path').split('?')[1]).get('key') ?? ''
}
const page = (kind: 'releases/0' | 'requests/none', scenario: string, key: string) =>
  here.get(`/svc/harness/${kind}/page?${new URLSearchParams({ scenario, key }).toString()}`)

describe('page keys of a token [access.page-keys]', () => {
  it('open what the token may see, in its scenarios, while it lives', async () => {
    for (const name of ['paged', 'paged-2']) {
      await here.post('/svc/scenarios', { name }, ADMIN)
      await here.post(`/svc/scenarios/${name}/update`, { training_mode: 'manual' }, ADMIN)
    }
    const name = fresh()
    const token = await secretOf(here, { name, role: 'agent', scenarios: ['paged'] })
    const key = await keyIn(token, 'paged')
    expect(key).toMatch(new RegExp(`^${name}\\.[0-9a-f]{64}$`))
    expect(key).not.toContain(token)
    expect((await page('requests/none', 'paged', key)).status).toBe(404)
    expect((await page('releases/0', 'paged', key)).status).toBe(404)
    expect((await page('requests/none', 'paged-2', key)).status).toBe(401)
    for (const wrong of [`${name}.${'0'.repeat(64)}`, `${name}.`, `none.${key.split('.')[1]}`, key.split('.')[1] ?? '', `${key}.x`])
      expect((await page('requests/none', 'paged', wrong)).status).toBe(401)
    await here.ask('DELETE', `/svc/tokens/${name}`, { headers: ADMIN })
    expect((await page('requests/none', 'paged', key)).status).toBe(401)
  })
})

const again = async (name: string): Promise<void> => {
  expect((await here.post('/svc/scenarios', { name }, ADMIN)).status).toBe(201)
  await here.post(`/svc/scenarios/${name}/update`, { training_mode: 'manual' }, ADMIN)
}
const archive = (name: string) => here.ask('DELETE', `/svc/scenarios/${name}`, { headers: ADMIN })

describe('archiving a scenario [access.revoked]', () => {
  it('ends its tokens: a later scenario of the name is not theirs, and their other scenarios stay', async () => {
    const own = await secretOf(here, { name: fresh(), role: 'serve', scenarios: ['lived'] })
    const both = await secretOf(here, { name: fresh(), role: 'serve', scenarios: ['lived', 'lives'] })
    // Made before there is the scenario.
    expect((await chat(here, own, 'lived')).status).toBe(200)
    expect((await archive('lived')).status).toBe(200)
    expectRefusal(await chat(here, own, 'lived'), 401, 'unauthorized')
    await again('lived')
    expectRefusal(await chat(here, own, 'lived'), 401, 'unauthorized')
    expectRefusal(await chat(here, both, 'lived'), 401, 'other_scenario')
    expect((await chat(here, both, 'lives')).status).toBe(200)
    expect((await chat(here, await secretOf(here, { name: fresh(), role: 'serve', scenarios: ['lived'] }), 'lived')).status).toBe(200)
  })

  it('ends the links to its pages: a later scenario of the name has keys of its own', async () => {
    await again('linked')
    const first = await keyIn(TOKEN, 'linked')
    expect((await page('requests/none', 'linked', first)).status).toBe(404)
    for (const _ of [1, 2]) {
      await archive('linked')
      await again('linked')
      expectRefusal(await page('requests/none', 'linked', first), 401, 'unauthorized', /opens no page of this scenario/)
    }
    const later = await keyIn(TOKEN, 'linked')
    expect((await page('requests/none', 'linked', later)).status).toBe(404)
    expect((await page('releases/0', 'linked', later)).status).toBe(404)
    const [mac, life] = later.split('~')
    for (const wrong of [`${mac}`, `${first}~${life}`, `${mac}~`, `${mac}~0`, `${later}~`])
      expect((await page('requests/none', 'linked', wrong)).status).toBe(401)
    await archive('linked')
    await again('linked')
    expect((await page('requests/none', 'linked', later)).status).toBe(401)
  })
})

describe('what is kept [access.hashed]', () => {
  it('survives a restart as a hash: the secret is in no file, no log and no list', async () => {
    const there = await ownWorld({ backend: 'sqlite', settings })
    const token = await secretOf(there, { name: 'kept', role: 'serve', scenarios: ['s'] })
    expect((await chat(there, token, 's')).status).toBe(200)
    await there.restart()
    expect((await chat(there, token, 's')).status).toBe(200)
    expect((await chat(there, token, 'other')).status).toBe(401)
    await there.ask('DELETE', '/svc/tokens/kept', { headers: ADMIN })
    await there.restart()
    expect((await chat(there, token, 's')).status).toBe(401)
    const files = readdirSync(there.directory, { recursive: true, withFileTypes: true }).filter((file) => file.isFile())
    const bytes = files.map((file) => readFileSync(join(file.parentPath, file.name)).toString('latin1'))
    expect(bytes.some((text) => text.includes(token))).toBe(false)
    expect(JSON.stringify(there.log)).not.toContain(token)
  })

  it('needs a service that asks for tokens', async () => {
    const open = await ownWorld()
    expectRefusal(await open.post('/svc/tokens', { name: 'a', role: 'read' }), 409, 'service_open', /set svc\.token/)
  })
})

it('many wrong tokens of one address are slowed and counted; tokens in use, open routes and requests without a token are not [access.wrong-tokens]', async () => {
  const there = await ownWorld({ settings: { 'svc.token': TOKEN, 'svc.listeners': 1 } })
  expect((await there.get('/svc/scenarios', ADMIN)).status).toBe(200)
  const guesses = Array.from({ length: WRONG_TOKENS_PER_MINUTE }, (_, at) => there.get('/svc/scenarios', bearer(`wrong-${at}`)))
  expect(new Set((await Promise.all(guesses)).map(({ status }) => status))).toEqual(new Set([401]))
  const slowed = Array.from({ length: 9 }, (_, at) => sendAndListen(there.address, '/svc/scenarios', {}, bearer(`wrong-again-${at}`)))
  onTestFinished(() => slowed.forEach(({ drop }) => drop()))
  // Eight wait, so the first that is answered is the ninth.
  expect((await Promise.race(slowed.map(({ answer }) => answer))).status).toBe(429)
  const refused = await there.get('/svc/scenarios', bearer('one-more'))
  expectRefusal(refused, 429, 'wrong_tokens', /wait a minute/)
  expect(refused.headers['retry-after']).toBe('60')
  expect((await there.get('/svc/scenarios', ADMIN)).status).toBe(200)
  expect((await there.get('/healthz', bearer('one-more'))).status).toBe(200)
  expect((await there.get('/svc/scenarios')).status).toBe(401)
  const metrics = (await there.get('/metrics', ADMIN)).text
  expect(metrics).toContain(`svc_requests_unauthorized_total{code="unauthorized"} ${WRONG_TOKENS_PER_MINUTE + 1}\n`)
  expect(metrics).toMatch(/svc_requests_limited_total\{code="wrong_tokens"\} [1-9]/)
})
