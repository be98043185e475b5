/** The evaluation routes: the same answers, not recorded, for scenarios that are loaded here. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { chatStreams } from '../support/chat-streams.ts'
import { recordsOf } from '../support/kept.ts'
import { messageStreams } from '../support/message-streams.ts'
import { responseStreams } from '../support/response-streams.ts'
import { answerPlainly, sendFrames, sendJson } from '../support/upstream.ts'
import { ownWorld, sharedWorld } from '../support/world.ts'

const here = sharedWorld()
beforeAll(async () => {
  for (const name of ['played', 'quiet', 'streamed']) await here.post('/svc/scenarios', { name })
})
beforeEach(() => here.upstream.answer(answerPlainly))

const ROUTES = ['/v1/chat/completions', '/v1/responses', '/v1/messages', '/v1/messages/count_tokens']
const STREAMS = [
  { path: '/v1/chat/completions', streams: chatStreams },
  { path: '/v1/responses', streams: responseStreams },
  { path: '/v1/messages', streams: messageStreams },
]
const evaluation = (path: string, scenario = 'played'): string => `/svc/scenarios/${scenario}/evaluation${path}`

describe.each(ROUTES)('the evaluation of %s', (path) => {
  it('answers like the route it embeds, asked by its path [evaluation.served]', async () => {
    const body = '{ "model":"m" }'
    const traffic = await here.post(`${path}?beta=true`, body, { 'x-svc-scenario': 'played' })
    const asked = here.upstream.received.at(-1)
    const answer = await here.post(`${evaluation(path)}?beta=true`, body, { 'user-agent': 'agent/1' })
    expect([answer.status, answer.text]).toEqual([200, traffic.text])
    const received = here.upstream.received.at(-1)
    expect(received).toMatchObject({ url: asked?.url, headers: { 'user-agent': 'agent/1' } })
    expect(received?.body.toString()).toBe(body)
  })

  it('is not recorded and carries no receipt [evaluation.not-recorded]', async () => {
    const answer = await here.post(evaluation(path, 'quiet'), {})
    expect(answer.headers).not.toHaveProperty('x-svc-agent-record-id')
    expect(await recordsOf(here, 'quiet')).toEqual([])
    expect(here.log.findLast(({ scenario }) => scenario === 'quiet')).not.toHaveProperty('receipt')
  })

  it('is 404 for a scenario that is not there, and creates none [evaluation.loaded-only]', async () => {
    for (const name of ['nowhere', '%01', 'a%2Fb']) {
      const answer = await here.post(evaluation(path, name), {})
      expect(answer.status).toBe(404)
    }
    const { json } = await here.get('/svc/scenarios')
    expect(JSON.stringify(json)).not.toContain('nowhere')
  })

  it('is 404 for a component that is not served [evaluation.component-unknown] [errors.404-evaluation]', async () => {
    const answer = await here.post(`/svc/scenarios/played/components/skills/evaluation${path}`, {})
    expect(answer.status).toBe(404)
    expect((await here.post(`/svc/scenarios/nowhere/components/skills/evaluation${path}`, {})).status).toBe(404)
  })

  it('refuses in the shape of its format [decisions.errors-shape]', async () => {
    here.upstream.answer((_received, response) => sendJson(response, 429, { error: { message: 'slow down' } }, { 'retry-after': '3' }))
    const answer = await here.post(evaluation(path), {})
    expect([answer.status, answer.headers['retry-after']]).toEqual([429, '3'])
    expect(answer.json['type']).toBe(path.startsWith('/v1/messages') ? 'error' : undefined)
    expect(answer.json).toMatchObject({ error: { message: 'slow down', type: 'rate_limit_error' } })
  })
})

describe('an evaluation', () => {
  it.each(STREAMS)('streams every frame of $path as it came, the last one too [evaluation.served]', async ({ path, streams }) => {
    for (const { frames } of streams) {
      here.upstream.answer((_received, response) => sendFrames(response, frames))
      const answer = await here.post(evaluation(path, 'streamed'), { stream: true })
      const last = frames.findLastIndex((frame) => frame.startsWith('event:') || path.endsWith('/completions'))
      expect(answer.text).toBe(frames.slice(0, last + 1).join(''))
    }
    expect(await recordsOf(here, 'streamed')).toEqual([])
    expect(here.log.filter(({ scenario, receipt }) => scenario === 'streamed' && receipt !== undefined)).toEqual([])
  })

  it('of a scenario that exists but is not loaded here is 404, and loads nothing [evaluation.loaded-only]', async () => {
    const small = await ownWorld({ settings: { 'svc.max_loaded_scenarios': 1 } })
    await small.exchange('first')
    await small.exchange('second')
    expect((await small.post(evaluation('/v1/chat/completions', 'first'), {})).status).toBe(404)
    expect((await small.post(evaluation('/v1/chat/completions', 'second'), {})).status).toBe(200)
  })
})
