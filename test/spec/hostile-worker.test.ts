/** A worker that means harm, over HTTP: with its token, with the key of an episode, and with what it answers. */
import { expect, it } from 'vitest'
import type { JsonObject } from '../../src/contract/index.ts'
import { sharedWorld, type Answer } from '../support/world.ts'
import { bearer, expectRefusal, named, OPEN_RECIPE, textAt } from './support/helpers.ts'
import { memberOf } from './support/trainee.ts'

const TOKEN = 'admin-token-of-the-test'
const ADMIN = bearer(TOKEN)
const MIB = 1024 * 1024
const here = sharedWorld({ settings: { 'svc.token': TOKEN, recipe: OPEN_RECIPE }, headers: {} })

let count = 0
async function tokenOf(body: JsonObject): Promise<Record<string, string>> {
  return bearer(textAt((await here.post('/svc/tokens', { name: `t${(count += 1)}`, role: 'worker', ...body }, ADMIN)).json, 'token'))
}

/** An episode of a new scenario that a hostile worker has, and what it says about it. */
async function held(more: JsonObject = {}) {
  const scenario = `s${(count += 1)}`
  await here.post('/v1/chat/completions', { model: 'm', messages: [] }, { ...ADMIN, ...named(scenario) })
  const path = `/svc/scenarios/${scenario}/evaluation`
  const model = { name: 'm', api: 'openai' }
  const body = { plays: scenario, priority: 'traffic', episode: { task: { name: 'one' } }, model, seconds_max: 60, ...more }
  const playing = here.post(`${path}/episodes`, body, ADMIN)
  const token = await tokenOf({ scenarios: [scenario] })
  const { json } = await here.post('/svc/fleet/take', { worker: 'w', plays: [scenario], slots: 1 }, token)
  const episode = memberOf(json, 'episode')
  const lease = textAt(episode, 'lease')
  const say = (what: string, said: JsonObject | string, as = token): Promise<Answer> =>
    here.post(`/svc/fleet/episodes/${lease}/${what}`, said, as)
  return { playing, path, token, lease, say, key: bearer(textAt(episode, 'key')) }
}

const finished = { worker: 'w', result: { score: 1 } }

it.each<[string, JsonObject | string]>([
  ['no JSON', '{'],
  ['a list', '[]'],
  ['no result', { worker: 'w' }],
  ['a number as a result', { worker: 'w', result: 1 }],
  ['a list as a result', { worker: 'w', result: [1] }],
  ['no name', { result: { score: 1 } }],
  ['a name of a megabyte', { worker: 'w'.repeat(MIB), result: { score: 1 } }],
  ['a name of another shape', { worker: { toString: 'w' }, result: { score: 1 } }],
  ['objects within objects, ten thousand deep', `{"worker":"w","result":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}}`],
])('a result that is %s is refused, and the episode goes on', async (_title, said) => {
  const { playing, say } = await held()
  const answer = await say('result', said)
  expect([400, 413]).toContain(answer.status)
  expect((await say('beat', { worker: 'w' })).json).toEqual({ goes_on: true })
  await say('result', finished)
  expect((await playing).json).toMatchObject({ result: { score: 1 } })
})

it('a result larger than a body may be is refused, and the episode goes on', async () => {
  const { playing, say } = await held()
  expectRefusal(await say('result', `{"worker":"w","result":{"stdout":"${'x'.repeat(65 * MIB)}"}}`), 413, 'body_too_large')
  await say('result', finished)
  expect((await playing).json).toMatchObject({ result: { score: 1 } })
}, 60_000)

it.each(['', '/', '../', '..%2f..%2fstatus', '%00', 'x'.repeat(5000)])('a lease called %j is nobody’s', async (lease) => {
  const answer = await here.post(`/svc/fleet/episodes/${lease}/result`, finished, await tokenOf({}))
  expect([400, 401, 404, 405, 414]).toContain(answer.status)
})

it('a token of another scenario, of another role, and no token answer for no episode', async () => {
  const { playing, say } = await held()
  expectRefusal(await say('result', finished, await tokenOf({ scenarios: ['elsewhere'] })), 404, 'unknown_lease')
  expectRefusal(await say('result', finished, await tokenOf({ role: 'read' })), 401, 'role_forbids')
  expectRefusal(await say('result', finished, {}), 401, 'unauthorized')
  await say('result', { worker: 'w', result: { score: 0 } })
  expect((await playing).json).toMatchObject({ result: { score: 0 } })
})

it.each([
  ['the status', 'GET', '/svc/status'],
  ['the fleet', 'GET', '/svc/fleet'],
  ['tokens', 'GET', '/svc/tokens'],
  ['records', 'GET', '/svc/sessions'],
  ['another episode', 'POST', '/svc/fleet/take'],
])('the key of an episode does not open %s', async (_title, method, path) => {
  const { playing, key, say } = await held()
  const answer = await here.ask(method, path, { headers: key, ...(method === 'POST' && { body: { worker: 'w', plays: ['x'], slots: 1 } }) })
  expect([401, 404]).toContain(answer.status)
  await say('result', finished)
  await playing
})

it('calls of the model past the limit of an episode are refused, also all at once, and those before it are counted', async () => {
  const { playing, path, key, say } = await held({ calls_max: 3 })
  const ask = (): Promise<Answer> => here.post(`${path}/v1/chat/completions`, { model: 'm', messages: [] }, key)
  const answers = await Promise.all(Array.from({ length: 20 }, ask))
  expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(3)
  for (const refused of answers.filter(({ status }) => status !== 200)) expectRefusal(refused, 429, 'episode_limit')
  while ((await ask()).status === 200);
  await say('result', finished)
  expect((await playing).json['calls']).toHaveLength(3)
})

it('the key opens nothing once the result is in, and the result counts once', async () => {
  const { playing, path, key, say } = await held()
  const said = await Promise.all([say('result', finished), say('result', finished), say('result', { worker: 'w', result: { score: 0 } })])
  expect(said.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 404, 404])
  expect((await playing).status).toBe(200)
  expectRefusal(await here.post(`${path}/v1/chat/completions`, { model: 'm', messages: [] }, key), 401, 'unauthorized')
})
