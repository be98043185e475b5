/** A whole service tells a target of what its scenarios do. */
import { createServer } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { HOLDING } from '../../src/cli/testing/surroundings.ts'
import type { JsonObject } from '../../src/contract/index.ts'
import { bearer, named, textAt } from '../spec/support/helpers.ts'
import { trainee } from '../spec/support/trainee.ts'
import { closeServer, listenOnLoopback } from '../support/listen.ts'
import { until } from '../support/wait.ts'
import { ownWorld } from '../support/world.ts'

it('80 and 100 % of the money of a token and of a scenario are told once, and the status shows how its target is', async () => {
  const got: JsonObject[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (part: Buffer) => (text += part.toString()))
    request.on('end', () => {
      got.push(JSON.parse(text))
      response.end()
    })
  })
  const url = `http://127.0.0.1:${await listenOnLoopback(server)}/hook`
  onTestFinished(() => closeServer(server))
  const here = await ownWorld({
    settings: {
      'svc.token': 'admin-token-of-the-test',
      'limits.prices.m.input': 1_000_000,
      'limits.prices.m.output': 0,
      'limits.scenarios.dear.cost_per_day': 1,
      'webhooks.chat.url': url,
      'webhooks.chat.secret': `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
      'webhooks.chat.allow_inside': true,
    },
  })
  const admin = bearer('admin-token-of-the-test')
  const { json } = await here.post('/svc/tokens', { name: 'ci', role: 'serve', limits: { cost_per_day: 1000 } }, admin)
  const ask = () => here.post('/v1/chat/completions', { model: 'm', messages: [] }, { ...bearer(textAt(json, 'token')), ...named('dear') })
  expect((await ask()).status).toBe(200)
  expect((await ask()).status).toBe(429)
  await until(() => got.length === 1)
  expect(got[0]).toMatchObject({ type: 'budget', data: { scenario: 'dear', percent: 100, limit: 1 } })
  await here.post('/svc/tokens/ci/limits', { cost_per_day: 0.001 }, admin)
  await until(() => got.length === 2)
  expect(got[1]).toMatchObject({ type: 'budget', data: { token: 'ci', percent: 100, limit: 0.001 } })
  expect((await here.post('/svc/webhooks/retry', {}, admin)).json).toEqual({ set_aside: 0 })
  expect((await here.get('/svc/status', admin)).json['webhooks']).toEqual([
    { name: 'chat', delivering: true, delivered: 2, failed: 0, waiting: 0, set_aside: 0 },
  ])
}, 60_000)

it('a held release, its budget and its promotion are told in order, and counted', async () => {
  const got: JsonObject[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (part: Buffer) => (text += part.toString()))
    request.on('end', () => {
      got.push(JSON.parse(text))
      response.end()
    })
  })
  const url = `http://127.0.0.1:${await listenOnLoopback(server)}/hook`
  onTestFinished(() => closeServer(server))
  const here = await ownWorld({
    settings: {
      ...HOLDING,
      'evolution.max_steps': 1,
      'webhooks.chat.url': url,
      'webhooks.chat.secret': `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
      'webhooks.chat.allow_inside': true,
    },
  })
  await here.exchange('told')
  await trainee(here, 'told').ask('Be brief.')
  await trainee(here, 'told').row(1)
  await until(() => got.length === 2)
  const held = { scenario: 'told', step: 1, operation: 'train', release_id: expect.stringMatching(/^[0-9a-f]{40}$/) }
  expect(got[0]).toMatchObject({ type: 'held', data: held })
  expect(got[1]).toMatchObject({ type: 'budget', data: { ...held, reason: 'evolution.max_steps (1) is used up' } })
  const answer = await here.post('/svc/scenarios/told/promote', { release_id: Object(got[0]?.['data'])['release_id'] })
  expect(answer.status).toBe(200)
  await until(() => got.length === 3)
  expect(got[2]).toMatchObject({ type: 'published', data: { scenario: 'told', step: 2, operation: 'promote' } })
  const metrics = async (): Promise<string> => (await here.get('/metrics')).text
  // Its answer is counted a moment after it was given.
  await until(async () => (await metrics()).includes('svc_webhook_scenarios_waiting{webhook="chat"} 0'))
  expect(await metrics()).toContain('svc_webhook_deliveries_total{webhook="chat",result="delivered"} 3')
})
