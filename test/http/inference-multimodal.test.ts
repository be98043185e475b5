/** Multimodal calls: JSON in, the gateway's answer out, nothing kept. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { connectTo } from '../support/client.ts'
import { recordsOf } from '../support/kept.ts'
import { sendJson, startUpstream, type Upstream } from '../support/upstream.ts'
import { until } from '../support/wait.ts'
import { ownWorld, world, type World } from '../support/world.ts'

const ROUTES = ['/v1/images', '/v1/images/generations', '/v1/embeddings', '/v1/audio/speech', '/v1/decisions']
const KEY = 'gateway-key'

let gateway: Upstream
let here: World
beforeAll(async () => {
  gateway = await startUpstream()
  here = await world({
    settings: {
      'svc.token': 'service-token',
      'inference.gateway.url': `${gateway.url}/media`,
      'inference.gateway.api_key': KEY,
      'inference.timeout_s': 0.2,
    },
  })
})
beforeEach(() =>
  gateway.answer((_received, response) => {
    response.writeHead(201, { 'content-type': 'audio/mpeg', 'x-secret': '1', 'set-cookie': 'a=b' }).end(Buffer.from([0, 255, 128]))
  }),
)
afterAll(async () => {
  await here.close()
  await gateway.close()
})

const ask = (path: string, body: string | object, scenario = 'media'): ReturnType<World['post']> =>
  here.post(path, body, { authorization: 'Bearer service-token', 'x-svc-scenario': scenario })

describe.each(ROUTES)('%s', (path) => {
  it("is relayed with the gateway's key, and its status, content type and bytes come back [multimodal.relay] [decisions.multimodal-bytes]", async () => {
    const body = '{ "input":"a",  "n":1.0 }'
    const answer = await ask(path, body)
    expect([answer.status, ...answer.bytes, answer.headers['content-type']]).toEqual([201, 0, 255, 128, 'audio/mpeg'])
    expect(answer.headers).not.toHaveProperty('x-secret')
    expect(answer.headers).not.toHaveProperty('set-cookie')
    const received = gateway.received.at(-1)
    expect(received).toMatchObject({ method: 'POST', url: `/media${path}`, headers: { authorization: `Bearer ${KEY}` } })
    expect(received?.body.toString()).toBe(body)
    expect(JSON.stringify(received?.headers)).not.toContain('service-token')
  })

  it('is not recorded, though it may create the scenario [multimodal.not-recorded]', async () => {
    const name = `made-by-${path.replaceAll('/', '-')}`
    const answer = await ask(path, {}, name)
    expect(answer.headers).not.toHaveProperty('x-svc-agent-record-id')
    const records = await here.get(`/svc/scenarios/${name}/records`, { authorization: 'Bearer service-token' })
    expect([records.status, records.json['records']]).toEqual([200, []])
  })

  it('is never streamed [decisions.multimodal-stream]', async () => {
    const asked = gateway.received.length
    const answer = await ask(path, { stream: true })
    expect([answer.status, answer.json]).toMatchObject([400, { error: { code: 'stream_unsupported' } }])
    expect(gateway.received).toHaveLength(asked)
    expect((await ask(path, { stream: false })).status).toBe(201)
  })

  it('takes a JSON object alone, and must name its scenario [errors.400-body] [errors.400-scenario]', async () => {
    for (const body of ['', '[]', 'null', '{', '\ufeff{}']) expect((await ask(path, body)).status).toBe(400)
    expect((await ask(path, {}, ' ')).status).toBe(400)
  })

  it('without a gateway is 501 [multimodal.no-gateway] [errors.501]', async () => {
    const bare = await ownWorld()
    const answer = await bare.post(path, {}, { 'x-svc-scenario': 's' })
    expect([answer.status, answer.json]).toMatchObject([501, { error: { code: 'no_gateway' } }])
    expect(await recordsOf(bare, 's')).toEqual([])
  })
})

describe('a gateway that', () => {
  it.each([
    [429, 429],
    [404, 404],
    [413, 400],
    [302, 502],
    [503, 502],
  ])('refuses with %i is answered with %i, its words and its retry headers', async (upstream, status) => {
    gateway.answer((_received, response) => sendJson(response, upstream, { error: { message: 'not now' } }, { 'retry-after': '5' }))
    const answer = await ask('/v1/images', {})
    expect([answer.status, answer.headers['retry-after'], answer.json]).toMatchObject([status, '5', { error: { message: 'not now' } }])
  })

  it('breaks off is a 502 [decisions.errors-upstream-502]', async () => {
    gateway.answer((_received, response) => void response.destroy())
    expect((await ask('/v1/images', {})).json).toMatchObject({ error: { code: 'upstream_unreachable' } })
    gateway.answer((_received, response) => {
      response.writeHead(200, { 'content-length': '10' }).write('x')
      setImmediate(() => response.destroy())
    })
    const answer = await ask('/v1/images', {})
    expect([answer.status, answer.json]).toMatchObject([502, { error: { code: 'upstream_unreachable' } }])
  })

  it('does not answer in time is a 502 with a code of its own [decisions.errors-upstream-502]', async () => {
    gateway.answer(() => undefined)
    const answer = await ask('/v1/images', {})
    expect([answer.status, answer.json]).toMatchObject([502, { error: { code: 'upstream_timeout' } }])
  })

  it('is at work when its caller leaves is let go of', async () => {
    await here.restart({ 'inference.timeout_s': 600 })
    gateway.answer(() => undefined)
    const { cancelled } = gateway
    const socket = connectTo(here.address)
    socket.write(
      'POST /v1/images HTTP/1.1\r\nhost: x\r\nauthorization: Bearer service-token\r\nx-svc-scenario: media\r\ncontent-length: 2\r\n\r\n{}',
    )
    await until(() => gateway.open === 1)
    socket.destroy()
    await until(() => gateway.cancelled === cancelled + 1)
    expect(here.log.filter(({ event }) => event === 'failure')).toEqual([])
  })
})

it.each(['text/html; charset=utf-8', 'application/xhtml+xml', 'image/svg+xml', 'text/javascript'])(
  'an answer that calls itself %s is bytes: no browser runs it',
  async (type) => {
    gateway.answer((_received, response) => void response.writeHead(200, { 'content-type': type }).end('<script>alert(1)</script>'))
    expect((await ask('/v1/images', {})).headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'x-content-type-options': 'nosniff',
    })
  },
)
