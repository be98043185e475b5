/** What the counter in front of the model's routes counts and passes on. */
import { expect, it, onTestFinished } from 'vitest'
import { text } from 'node:stream/consumers'
import { testServer } from '../../test/support/server.ts'
import { openMeter } from './meter.ts'

const ask = async (address: string) => (await fetch(`${address}/v1/x`, { method: 'POST', body: 'hello' })).text()

it('passes calls on with the token of the service, and counts calls and tokens by episode', async () => {
  const seen: (string | undefined)[][] = []
  const url = await testServer(async (request, response) => {
    seen.push([request.url, request.headers.authorization, await text(request)])
    response.end(
      seen.length === 1
        ? '{"usage":{"prompt_tokens": 12,"completion_tokens":3}}'
        : 'data: {"usage":{"input_tokens":5}}\n\ndata: {"usage":{"output_tokens":1}}\n\ndata: {"usage":{"output_tokens":4}}\n\n',
    )
  })
  const meter = await openMeter(`${url}/base`, 'secret')
  onTestFinished(() => meter.close())
  const [one, other] = [meter.open(), meter.open()]
  expect(await ask(one.url)).toContain('prompt_tokens')
  expect(await ask(one.url)).toContain('output_tokens')
  expect(seen).toEqual(Array.from({ length: 2 }, () => ['/base/v1/x', 'Bearer secret', 'hello']))
  await expect.poll(() => one.usage()).toEqual({ calls: 2, answered: 2, inputTokens: 17, outputTokens: 7 })
  expect(other.usage()).toEqual({ calls: 0, answered: 0, inputTokens: 0, outputTokens: 0 })
  expect(one.url).not.toContain('secret')
})

it('answers nobody without an address of an episode, and 502 where the service is gone', async () => {
  const meter = await openMeter('http://127.0.0.1:9', 'secret')
  onTestFinished(() => meter.close())
  const { url, usage } = meter.open()
  expect((await fetch(url.replace(/\w+$/, 'other/v1/x'))).status).toBe(404)
  expect((await fetch(new URL('/', url))).status).toBe(404)
  expect((await fetch(`${url}/v1/x`, { method: 'POST', body: '{}' })).status).toBe(502)
  expect(usage()).toMatchObject({ calls: 1, answered: 0 })
})
