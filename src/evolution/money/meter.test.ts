/** What the counter in front of the model's routes counts and passes on. */
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { testServer } from '../../../test/support/server.ts'
import type { ModelAddress } from '../../contract/index.ts'
import { CapReached } from './caps.ts'
import { meteredLine, type CallCount } from './meter.ts'
import type { ModelCallUse } from './spent.ts'

const ask = async (address: string) => (await fetch(`${address}/v1/x`, { method: 'POST', body: 'hello' })).text()
const addressOf = (url: string, more: Partial<ModelAddress> = {}): ModelAddress => ({
  url,
  model: 'm',
  api: 'openai',
  apiKey: 'secret',
  ...more,
})

async function lineTo(url: string, more: Partial<ModelAddress> = {}) {
  const used: ModelCallUse[] = []
  const line = await meteredLine(addressOf(url, more), null, { hold: async () => null, used: (call) => void used.push(call) })
  onTestFinished(() => line.close())
  return { ...line, used }
}

it('passes calls on with the token of the service, and counts tokens by episode', async () => {
  const seen: (string | undefined)[][] = []
  const url = await testServer(async (request, response) => {
    seen.push([request.url, request.headers.authorization, await text(request)])
    response.end(
      seen.length === 1
        ? '{"usage":{"prompt_tokens": 12,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens":3}}'
        : `data: {"usage":{"input_tokens":5,"cache_read_input_tokens":7}}\n\n${'data: {}\n\n'.repeat(4000)}data: {"usage":{"output_tokens":1}}\n\ndata: {"usage":{"output_tokens":4}}\n\n`,
    )
  })
  const [one, other] = [await lineTo(`${url}/base`), await lineTo(`${url}/base`)]
  expect(await ask(one.model.url)).toContain('prompt_tokens')
  expect(await ask(one.model.url)).toContain('output_tokens')
  expect(seen).toEqual(Array.from({ length: 2 }, () => ['/base/v1/x', 'Bearer secret', 'hello']))
  await one.close()
  expect(one.used).toEqual([
    { input: 12, cached: 4, output: 3, model: 'm', isAnswered: true },
    { input: 12, cached: 7, output: 4, model: 'm', isAnswered: true },
  ])
  expect(other.used).toEqual([])
  expect(JSON.stringify(one.model)).not.toContain('secret')
})

it('estimates an answer that counts nothing, and names the model as the answer does where none is configured', async () => {
  const url = await testServer((_request, response) => response.end(`{"model":"big-1","text":"${'x'.repeat(375)}"}`))
  const line = await lineTo(url, { model: null })
  await ask(line.model.url)
  await line.close()
  expect(line.used).toEqual([{ input: 2, cached: 0, output: 101, model: 'big-1', isAnswered: true }])
})

it('answers nobody without an address of an episode or after its end, and 502 where the service is gone', async () => {
  const line = await lineTo('http://127.0.0.1:9')
  const { url } = line.model
  expect((await fetch(url.replace(/\w+$/, 'other/v1/x'))).status).toBe(404)
  expect((await fetch(new URL('/', url))).status).toBe(404)
  expect((await fetch(`${url}/v1/x`, { method: 'POST', body: '{}' })).status).toBe(502)
  await line.close()
  expect(line.used).toEqual([{ input: 0, cached: 0, output: 0, model: 'm', isAnswered: false }])
  expect((await fetch(`${url}/v1/x`, { method: 'POST', body: '{}' })).status).toBe(404)
})

it('counts a call that breaks off, and a refused one as nothing', async () => {
  const url = await testServer((request, response) => {
    if (request.url === '/v1/refused') return void response.writeHead(429).end('{"usage":{"prompt_tokens":9}}')
    response.write('{"usage":{"prompt_tokens":9,"completion_tokens":8}}')
    return undefined
  })
  const line = await lineTo(url)
  expect((await fetch(`${line.model.url}/v1/refused`, { method: 'POST', body: 'hello' })).status).toBe(429)
  const hanging = await fetch(`${line.model.url}/v1/x`, { method: 'POST', body: 'hello' })
  const part = await hanging.body?.getReader().read()
  expect(part?.done).toBe(false)
  await line.close()
  expect(line.used.map(({ input, output, isAnswered }) => [input, output, isAnswered])).toEqual([
    [0, 0, false],
    [9, 8, true],
  ])
})

const ASKED = JSON.stringify({ max_tokens: 50, messages: [] })
const asking = (address: string, signal?: AbortSignal): Promise<Response> =>
  fetch(`${address}/v1/chat/completions`, { method: 'POST', body: ASKED, ...(signal && { signal }) })

const holdAll: CallCount['hold'] = async (bound) => ({ id: 'h', bound })
const holdNone: CallCount['hold'] = () => Promise.reject(new CapReached('raise it'))

async function heldLineTo(url: string) {
  const used: ModelCallUse[] = []
  const line = await meteredLine(addressOf(url), null, { hold: holdAll, used: (call) => void used.push(call) })
  onTestFinished(() => line.close())
  return { ...line, used }
}

it('a held call whose agent leaves counts as all that was held, one that the model refused as nothing', async () => {
  const asked = Promise.withResolvers<void>()
  let isRefusing = true
  const url = await testServer((_request, response) => (isRefusing ? void response.writeHead(429).end() : asked.resolve()))
  const line = await heldLineTo(url)
  expect((await asking(line.model.url)).status).toBe(429)
  isRefusing = false
  const leaving = new AbortController()
  const left = asking(line.model.url, leaving.signal).catch(() => null)
  await asked.promise
  leaving.abort()
  await left
  await line.close()
  expect(line.used.map(({ input, output }) => [input, output])).toEqual([
    [0, 0],
    [ASKED.length, 50],
  ])
})

it('a call that a cap refuses is not sent, and tells the agent and whoever plays it', async () => {
  let sent = 0
  const url = await testServer((_request, response) => void response.end(String((sent += 1))))
  const line = await meteredLine(addressOf(url), null, { hold: holdNone, used: () => undefined })
  onTestFinished(() => line.close())
  const answer = await asking(line.model.url)
  expect([answer.status, await answer.json()]).toEqual([403, { error: expect.objectContaining({ message: 'raise it', code: 'step_cap' }) }])
  expect(line.cut.reason).toEqual(new CapReached('raise it'))
  expect(sent).toBe(0)
})
