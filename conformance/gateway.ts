/** Conformance suite for multimodal gateways, for any test runner with `describe` and `it`. */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { Gateway } from '../src/contract/index.ts'
import { assertGivenUp, assertRefused, never, serve, type Runner, type SuiteServer } from './support.ts'

export interface GatewaySuite extends Runner {
  /** A gateway that relays to this base URL without `/v1`, where the suite answers. */
  readonly make: (url: string) => Gateway | Promise<Gateway>
}

/** How long a call may run after an abort. */
const GIVE_UP_MS_MAX = 100

const ROUTE = 'audio/speech'
const BODY = Buffer.from('{"model":"m",  "input":"é 𝄞"}')
/** Not valid text. */
const SOUND = Buffer.from([0, 255, 254, 10, 128, 13])

export function gatewayConformance(suite: GatewaySuite): void {
  const { describe } = suite
  describe('relaying', () => describeRelaying(suite))
  describe('no answer', () => describeSilence(suite))
  describe('giving up', () => describeGivingUp(suite))
}

function describeRelaying(suite: GatewaySuite): void {
  const test = over(suite)
  test('a call goes out as it came, as JSON, to its route under /v1', async ({ gateway, provider }) => {
    await gateway.relay(ROUTE, BODY, never())
    const [received] = provider.received
    assert.equal(received?.path, `/v1/${ROUTE}`)
    assert.match(received.type, /^application\/json/)
    assert.deepEqual(received.body, BODY)
  })
  test('status, content type and bytes come back as they are', async ({ gateway, provider }) => {
    provider.answer((response) => response.writeHead(201, { 'content-type': 'audio/mpeg' }).end(SOUND))
    const { status, headers, body } = await gateway.relay(ROUTE, BODY, never())
    assert.deepEqual({ status, type: headers['content-type'], body: Buffer.from(body) }, { status: 201, type: 'audio/mpeg', body: SOUND })
  })
  test('a refusal of the provider is an answer and says why', async ({ gateway, provider }) => {
    const words = Buffer.from('{"error":{"message":"slow down"}}')
    provider.answer((response) => response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '7' }).end(words))
    const { status, headers, body } = await gateway.relay(ROUTE, BODY, never())
    assert.deepEqual([status, headers['retry-after'], Buffer.from(body)], [429, '7', words])
  })
  test('calls at once do not mix', async ({ gateway, provider }) => {
    provider.answer((response, sent) => response.writeHead(200, { 'content-type': 'application/json' }).end(sent))
    const bodies = Array.from({ length: 8 }, (_, n) => Buffer.from(`{"n":${n}}`))
    const answers = await Promise.all(bodies.map((body) => gateway.relay(ROUTE, body, never())))
    assert.deepEqual(Buffer.concat(answers.map(({ body }) => body)), Buffer.concat(bodies))
  })
}

function describeSilence(suite: GatewaySuite): void {
  const test = over(suite)
  test('a provider that hangs up is a refusal of kind upstream', async ({ gateway, provider }) => {
    provider.answer((response) => response.destroy())
    await assertRefused('upstream', null, gateway.relay(ROUTE, BODY, never()))
  })
  test('an answer that breaks off is a refusal of kind upstream', async ({ gateway, provider }) => {
    provider.answer((response) => {
      response.writeHead(200, { 'content-type': 'audio/mpeg', 'content-length': '100' })
      response.write(SOUND, () => response.destroy())
    })
    await assertRefused('upstream', null, gateway.relay(ROUTE, BODY, never()))
  })
  test('no server at the address is a refusal of kind upstream, and the call after it is answered', async ({ gateway, provider }) => {
    await provider.close()
    await assertRefused('upstream', null, gateway.relay(ROUTE, BODY, never()))
    const other = await startProvider()
    try {
      assert.equal((await (await suite.make(other.url)).relay(ROUTE, BODY, never())).status, 200)
    } finally {
      await other.close()
    }
  })
}

function describeGivingUp(suite: GatewaySuite): void {
  const test = over(suite)
  test('a call that was aborted before it began is not answered', async ({ gateway }) => {
    await assert.rejects(gateway.relay(ROUTE, BODY, AbortSignal.abort()))
  })
  for (const [when, begin] of [
    ['before its answer', () => undefined],
    ['in the middle of its answer', (response: ServerResponse) => void response.writeHead(200).write(SOUND)],
  ] as const) {
    test(`a call that is aborted ${when} is over at once and holds no connection`, async ({ gateway, provider }) => {
      const { promise: begun, resolve } = Promise.withResolvers<ServerResponse>()
      provider.answer((response) => {
        begin(response)
        resolve(response)
      })
      const controller = new AbortController()
      const call = gateway.relay(ROUTE, BODY, controller.signal)
      call.catch(() => undefined)
      const response = await begun
      const closed = new Promise((done) => response.once('close', done))
      controller.abort()
      await assertGivenUp(call, GIVE_UP_MS_MAX)
      await assert.rejects(call)
      await closed
    })
  }
}

interface Stage {
  readonly gateway: Gateway
  readonly provider: Provider
}

function over({ it, make }: GatewaySuite): (name: string, body: (stage: Stage) => Promise<void>) => void {
  return (name, body) =>
    it(name, async () => {
      const provider = await startProvider()
      try {
        await body({ gateway: await make(provider.url), provider })
      } finally {
        await provider.close()
      }
    })
}

type Script = (response: ServerResponse, body: Buffer) => unknown

interface Provider extends SuiteServer {
  readonly received: readonly { readonly path: string; readonly type: string; readonly body: Buffer }[]
  /** Sets the answer of later calls. */
  answer(script: Script): void
}

const PLAIN: Script = (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{}')

async function startProvider(): Promise<Provider> {
  const received: { path: string; type: string; body: Buffer }[] = []
  let script = PLAIN
  const server = await serve(async (request, response) => {
    const body = await buffer(request)
    received.push({ path: request.url ?? '', type: request.headers['content-type'] ?? '', body })
    script(response, body)
  })
  return { ...server, received, answer: (next) => void (script = next) }
}
