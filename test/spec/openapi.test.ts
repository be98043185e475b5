/** The service matches its OpenAPI document: shapes of answers, codes of refusals, and validation of bodies. */
import * as fc from 'fast-check'
import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { isObject, type Json, type JsonObject } from '../../src/contract/index.ts'
import { isDescribed } from '../../src/http/openapi/document.ts'
import { routes } from '../../src/http/routes.ts'
import { sharedFolder } from '../support/folder.ts'
import { sharedWorld } from '../support/world.ts'
import { Described, type Asking, type Place } from './support/described.ts'
import { problemsOf } from './support/json-schema.ts'
import { valuesOf } from './support/schema-values.ts'
import { bearer, errorOf, inference, INBOX_RECIPE, LEDGER_RECIPE, named, PAIR_RECIPE, reportEnvelope, textAt } from './support/helpers.ts'
import { fresh, memberOf } from './support/trainee.ts'

const folder = sharedFolder()
mkdirSync(join(folder, 'tasks', 'hello'), { recursive: true })
writeFileSync(join(folder, 'tasks', 'hello', 'task.json'), '{"prompt":"Say hello.","answer":"hello"}')
const here = sharedWorld({
  settings: {
    recipe: INBOX_RECIPE,
    'evolution.seed': JSON.stringify([{ id: 'tone', name: 'rules', config: { text: 'Be brief.' } }]),
    'evolution.adapter': 'native',
    'evolution.proposals_dir': join(folder, 'proposals'),
    'evolution.step_record_dir': join(folder, 'steps'),
    'evolution.tasks_dir': join(folder, 'tasks'),
  },
})
const pair = sharedWorld({ settings: { recipe: PAIR_RECIPE } })
const ledger = sharedWorld({ settings: { recipe: LEDGER_RECIPE } })
const TOKEN = 'admin-token-of-the-test'
const closed = sharedWorld({
  backend: 'sqlite',
  settings: {
    'svc.token': TOKEN,
    'webhooks.chat.url': 'http://127.0.0.1:9/',
    'webhooks.chat.secret': `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
    'webhooks.chat.allow_inside': true,
  },
})
let described: Described
let ask: Asking
beforeAll(async () => {
  described = new Described((await here.get('/openapi.json')).json)
  ask = described.asking(here)
})

/** An episode of the scenario, from its offer to its result. */
async function played(asking: Asking, path: string): Promise<void> {
  const [, , , scenario = ''] = path.split('/')
  await asking('POST', '/v1/chat/completions', { headers: named(scenario), body: { model: 'm', messages: [] } })
  const body = { plays: 'x', priority: 'request', episode: {}, model: { name: null, api: 'openai' }, seconds_max: 60 }
  const playing = asking('POST', `${path}/episodes`, { body })
  const { json } = await asking('POST', '/svc/fleet/take', { body: { worker: 'w', plays: ['x'], slots: 1 } })
  const lease = `/svc/fleet/episodes/${textAt(memberOf(json, 'episode'), 'lease')}`
  await asking('POST', `${lease}/beat`, { body: { worker: 'w' } })
  await asking('POST', `${lease}/result`, { body: { worker: 'w', result: { score: 1 } } })
  expect((await playing).status).toBe(200)
  await asking('GET', `${path}/episodes`)
}

describe('every answer is documented', () => {
  const rule: JsonObject = { op: 'create', id: 'more', options: { name: 'rules', config: { text: 'Say please.' } } }

  it('of the service itself', async () => {
    for (const path of ['/healthz', '/openapi.json', '/metrics', '/svc/status', '/svc/sign-in', '/svc/caller', '/v1/models'])
      await ask('GET', path)
  })

  it('over the life of a scenario, from its first record to its end', async () => {
    const headers = named('life')
    const body = { model: 'm', messages: [] }
    expect((await ask('POST', '/svc/scenarios', { body: { name: 'life', model: { model: 'm' } } })).status).toBe(201)
    expect((await ask('POST', '/svc/scenarios', { body: { name: 'life' } })).status).toBe(200)
    const { headers: answered } = await ask('POST', '/v1/chat/completions', { headers, body })
    await ask('POST', '/svc/scenarios/life/evaluation/v1/chat/completions', { body })
    const references = [String(answered['x-svc-agent-record-id'])]
    await ask('POST', '/svc/records', { headers, body: inference('old') })
    await ask('POST', '/svc/records/batch', { headers, body: { records: [inference('older'), reportEnvelope('r', { score: 1 })] } })
    await ask('POST', '/svc/report', { headers, body: { score: 0.5, feedback: { kind: true }, references } })
    for (const query of ['limit=2', 'order=newest', 'order=newest&limit=2&before_sequence=4', 'request_type=report'])
      await ask('GET', `/svc/scenarios/life/records?${query}`)
    await ask('GET', `/svc/scenarios/life/records/${references[0] ?? ''}`)
    await ask('POST', '/svc/scenarios/life/update', { body: { training_mode: 'manual', model: null } })
    await ask('GET', '/svc/scenarios/life/contract')
    for (const path of ['search?limit=1', 'search?text=', 'records?excerpts=yes']) await ask('GET', `/svc/scenarios/life/${path}`)
    await ask('GET', '/svc/harness/install/line', { headers })
    await ask('GET', '/svc/scenarios')
    await ask('GET', '/svc/status')
    await ask('DELETE', '/svc/scenarios/life')
  })

  it('while a harness changes, is asked for and is moved', async () => {
    const s = await fresh(here, 'hybrid')
    const headers = named(s.name)
    for (const mutation of [rule, { op: 'no', id: 'a' }]) {
      const body = { mutations: [mutation], reason: '', session: 's', release_id: 'r' }
      await ask('POST', '/svc/harness/proposals', { headers, body })
    }
    const body = { text: 'Say please.', session: 's', release_id: 'r', requires: [{ name: 'KEY', kind: 'env', prompt: 'A key.' }] }
    const id = textAt((await ask('POST', '/svc/train', { headers, body })).json, 'agent_record_id')
    await ask('GET', `/svc/harness/requests/${id}/progress`, { headers })
    for (const path of ['progress', 'progress/records?step_record=none', 'tasks', 'tasks/hello'])
      await ask('GET', `/svc/harness/${path}`, { headers })
    await ask('POST', '/svc/harness/tasks/hello', { headers, body: { role: 'gate' } })
    const { headers: told } = await ask('POST', '/v1/chat/completions', {
      headers,
      body: { model: 'm', messages: [{ role: 'user', content: 'Hi.' }] },
    })
    for (const record_id of ['none', String(told['x-svc-agent-record-id'])])
      await ask('POST', '/svc/harness/tasks', { headers, body: { record_id, rubric: 'Good.' } })
    await s.consumer(id)
    await ask('GET', `/svc/harness/requests/${id}/progress`, { headers })
    const records = ['/releases/0/records', '/releases/1/records', '/releases/1/records?path=mutations.json']
    for (const path of ['', '/releases', ...records, '/adapters']) await ask('GET', `/svc/harness${path}`, { headers })
    for (const path of ['releases/1', `requests/${id}`]) await ask('GET', `/svc/harness/${path}/page?scenario=${s.name}`)
    await ask('GET', '/svc/harness/releases/9/page', { headers: { ...headers, accept: 'text/html' } })
    for (const list of ['commits?limit=1', 'releases']) await ask('GET', `/svc/scenarios/${s.name}/${list}`)
    const [first] = await s.listed()
    for (const operation of ['rollback', 'promote'])
      await ask('POST', `/svc/scenarios/${s.name}/${operation}`, { body: { release_id: first?.['release_id'] ?? '' } })
    await ask('GET', `/svc/scenarios/${s.name}/releases`)
    await ask('GET', '/svc/status')
  })

  it('of tokens, the audit, and who is forgotten', async () => {
    const asking = described.asking(closed)
    const headers = bearer(TOKEN)
    expect(
      (await asking('POST', '/svc/tokens', { headers, body: { name: 'a', role: 'read', scenarios: ['s'], expires_in_days: 1 } })).status,
    ).toBe(201)
    await asking('POST', '/svc/tokens', { headers, body: { name: 'a', role: 'read' } })
    await asking('POST', '/svc/tokens/a/rotate', { headers, body: {} })
    await asking('POST', '/svc/webhooks/retry', { headers, body: {} })
    await asking('POST', '/svc/forget', { headers, body: { name: 'user', value: 'u7', dry_run: false } })
    await asking('POST', '/svc/tokens/a/limits', { headers, body: { requests_per_minute: 5 } })
    for (const query of ['', '?order=newest&limit=1']) await asking('GET', `/svc/audit${query}`, { headers })
    for (const path of ['/svc/tokens', '/svc/configuration']) await asking('GET', path, { headers })
    for (const _ of [1, 2]) await asking('DELETE', '/svc/tokens/a', { headers })
  })

  it('of workers, and of the episodes that they play', async () => {
    await played(ask, '/svc/scenarios/played/evaluation')
    await ask('GET', '/svc/fleet')
  })

  it('of a scenario with several components', async () => {
    const asking = described.asking(pair)
    const s = await fresh(pair)
    await s.consumer((await s.reported())[1])
    await played(asking, `/svc/scenarios/${s.name}/components/alpha/evaluation`)
    for (const path of ['releases', 'commits', 'contract']) await asking('GET', `/svc/scenarios/${s.name}/${path}`)
    for (const path of ['/svc/harness', '/svc/harness/releases']) await asking('GET', path, { headers: named(s.name) })
    await asking('POST', `/svc/scenarios/${s.name}/components/alpha/evaluation/v1/chat/completions`, { body: { messages: [] } })
    await asking('GET', '/svc/status')
  })

  it('while a release is provisional, and once it is withdrawn', async () => {
    const asking = described.asking(ledger)
    const s = await fresh(ledger)
    await s.consumer((await s.reported({ feedback: 'offer' }))[1])
    const release_id = textAt(await s.release(), 'release_id')
    const look = async (): Promise<void> => {
      for (const path of ['releases', 'commits']) await asking('GET', `/svc/scenarios/${s.name}/${path}`)
      await asking('GET', `/svc/harness?release_id=${release_id}`, { headers: named(s.name) })
      await asking('GET', '/svc/status')
    }
    await look()
    const statuses = [release_id, 'another'].map(async (id) => {
      const { status } = await asking('POST', `/svc/scenarios/${s.name}/withdraw`, { body: { release_id: id } })
      return status
    })
    expect(await Promise.all(statuses)).toEqual([200, 409])
    await look()
  })

  it('while a release is held, and once it is rejected', async () => {
    const asking = described.asking(ledger)
    const s = await fresh(ledger, 'manual')
    await s.asked('hold')
    const release_id = textAt(await s.release(), 'release_id')
    const reject = (body: JsonObject) => asking('POST', `/svc/scenarios/${s.name}/reject`, { body })
    const statuses = [
      await reject({ release_id: 'another', reason: 'no' }),
      await reject({ release_id, reason: '' }),
      await reject({ release_id, reason: 'too long' }),
      await reject({ release_id, reason: 'and another reason' }),
    ].map(({ status }) => status)
    expect(statuses).toEqual([404, 400, 200, 409])
    const comment = (body: JsonObject) => asking('POST', `/svc/scenarios/${s.name}/comment`, { body })
    const said = [await comment({ release_id, comment: 'a pity' }), await comment({ release_id: 'another', comment: 'no' })]
    expect(said.map(({ status }) => status)).toEqual([200, 404])
    for (const path of ['releases', 'commits']) await asking('GET', `/svc/scenarios/${s.name}/${path}`)
    await asking('GET', `/svc/harness?release_id=${release_id}`, { headers: named(s.name) })
  })

  it('on every route that answers with JSON of ours', () => {
    expect(described.shaped.filter((operation) => !described.held.includes(operation))).toEqual([])
    expect(described.held.length).toBeGreaterThan(20)
  })
})

it.each(routes.filter(isDescribed))('every refusal of $method $path is documented', async ({ method, path }) => {
  const { name } = await fresh(here)
  const somewhere = (scenario: string): string => path.replace(':scenario', scenario).replaceAll(/\/:\w+/g, '/none')
  const bodies = method === 'POST' ? ['', '[', '{}', '{"a":1,"a":2}', '{"stream":true}'] : [null]
  for (const headers of [{}, named(name), named('unheard'), named('a/b')])
    for (const at of [somewhere(name), somewhere('unheard')])
      for (const body of bodies) await ask(method, `${at}?limit=0&release_id=none`, { headers, ...(body !== null && { body }) })
})

/** Whether the schema takes the body; the service must say the same. */
async function judged(route: Place, scenario: string, body: Json): Promise<boolean> {
  const path = route.path.replace(':scenario', scenario)
  const answer = await ask(route.method, path, { headers: named(scenario), body: JSON.stringify(body) })
  const isAccepted = problemsOf({ root: described.document }, described.body(route), body).length === 0
  const { code = null } = errorOf(answer)
  if (isAccepted) expect({ body, code }).not.toMatchObject({ code: expect.stringMatching(/^(?:invalid_field|bad_proposal)$/) })
  else expect({ body, status: answer.status }).toMatchObject({ status: 400 })
  return isAccepted
}

/** Model settings of a scenario that exists are not looked at, so every name is a new one. */
const unheardOf = (body: Json): Json =>
  isObject(body) && typeof body['name'] === 'string' ? { ...body, name: `${body['name']}${randomUUID()}` } : body

const train: Place = { method: 'POST', path: '/svc/train' }
const one: Place = { method: 'POST', path: '/svc/records' }
const batch: Place = { method: 'POST', path: '/svc/records/batch' }
const report: Place = { method: 'POST', path: '/svc/report' }
const asked = (more: JsonObject): JsonObject => ({ text: 'x', session: 's', release_id: 'r', ...more })
const item = (more: JsonObject): JsonObject => asked({ requires: [{ name: 'KEY', kind: 'service', ...more }] })
const envelopes = (count: number): JsonObject => ({
  records: Array.from({ length: count }, (_, index) => inference(`of-${count}-${index}`)),
})
const references = (count: number): JsonObject => ({ references: Array.from({ length: count }, (_, index) => `none-${index}`) })

describe('a body is judged by its schema', () => {
  // Those that wait for a worker, or for an episode, have their own test.
  const waits = /\/(?:take|episodes)$/
  const ours = routes.filter(
    ({ run, path, method }) => method === 'POST' && 'plain' in run && path.startsWith('/svc/') && !waits.test(path),
  )

  it.each(ours)('$method $path', async (route) => {
    const { name } = await fresh(here, 'hybrid')
    const seen = { accepted: 0, rejected: 0 }
    for (const isCareless of [false, true]) {
      const bodies = valuesOf({ root: described.document }, described.body(route), isCareless).map(unheardOf)
      const holds = async (body: Json): Promise<void> => {
        seen[(await judged(route, name, body)) ? 'accepted' : 'rejected'] += 1
      }
      await fc.assert(fc.asyncProperty(bodies, holds), { numRuns: 30 })
    }
    expect(seen).toEqual({ accepted: expect.toSatisfy((count) => count > 1), rejected: expect.toSatisfy((count) => count > 1) })
  })

  it.each<[string, Place, JsonObject, boolean]>([
    ['a text of 4000 characters', train, asked({ text: '🙂'.repeat(4000) }), true],
    ['a text of 4001 characters', train, asked({ text: '🙂'.repeat(4001) }), false],
    ['a prompt of 200 characters between blanks', train, item({ prompt: `  ${'🙂'.repeat(200)}  ` }), true],
    ['a prompt of 201 characters', train, item({ prompt: '🙂'.repeat(201) }), false],
    ['nine items that are required', train, asked({ requires: Array.from({ length: 9 }, () => ({ name: 'a', kind: 'service' })) }), false],
    ['a variable by its name', train, item({ kind: 'env' }), true],
    ['a name that is no variable', train, item({ kind: 'env', name: 'a-b' }), false],
    ['a name that is no variable, beside one that is', train, item({ kind: 'env', name: 'a-b', check: 'A_B' }), true],
    ['a program by its name', train, item({ kind: 'binary', check: 'g++' }), true],
    ['a command in place of a program', train, item({ kind: 'binary', check: 'jq --version' }), false],
    ['an id of 256 characters', one, inference('🙂'.repeat(256)), true],
    ['an id of 257 characters', one, inference('🙂'.repeat(257)), false],
    ['a report whose score is none', one, reportEnvelope('scored', { score: true }), false],
    ['a report in a batch whose score is none', batch, { records: [reportEnvelope('scored', { score: true })] }, false],
    ['an empty batch', batch, envelopes(0), false],
    ['a batch of 1000', batch, envelopes(1000), true],
    ['a batch of 1001', batch, envelopes(1001), false],
    ['1000 references', report, references(1000), true],
    ['20000 references', report, references(20_000), true],
    ['a reference twice', report, { references: ['a', 'a'] }, false],
  ])('at its edges: %s', async (_, route, body, isAccepted) => {
    const { name } = await fresh(here, 'hybrid')
    expect(await judged(route, name, body)).toBe(isAccepted)
  })
})
