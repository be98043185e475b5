/** The inference routes end to end: what is forwarded, what comes back, what is kept. */
import { expect, it } from 'vitest'
import { chatFrames, sendJson } from '../support/upstream.ts'
import { sharedWorld } from '../support/world.ts'

const here = sharedWorld()

const scenario = { 'x-svc-scenario': 'serve' }

it("a whole answer is the provider's, byte for byte, with a receipt in the header", async () => {
  const odd = '{"id" : "x",\n "choices":[ ], "é": "\\u00e9"}'
  here.upstream.answer((_received, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(odd)
  })
  const answer = await here.post('/v1/chat/completions', '{ "model":"m",  "messages":[] }', scenario)
  expect(answer.status).toBe(200)
  expect(answer.text).toBe(odd)
  expect(answer.headers['x-svc-agent-record-id']).toMatch(/^[0-9a-f]{32}$/)
  expect(here.upstream.received.at(-1)?.body.toString()).toBe('{ "model":"m",  "messages":[] }')
})

it('a stream passes every frame as it came and ends with the receipt before [DONE]', async () => {
  here.upstream.answer((_received, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const frame of chatFrames) response.write(frame)
    response.end()
  })
  const answer = await here.post('/v1/chat/completions', { model: 'm', messages: [], stream: true }, scenario)
  expect(answer.text.startsWith(chatFrames.slice(0, -1).join(''))).toBe(true)
  expect(answer.text.endsWith('data: [DONE]\n\n')).toBe(true)
  const receipt = /"svc.agent_record_id":"([0-9a-f]{32})"/.exec(answer.text)?.[1]
  const record = await here.get(`/svc/scenarios/serve/records/${receipt}`)
  expect(record.json['payload']).toMatchObject({
    response: { stream: true, complete: true, choices: [{ message: { content: 'hello world' } }] },
  })
})

it('an upstream that refuses keeps its status and its words', async () => {
  here.upstream.answer((_received, response) => sendJson(response, 429, { error: { message: 'slow down' } }, { 'retry-after': '7' }))
  const answer = await here.post('/v1/chat/completions', { model: 'm', messages: [] }, scenario)
  expect(answer.status).toBe(429)
  expect(answer.headers['retry-after']).toBe('7')
  expect(answer.json).toMatchObject({ error: { message: 'slow down' } })
})
