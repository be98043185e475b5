/** Limits with several listener threads: exact over all of them, in the provider's shape, and over when the answer is. */
import { once } from 'node:events'
import { expect, it, onTestFinished } from 'vitest'
import type { Json } from '../../src/contract/index.ts'
import { beginFrames, chatFrames } from '../support/upstream.ts'
import { connectTo, openStream, sendAndListen } from '../support/client.ts'
import { until } from '../support/wait.ts'
import { sharedWorld, type Answer } from '../support/world.ts'
import { bearer, expectRefusal, named, rowsOf, textAt } from '../spec/support/helpers.ts'
import { requestHead } from '../spec/support/raw.ts'

const TOKEN = 'admin-token-of-the-test'
const ADMIN = bearer(TOKEN)
const CHAT = '/v1/chat/completions'
const BODY = { model: 'm', messages: [] }

const here = sharedWorld({
  backend: 'sqlite',
  settings: {
    'svc.token': TOKEN,
    'svc.listeners': 3,
    'limits.token.requests_per_minute': 30,
    'limits.tokens.free.requests_per_minute': 0,
    'limits.scenarios.narrow.concurrent_requests': 4,
    'limits.scenarios.metered.tokens_per_minute': 40,
    'limits.scenarios.left.tokens_per_minute': 1000,
    'limits.scenarios.counting.tokens_per_minute': 1000,
    'limits.scenarios.dear.cost_per_day': 1,
    'limits.scenarios.replayed.requests_per_minute': 3,
    'limits.upstream.concurrent_requests': 40,
    'limits.prices.m.input': 1_000_000,
    'limits.prices.m.output': 0,
  },
})

const made = async (name: string): Promise<Record<string, string>> =>
  bearer(textAt((await here.post('/svc/tokens', { name, role: 'serve' }, ADMIN)).json, 'token'))

const ask = (scenario: string, who: Readonly<Record<string, string>>, body: object = BODY): Promise<Answer> =>
  here.post(CHAT, body, { ...who, ...named(scenario) })

const counted = (answers: readonly Answer[], status: number): number => answers.filter((answer) => answer.status === status).length

it('requests beyond the limit of a token are 429 in all threads together, for that token alone [access.limits] [access.limits-exact]', async () => {
  const [one, other] = [await made('one'), await made('other')]
  // One scenario is served by the threads, the other, which is new, by the main thread.
  expect((await ask('warm', ADMIN)).status).toBe(200)
  const answers = await Promise.all(Array.from({ length: 60 }, (_, at) => ask(at % 4 === 0 ? 'other' : 'warm', one)))
  expect([counted(answers, 200), counted(answers, 429)]).toEqual([30, 30])
  expect((await ask('warm', other)).status).toBe(200)
  const refused = answers.find(({ status }) => status === 429)
  expect(refused?.json['error']).toMatchObject({ type: 'rate_limit_error', code: 'requests_limit' })
  expect(String(refused?.headers['retry-after'])).toMatch(/^(?:[1-9]|[1-5]\d|60)$/)
  const messages = await here.post('/v1/messages', { ...BODY, max_tokens: 1 }, { ...one, ...named('warm') })
  expect(messages).toMatchObject({ status: 429, json: { type: 'error', error: { type: 'rate_limit_error' } } })
  const gemini = await here.post('/v1beta/models/m:generateContent', { contents: [] }, { ...one, ...named('warm') })
  expect(gemini).toMatchObject({ status: 429, json: { error: { code: 429, status: 'RESOURCE_EXHAUSTED' } } })
  expect((await here.get('/metrics', ADMIN)).text).toMatch(/svc_requests_limited_total\{code="requests_limit"\} 3[0-9]\n/)
})

it("limits of a token's own count in all threads from the answer on, are changed later, and their use is shown [access.limits] [access.limits-exact]", async () => {
  const limits = { requests_per_minute: 8 }
  const { json } = await here.post('/svc/tokens', { name: 'own', role: 'serve', limits }, ADMIN)
  const own = bearer(textAt(json, 'token'))
  expect(json).toMatchObject({ name: 'own', limits })
  expect((await ask('warm', ADMIN)).status).toBe(200)
  const many = async (): Promise<readonly Answer[]> => Promise.all(Array.from({ length: 20 }, () => ask('warm', own)))
  expect(counted(await many(), 200)).toBe(8)
  const use = async (): Promise<unknown> => rowsOf(await here.get('/svc/tokens', ADMIN), 'tokens').find(({ name }) => name === 'own')
  expect(await use()).toMatchObject({ limits, use: { requests_per_minute: { used: 8, limit: 8 } } })
  const changed = await here.post('/svc/tokens/own/limits', { requests_per_minute: 11, concurrent_requests: 5 }, ADMIN)
  expect(changed).toMatchObject({ status: 200, json: { name: 'own', limits: { requests_per_minute: 11, concurrent_requests: 5 } } })
  const more = [await ask('warm', own), await ask('warm', own), await ask('warm', own), await ask('warm', own)]
  expect(more.map(({ status }) => status)).toEqual([200, 200, 200, 429])
  await here.post('/svc/tokens/own/limits', {}, ADMIN)
  expect(await use()).toMatchObject({ use: { requests_per_minute: { used: 11, limit: 30 } } })
  expect(await use()).not.toHaveProperty('limits')
  const audit = rowsOf(await here.get('/svc/audit?order=newest&limit=2', ADMIN), 'audit')
  expect(audit).toMatchObject([
    { action: 'limitToken', target: 'own', by: 'svc.token', before: { limits: { requests_per_minute: 11 } } },
    { action: 'limitToken', target: 'own', before: { limits }, after: { limits: { requests_per_minute: 11, concurrent_requests: 5 } } },
  ])
})

it.each<[title: string, limits: Json, said: RegExp]>([
  ['below 0', { requests_per_minute: -1 }, /^limits\.requests_per_minute: must be a whole number from 0 to 1000000000; 0 is no limit$/],
  ['of half a request', { concurrent_requests: 0.5 }, /^limits\.concurrent_requests: must be a whole number/],
  ['beyond all numbers', { tokens_per_minute: 1e300 }, /^limits\.tokens_per_minute: must be a whole number/],
  ['of money in words', { cost_per_day: '5' }, /^limits\.cost_per_day: must be a number from 0/],
  ['of an unknown kind', { requests_per_hour: 1 }, /^limits: takes requests_per_minute, tokens_per_minute, cost_per_day and/],
  ['as a list', [5], /^limits: must be an object of limits$/],
])('limits %s are refused in one line, and no token is made', async (_title, limits, said) => {
  const name = 'refused'
  const refused = await here.post('/svc/tokens', { name, role: 'serve', limits }, ADMIN)
  expectRefusal(refused, 400, 'invalid_field', said)
  expect(rowsOf(await here.get('/svc/tokens', ADMIN), 'tokens').map((row) => row['name'])).not.toContain(name)
})

it('what a reviewer replays counts as their traffic does, by the token and by the scenario [access.limits]', async () => {
  const { json } = await here.post('/svc/tokens', { name: 'reviewer', role: 'review' }, ADMIN)
  const reviewer = bearer(textAt(json, 'token'))
  expect((await ask('replayed', ADMIN)).status).toBe(200)
  const replay = () => here.post(`/svc/scenarios/replayed/evaluation${CHAT}`, BODY, reviewer)
  const answers = [await replay(), await replay(), await replay()]
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 429])
  expect(answers[2]?.json['error']).toMatchObject({ code: 'requests_limit' })
})

it('requests in flight beyond the limit of a scenario are 429, and let in once one is over, also by a client that left [access.limits]', async () => {
  const free = await made('free')
  expect((await ask('narrow', free)).status).toBe(200)
  const gate = Promise.withResolvers<void>()
  here.upstream.answer(async (_, response) => {
    beginFrames(response, chatFrames.slice(0, 2))
    await gate.promise
    response.end(chatFrames.slice(2).join(''))
  })
  const open = () => openStream(here.address, CHAT, { ...BODY, stream: true }, { ...free, ...named('narrow') })
  const streams = await Promise.all(Array.from({ length: 4 }, open))
  await Promise.all(streams.map((stream) => stream.seen('data: ')))
  const refused = await Promise.all(Array.from({ length: 12 }, () => ask('narrow', free)))
  expect(counted(refused, 429)).toBe(12)
  expect(refused[0]?.json['error']).toMatchObject({ code: 'concurrency_limit' })
  streams[0]?.drop()
  here.upstream.answer((_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{"choices":[]}'))
  await until(async () => (await ask('narrow', free)).status === 200)
  gate.resolve()
  await Promise.all(streams.slice(1).map(({ over }) => over))
  await until(async () => counted(await Promise.all(Array.from({ length: 4 }, () => ask('narrow', free))), 200) === 4)
})

it('requests whose bodies never come take no place of the others of their scenario [access.limits]', async () => {
  const free = bearer(textAt((await here.post('/svc/tokens/free/rotate', {}, ADMIN)).json, 'token'))
  expect((await ask('narrow', free)).status).toBe(200)
  const fields = Object.entries({ ...free, ...named('narrow'), 'content-length': '1000', expect: '100-continue' })
  const head = requestHead(
    'POST',
    CHAT,
    fields.map(([name, value]) => `${name}: ${value}`),
  )
  const stalled = Array.from({ length: 12 }, () => connectTo(here.address))
  onTestFinished(() => stalled.forEach((socket) => socket.destroy()))
  await Promise.all(
    stalled.map(async (socket) => {
      socket.write(`${head}{"model":`)
      const [said] = await once(socket, 'data')
      expect(String(said)).toMatch(/^HTTP\/1\.1 100 /)
    }),
  )
  expect(counted(await Promise.all(Array.from({ length: 4 }, () => ask('narrow', free))), 200)).toBe(4)
})

it('tokens and money are counted as the answers say, and estimated where they do not [access.limits]', async () => {
  const free = bearer(textAt((await here.post('/svc/tokens/free/rotate', {}, ADMIN)).json, 'token'))
  const answering = (usage: object | null): void =>
    here.upstream.answer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ choices: [], ...(usage !== null && { usage }) }))
    })
  answering({ prompt_tokens: 10, completion_tokens: 15 })
  for (const status of [200, 200, 429]) expect((await ask('metered', free)).status).toBe(status)
  expect((await ask('metered', free)).json['error']).toMatchObject({ code: 'tokens_limit' })
  answering(null)
  expect((await ask('dear', free)).status).toBe(200)
  const spent = await ask('dear', free)
  expect(spent).toMatchObject({ status: 429, json: { error: { code: 'cost_limit' } } })
  expect(spent.headers['x-should-retry']).toBe('false')
})

it('a scenario that asks for much leaves a turn at the upstream to another, in all threads together [access.turns]', async () => {
  const free = bearer(textAt((await here.post('/svc/tokens/free/rotate', {}, ADMIN)).json, 'token'))
  const asked: string[] = []
  const gate = Promise.withResolvers<void>()
  here.upstream.answer(async ({ body }, response) => {
    asked.push(body.includes('quiet') ? 'quiet' : 'noisy')
    await gate.promise
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"choices":[]}')
  })
  const noisy = Array.from({ length: 90 }, () => ask('noisy', free, { ...BODY, model: 'noisy' }))
  await until(() => asked.length === 36)
  const quiet = ask('quiet', free, { ...BODY, model: 'quiet' })
  await until(() => asked.includes('quiet'))
  expect(asked).toHaveLength(37)
  gate.resolve()
  const answers = await Promise.all([...noisy, quiet])
  expect(counted(answers, 200)).toBe(91)
})

it('a body that does not come holds no turn at the upstream [access.turns]', async () => {
  const free = bearer(textAt((await here.post('/svc/tokens/free/rotate', {}, ADMIN)).json, 'token'))
  here.upstream.answer((_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{"choices":[]}'))
  // The threads answer for a scenario that is there; they pass others on once their bodies come.
  expect((await ask('stalled', free)).status).toBe(200)
  const headers = Object.entries({ host: 'here', 'content-length': '100', ...free, ...named('stalled') })
  const stalled = Array.from({ length: 40 }, () => connectTo(here.address).on('error', () => undefined))
  onTestFinished(() => stalled.forEach((socket) => void socket.destroy()))
  for (const socket of stalled)
    socket.write(`POST ${CHAT} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`)
  const inFlight = async (): Promise<number> =>
    Number(/\nsvc_requests_in_flight (\d+)\n/.exec((await here.get('/metrics', ADMIN)).text)?.[1])
  await until(async () => (await inFlight()) > stalled.length)
  expect((await ask('stalled', free)).status).toBe(200)
})

it('a client that leaves before its answer has taken its question [access.limits]', async () => {
  const free = bearer(textAt((await here.post('/svc/tokens/free/rotate', {}, ADMIN)).json, 'token'))
  const [asked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  onTestFinished(() => gate.resolve())
  here.upstream.answer(async (_, response) => {
    asked.resolve()
    await gate.promise
    response.end()
  })
  const request = sendAndListen(here.address, CHAT, { ...BODY, user: 'u'.repeat(8000) }, { ...free, ...named('left') })
  await asked.promise
  request.drop()
  await until(() => here.log.some(({ event, scenario, status }) => event === 'request' && scenario === 'left' && status === 499))
  expect((await ask('left', free)).json['error']).toMatchObject({ code: 'tokens_limit' })
})

it('a count of tokens is a request that takes none [access.limits]', async () => {
  const free = bearer(textAt((await here.post('/svc/tokens/free/rotate', {}, ADMIN)).json, 'token'))
  here.upstream.answer((_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{"input_tokens":2000}'))
  const body = { model: 'm', messages: [], system: 's'.repeat(8000) }
  for (let count = 0; count < 3; count += 1)
    expect((await here.post('/v1/messages/count_tokens', body, { ...free, ...named('counting') })).status).toBe(200)
})
