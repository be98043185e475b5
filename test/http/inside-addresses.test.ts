/** Addresses of the inside as a scenario's model.url, at a service that others can reach. */
import { describe, expect, it } from 'vitest'
import { ownWorld, sharedWorld } from '../support/world.ts'

const TOKEN = 'a-long-token-of-this-test-0123456789'
const here = sharedWorld({ settings: { 'svc.host': '0.0.0.0', 'svc.token': TOKEN }, headers: { authorization: `Bearer ${TOKEN}` } })

describe("a scenario's model.url at a service that is open to others", () => {
  it.each(['http://127.0.0.1:9', 'http://localhost:9', 'http://169.254.169.254', 'http://[::ffff:10.0.0.1]', 'http://0x7f.1:9'])(
    '%s is refused, and nothing is made',
    async (url) => {
      const { status, json } = await here.post('/svc/scenarios', { name: 'inside', model: { url } })
      expect([status, json]).toMatchObject([400, { error: { code: 'inside_address', message: expect.stringMatching(/^model\.url: /) } }])
      expect((await here.get('/svc/scenarios')).text).not.toContain('inside')
    },
  )

  it('is refused in an update too, and one outside is taken', async () => {
    await here.post('/svc/scenarios', { name: 'moving', model: { url: 'https://api.example.com' } })
    const { json } = await here.post('/svc/scenarios/moving/update', { model: { url: 'http://10.0.0.1' } })
    expect(json).toMatchObject({ error: { code: 'inside_address' } })
  })

  it("may be the deployment's own address, wherever that is", async () => {
    const { status } = await here.post('/svc/scenarios', { name: 'same', model: { url: here.upstream.url, model: 'other' } })
    expect(status).toBe(201)
    const answer = await here.post('/v1/chat/completions', { model: 'm', messages: [] }, { 'x-svc-scenario': 'same' })
    expect(answer.status).toBe(200)
  })
})

it('settings from before, or of another file, are not asked either', async () => {
  const there = await ownWorld({ backend: 'sqlite' })
  const { url } = there.upstream
  const elsewhere = url.replace('127.0.0.1', '127.0.0.2')
  expect((await there.post('/svc/scenarios', { name: 'old', model: { url: elsewhere } })).status).toBe(201)
  await there.restart({ 'inference.allow_inside': '[]' })
  const answer = await there.post('/v1/chat/completions', { model: 'm', messages: [] }, { 'x-svc-scenario': 'old' })
  expect([answer.status, answer.json]).toMatchObject([502, { error: { code: 'inside_address' } }])
  expect(there.upstream.received).toEqual([])
})
