/** A whole service tells a target of what its scenarios do. */
import { createServer } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { HOLDING } from '../../src/cli/testing/surroundings.ts'
import type { JsonObject } from '../../src/contract/index.ts'
import { trainee } from '../spec/support/trainee.ts'
import { closeServer, listenOnLoopback } from '../support/listen.ts'
import { until } from '../support/wait.ts'
import { ownWorld } from '../support/world.ts'

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
