/** The seeds of an episode's calls: the same for both sides of a pair, and none where the format or the model takes none. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { expect, it, onTestFinished } from 'vitest'
import { testServer } from '../../test/support/server.ts'
import { meteredLine } from './money/meter.ts'

const CHAT = '/v1/chat/completions'
const HELLO = '{"model":"m"}'

/** A model that keeps what it was asked. */
async function modelWith(
  answer: (response: ServerResponse, body: string, request: IncomingMessage) => unknown = (response) => response.end('{}'),
) {
  const asked: string[] = []
  const url = await testServer(async (request, response) => {
    const body = await text(request)
    asked.push(body)
    answer(response, body, request)
  })
  return { asked, url }
}

async function episode(url: string, luck: string | null) {
  const line = await meteredLine({ url, model: 'm', api: 'openai', apiKey: 'secret' }, luck, {
    hold: async () => null,
    used: () => undefined,
  })
  onTestFinished(() => line.close())
  const ask = (body: string | Uint8Array<ArrayBuffer> = HELLO, path = CHAT, headers = {}) =>
    fetch(`${line.model.url}${path}`, { method: 'POST', body, headers })
  return { ask, seeds: line.seeds }
}

const seedIn = (body = '{}'): unknown => JSON.parse(body).seed

it('are the same in the same call of both sides, and differ by call, pair and repeat', async () => {
  const { asked, url } = await modelWith()
  const [one, other, next] = [await episode(url, 'task 0'), await episode(url, 'task 0'), await episode(url, 'task 1')]
  for (const { ask } of [one, one, other, other, next]) await ask()
  const [first, second, ...more] = asked.map(seedIn)
  expect(more.slice(0, 2)).toEqual([first, second])
  expect(new Set([first, second, more[2]]).size).toBe(3)
  expect(one.seeds).toEqual([first, second])
  expect(one.seeds.every((seed) => Number.isInteger(seed) && Number(seed) >= 0 && Number(seed) < 2 ** 31)).toBe(true)
})

it.each([
  ['of an agent that sends its own', '{"seed":5}', CHAT, {}],
  ['in a format without one', HELLO, '/v1/messages', {}],
  ['in a format without one', HELLO, '/v1/responses', {}],
  ['in a body that is no JSON', '{"model"', CHAT, {}],
  ['in a body that is compressed', new Uint8Array(gzipSync(HELLO)), CHAT, { 'content-encoding': 'gzip' }],
])('are not added to a call %s, which goes on as it is', async (_, body, path, headers) => {
  const { asked, url } = await modelWith()
  const { ask, seeds } = await episode(url, 'task 0')
  expect((await ask(body, path, headers)).status).toBe(200)
  expect(asked).toEqual([Buffer.from(body).toString()])
  expect(seeds).toEqual([null])
})

it('are not added where they are switched off, nor to what asks for no answer', async () => {
  const { asked, url } = await modelWith()
  const [off, on] = [await episode(url, null), await episode(url, 'task 0')]
  await off.ask()
  await on.ask(HELLO, '/v1/messages/count_tokens')
  expect(asked).toEqual([HELLO, HELLO])
  expect([off.seeds, on.seeds]).toEqual([[null], []])
})

it('are left out once a model refuses them: the call is made again without, and the agent sees no error', async () => {
  const { asked, url } = await modelWith((response, body) =>
    body === HELLO ? response.end('{}') : response.writeHead(422).end('{"error":{"message":"Extra inputs are not permitted: seed"}}'),
  )
  const { ask, seeds } = await episode(url, 'task 0')
  expect((await ask()).status).toBe(200)
  expect((await ask()).status).toBe(200)
  expect((await (await episode(url, 'task 1')).ask()).status).toBe(200)
  expect(asked.map((body) => body === HELLO)).toEqual([false, true, true, true])
  expect(seeds).toEqual([null, null])
})

it('stay where a refusal is about something else, also where it happens to name them', async () => {
  const { asked, url } = await modelWith((response, body) => response.writeHead(400).end(body))
  const { ask, seeds } = await episode(url, 'task 0')
  const named = await ask()
  expect([named.status, await named.text()]).toEqual([400, HELLO])
  await ask()
  expect(asked.map((body) => body === HELLO)).toEqual([false, true, false, true])
  const other = await modelWith((response) => response.writeHead(400, { 'content-type': 'text/plain' }).end('too long'))
  const plain = await (await episode(other.url, 'task 0')).ask()
  expect([plain.status, plain.headers.get('content-type'), await plain.text()]).toEqual([400, 'text/plain', 'too long'])
  expect([other.asked.length, seeds]).toEqual([1, []])
})

it('of a call that the model did not answer belong to the next try', async () => {
  let isOut = true
  const { asked, url } = await modelWith((response) => response.writeHead(isOut ? 503 : 200).end('{}'))
  const { ask, seeds } = await episode(url, 'task 0')
  await ask()
  isOut = false
  await ask()
  await ask()
  const sent = asked.map(seedIn)
  expect(sent[1]).toBe(sent[0])
  expect(sent[2]).not.toBe(sent[0])
  expect(seeds).toEqual(sent.slice(1))
})
