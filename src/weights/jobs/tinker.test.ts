import { createServer } from 'node:http'
import { onTestFinished, beforeEach, describe, expect, it } from 'vitest'
import { freePort, listenOnLoopback } from '../../../test/support/listen.ts'
import { until } from '../../../test/support/wait.ts'
import { startFakeTrainer, type FakeTrainer } from './testing.ts'
import { makeTrainerClient, samplerPath, type TrainerClient } from './tinker.ts'

const KEY = 'tml-the-trainers-key'
const lora = { rank: 2, seed: 1, train_attn: true, train_mlp: false, train_unembed: false }
const signal = new AbortController().signal

let trainer: FakeTrainer
beforeEach(async () => {
  trainer = await startFakeTrainer()
  return () => trainer.close()
})

function clientOf(url: string, timeoutSeconds = 30): TrainerClient {
  const client = makeTrainerClient({ url, apiKey: KEY, timeoutSeconds })
  onTestFinished(() => client.close())
  return client
}

async function savedAdapter(client: TrainerClient): Promise<string> {
  const session = await client.createSession({}, signal)
  const model = await client.createModel(session, 'tiny', lora, signal)
  await client.saveForSampler({ model, sequence: 1 }, 'job-1', signal)
  return model
}

async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for await (const part of chunks) parts.push(part)
  return Buffer.concat(parts)
}

describe('a call', () => {
  it('whose result is pending, in either way of saying so, is asked for until it is there', async () => {
    trainer.pending('once')
    const client = clientOf(`${trainer.url}/`)
    const session = await client.createSession({ scenario: 'shop' }, signal)
    expect(await client.createModel(session, 'tiny', lora, signal)).toBe(`model-of-${session}`)
    expect(trainer.calls.map(({ name }) => name)).toEqual(['create_session', 'create_model', ...Array(3).fill('retrieve_future')])
  })

  it('whose result never comes is given up when its time is over, with the cure', async () => {
    trainer.pending('never')
    const client = clientOf(trainer.url, 0.2)
    const session = await client.createSession({}, signal)
    await expect(client.createModel(session, 'tiny', lora, signal)).rejects.toMatchObject({
      kind: 'unavailable',
      code: 'trainer_timeout',
      message: expect.stringMatching(/did not finish create_model within 0\.2 s/),
    })
  })

  it('to a trainer that hangs is over when its caller leaves', async () => {
    const silent = createServer(() => undefined)
    let open = 0
    silent.on('connection', () => (open += 1))
    const port = await listenOnLoopback(silent)
    onTestFinished(() => silent.close().closeAllConnections())
    const leaving = new AbortController()
    const asked = clientOf(`http://127.0.0.1:${port}`).createSession({}, leaving.signal)
    await until(() => open === 1)
    leaving.abort(new Error('gone home'))
    await expect(asked).rejects.toThrow('gone home')
  })

  it.each([503, 429])('that is answered with %i is made again', async (status) => {
    trainer.fault((_call, at) => (at < 2 ? { status, body: '{}' } : undefined))
    await clientOf(trainer.url).createSession({}, signal)
    expect(trainer.calls).toHaveLength(3)
  })

  it('that fails however often it is made says what the trainer said', async () => {
    trainer.fault(() => ({ status: 500, body: JSON.stringify({ detail: `no memory for ${KEY}` }) }))
    await expect(clientOf(trainer.url).createSession({}, signal)).rejects.toMatchObject({
      kind: 'upstream',
      code: 'trainer_failed',
      message: expect.stringMatching(/status 500: no memory for \(key\)$/),
    })
  })

  it.each([
    [400, 'invalid', 'trainer_refused'],
    [401, 'invalid', 'trainer_refused'],
    [404, 'unknown', 'trainer_forgot'],
    [409, 'conflict', 'trainer_conflict'],
  ])('that is refused with %i is not made again', async (status, kind, code) => {
    trainer.fault(() => ({ status, body: '{"detail":"rank must be 1 to 64"}' }))
    const refused = clientOf(trainer.url).createSession({}, signal)
    await expect(refused).rejects.toMatchObject({ kind, code, message: expect.stringContaining('rank must be 1 to 64') })
    expect(trainer.calls).toHaveLength(1)
  })

  it('to nobody says whom it could not reach and how to start one', async () => {
    const host = `127.0.0.1:${await freePort()}`
    await expect(clientOf(`http://${host}`).createSession({}, signal)).rejects.toMatchObject({
      kind: 'unavailable',
      code: 'trainer_unreachable',
      message: expect.stringMatching(new RegExp(`${host}.*svc trainer start`)),
    })
  })

  it.each(['<html>', '[]', '{"session_id":7}', '{"session_id":"../../etc"}'])('answered with %s is refused', async (body) => {
    trainer.fault(() => ({ status: 200, body }))
    await expect(clientOf(trainer.url).createSession({}, signal)).rejects.toMatchObject({ code: 'trainer_answer' })
  })
})

describe('an address', () => {
  it.each(['trainer:8000', 'ftp://trainer', 'not an address', 'http://me:secret@trainer'])(
    'like %s is refused without being repeated',
    (url) => {
      expect(() => makeTrainerClient({ url, apiKey: null, timeoutSeconds: 1 })).toThrow(
        /^the address of the trainer must be an http address/,
      )
    },
  )
})

describe('an archive', () => {
  it('comes as it was saved', async () => {
    const client = clientOf(trainer.url)
    const model = await savedAdapter(client)
    expect(await client.knows(samplerPath(model, 'job-1'), signal)).toBe(true)
    expect(await bytesOf(await client.archive(model, 'job-1', signal))).toEqual(trainer.archiveOf(samplerPath(model, 'job-1')))
  })

  it('that lies elsewhere is fetched there, and the key is not told', async () => {
    const seen: unknown[] = []
    const elsewhere = createServer((request, response) => {
      seen.push(request.headers['x-api-key'], request.headers.authorization)
      response.end('the bytes')
    })
    const port = await listenOnLoopback(elsewhere)
    onTestFinished(() => elsewhere.close().closeAllConnections())
    trainer.archivesAt(`http://127.0.0.1:${port}`)
    const client = clientOf(trainer.url)
    const model = await savedAdapter(client)
    expect(String(await bytesOf(await client.archive(model, 'job-1', signal)))).toBe('the bytes')
    expect(seen).toEqual([undefined, undefined])
  })

  it('that lies elsewhere after a detour of the trainer is fetched there, and the key is not told', async () => {
    const seen: unknown[] = []
    const elsewhere = createServer((request, response) => {
      seen.push(request.headers['x-api-key'], request.headers.authorization)
      response.end('the bytes')
    })
    const port = await listenOnLoopback(elsewhere)
    onTestFinished(() => elsewhere.close().closeAllConnections())
    const detour = createServer((request, response) => {
      const location = request.url === '/kept' ? `http://127.0.0.1:${port}/x` : '/kept'
      seen.push(request.headers['x-api-key'])
      response.writeHead(302, { location }).end()
    })
    const trainerPort = await listenOnLoopback(detour)
    onTestFinished(() => detour.close().closeAllConnections())
    const client = clientOf(`http://127.0.0.1:${trainerPort}`)
    expect(String(await bytesOf(await client.archive('m', 'job-1', signal)))).toBe('the bytes')
    expect(seen).toEqual([KEY, KEY, undefined, undefined])
  })

  it('that is sent on in circles is given up', async () => {
    const circle = createServer((_request, response) => void response.writeHead(302, { location: '/again' }).end())
    const port = await listenOnLoopback(circle)
    onTestFinished(() => circle.close().closeAllConnections())
    await expect(clientOf(`http://127.0.0.1:${port}`).archive('m', 'job-1', signal)).rejects.toMatchObject({ code: 'trainer_answer' })
  })

  it('that breaks off on the way is a trainer that cannot be reached', async () => {
    const breaking = createServer((_request, response) => {
      response.writeHead(200, { 'content-length': 1000 })
      response.write('half', () => response.destroy())
    })
    const port = await listenOnLoopback(breaking)
    onTestFinished(() => breaking.close().closeAllConnections())
    const archive = clientOf(`http://127.0.0.1:${port}`).archive('m', 'job-1', signal)
    await expect(archive.then(bytesOf)).rejects.toMatchObject({ code: 'trainer_unreachable' })
  })

  it('that is not there is unknown', async () => {
    await expect(clientOf(trainer.url).archive('m', 'job-1', signal)).rejects.toMatchObject({ kind: 'unknown' })
    expect(await clientOf(trainer.url).knows('tinker://m/weights/x', signal)).toBe(false)
  })
})
