/** Clients that disconnect: the upstream call is aborted, nothing leaks, and the next request is answered. */
import { beforeEach, describe, expect, it } from 'vitest'
import { connectTo, openStream, sendAndListen, type Open } from '../support/client.ts'
import { recordsOf, responsesOf } from '../support/kept.ts'
import { answerPlainly, beginFrames, chatFrames } from '../support/upstream.ts'
import { until } from '../support/wait.ts'
import { sharedWorld } from '../support/world.ts'

const WAVES = 10
const CLIENTS_PER_WAVE = 100
const PATHS = ['/v1/chat/completions', '/v1/responses', '/v1/messages']

const here = sharedWorld()
beforeEach(() => here.upstream.answer(answerPlainly))

/** Nothing of a call is left at the upstream, in the runtime, or in the log. */
async function expectNothingLeft(): Promise<void> {
  await until(() => here.upstream.open === 0)
  const { json } = await here.get('/svc/status')
  expect(json['serving']).toMatchObject({ upstreams: [{ running: 0, queued: 0 }] })
  expect(here.log.filter(({ event }) => event === 'failure')).toEqual([])
}

async function storedIn(scenario: string): Promise<number> {
  const { records } = (await here.get(`/svc/scenarios/${scenario}/records?limit=100`)).json
  return Array.isArray(records) ? records.length : 0
}

/** A first frame, and then nothing for as long as the connection is held. */
function answerForEver(): void {
  here.upstream.answer((_received, response) => void beginFrames(response, chatFrames.slice(0, 1)))
}

it('a thousand clients that leave in the middle of their streams are all cancelled upstream and kept, and the service goes on answering [decisions.streams-cancel]', async () => {
  answerForEver()
  const { cancelled } = here.upstream
  for (let wave = 0; wave < WAVES; wave++) {
    const headers = { 'x-svc-scenario': `wave-${wave}` }
    const opening = Array.from({ length: CLIENTS_PER_WAVE }, (_unused, client) =>
      openStream(here.address, PATHS[client % PATHS.length] ?? '', { stream: true }, headers),
    )
    const clients: readonly Open[] = await Promise.all(opening)
    await Promise.all(clients.map((client) => client.seen('data: ')))
    expect(here.upstream.open).toBe(CLIENTS_PER_WAVE)
    for (const client of clients) client.drop()
    await until(() => here.upstream.open === 0)
  }
  expect(here.upstream.cancelled - cancelled).toBe(WAVES * CLIENTS_PER_WAVE)
  for (let wave = 0; wave < WAVES; wave++) await until(async () => (await storedIn(`wave-${wave}`)) === CLIENTS_PER_WAVE)
  const responses = await responsesOf(here, 'wave-0')
  expect(responses.every(({ complete, cause }) => complete === false && cause === 'the client closed the connection')).toBe(true)
  here.upstream.answer(answerPlainly)
  expect(await here.exchange('after')).toMatch(/^[0-9a-f]{32}$/)
  await expectNothingLeft()
})

describe('a client that leaves', () => {
  it.each([...PATHS, '/v1/messages/count_tokens'])('before its answer began takes the upstream call with it: %s', async (path) => {
    here.upstream.answer(() => undefined)
    const { cancelled } = here.upstream
    const sent = Array.from({ length: 20 }, () => sendAndListen(here.address, path, {}, { 'x-svc-scenario': 'early' }))
    await until(() => here.upstream.open === sent.length)
    for (const one of sent) one.drop()
    await until(() => here.upstream.cancelled === cancelled + sent.length)
    await expectNothingLeft()
    expect(await recordsOf(here, 'early')).toEqual([])
  })

  it('in the middle of a whole answer leaves no record, since no client was answered', async () => {
    here.upstream.answer((_received, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' }).write('{"id":')
    })
    const { cancelled } = here.upstream
    const sent = sendAndListen(here.address, '/v1/chat/completions', {}, { 'x-svc-scenario': 'middle' })
    await until(() => here.upstream.open === 1)
    sent.drop()
    await until(() => here.upstream.cancelled === cancelled + 1)
    await expectNothingLeft()
    expect(await recordsOf(here, 'middle')).toEqual([])
  })

  it('before it sent its whole body asks nothing of the upstream', async () => {
    const asked = here.upstream.received.length
    const lines = here.log.length
    const socket = connectTo(here.address)
    socket.write('POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nx-svc-scenario: cut\r\ncontent-length: 100\r\n\r\n{"model":', () =>
      socket.destroy(),
    )
    await until(() => here.log.length > lines)
    expect(here.log.at(-1)).toMatchObject({ route: '/v1/chat/completions', status: 499 })
    expect(here.upstream.received).toHaveLength(asked)
    expect((await here.get('/svc/scenarios/cut/records')).status).toBe(404)
    await expectNothingLeft()
  })

  it('without reading a long stream is let go of as well', async () => {
    const frame = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'x'.repeat(65_536) } }] })}\n\n`
    here.upstream.answer((_received, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const pour = (): void => {
        while (!response.destroyed && response.write(frame)) continue
        response.once('drain', pour)
      }
      pour()
    })
    const socket = connectTo(here.address).pause()
    socket.write('POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nx-svc-scenario: slow\r\ncontent-length: 15\r\n\r\n{"stream":true}')
    await until(() => here.upstream.open === 1)
    const { cancelled } = here.upstream
    socket.destroy()
    await until(() => here.upstream.cancelled === cancelled + 1)
    await expectNothingLeft()
    await until(async () => (await recordsOf(here, 'slow')).length === 1)
    expect(await responsesOf(here, 'slow')).toMatchObject([{ complete: false, cause: 'the client closed the connection' }])
  })

  it('of GET /v1/models takes the upstream call with it', async () => {
    here.upstream.answer(() => undefined)
    const { cancelled } = here.upstream
    const socket = connectTo(here.address)
    socket.write('GET /v1/models HTTP/1.1\r\nhost: x\r\n\r\n')
    await until(() => here.upstream.open === 1)
    socket.destroy()
    await until(() => here.upstream.cancelled === cancelled + 1)
    await expectNothingLeft()
  })
})
