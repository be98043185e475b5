import { buffer } from 'node:stream/consumers'
import { beforeEach, describe, expect, it } from 'vitest'
import { freePort } from '../../../test/support/listen.ts'
import { until } from '../../../test/support/wait.ts'
import { clientOf, KEY, LORA, startFakeTrainer, startServer, type FakeTrainer } from './testing.ts'
import { makeTrainerClient, samplerPath, type TrainerClient } from './tinker.ts'

const signal = new AbortController().signal

let trainer: FakeTrainer
beforeEach(async () => {
  trainer = await startFakeTrainer()
})

async function savedAdapter(client: TrainerClient): Promise<string> {
  const session = await client.createSession({}, signal)
  const model = await client.createModel(session, 'tiny', LORA, signal)
  await client.saveForSampler({ model, sequence: 1 }, 'job-1', signal)
  return model
}

/** The bytes of an archive that lies elsewhere, and the keys that were sent there. */
async function startElsewhere(seen: unknown[]): Promise<string> {
  return startServer((request, response) => {
    seen.push(request.headers['x-api-key'], request.headers.authorization)
    response.end('the bytes')
  })
}

describe('a call', () => {
  it('whose result is pending, in either form, is polled until it is there', async () => {
    trainer.pending = 'once'
    const client = clientOf(`${trainer.url}/`)
    const session = await client.createSession({ scenario: 'shop' }, signal)
    expect(await client.createModel(session, 'tiny', LORA, signal)).toBe(`model-of-${session}`)
    expect(trainer.calls.map(({ name }) => name)).toEqual(['create_session', 'create_model', ...Array(3).fill('retrieve_future')])
  })

  it('whose result never comes fails after its time limit, with advice', async () => {
    trainer.pending = 'never'
    const client = clientOf(trainer.url, 0.2)
    const session = await client.createSession({}, signal)
    await expect(client.createModel(session, 'tiny', LORA, signal)).rejects.toMatchObject({
      kind: 'unavailable',
      code: 'trainer_timeout',
      message: expect.stringMatching(/did not finish create_model within 0\.2 s/),
    })
  })

  it('to a trainer that hangs ends when its caller leaves', async () => {
    let requests = 0
    const silent = await startServer(() => (requests += 1))
    const leaving = new AbortController()
    const asked = clientOf(silent).createSession({}, leaving.signal)
    await until(() => requests === 1)
    leaving.abort(new Error('the caller left'))
    await expect(asked).rejects.toThrow('the caller left')
  })

  it.each([503, 429])('that is answered with %i is made again', async (status) => {
    trainer.faults = (_call, at) => (at < 2 ? { status, body: '{}' } : undefined)
    await clientOf(trainer.url).createSession({}, signal)
    expect(trainer.calls).toHaveLength(3)
  })

  it('that fails every time reports what the trainer said, without the key', async () => {
    trainer.faults = () => ({ status: 500, body: JSON.stringify({ detail: `no memory for ${KEY}` }) })
    await expect(clientOf(trainer.url).createSession({}, signal)).rejects.toMatchObject({
      kind: 'upstream',
      code: 'trainer_failed',
      message: expect.stringMatching(/status 500: no memory for \[redacted\]$/),
    })
  })

  it.each([
    [400, 'invalid', 'trainer_refused'],
    [401, 'invalid', 'trainer_refused'],
    [404, 'unknown', 'trainer_forgot'],
    [409, 'conflict', 'trainer_conflict'],
  ])('that is refused with %i is not made again', async (status, kind, code) => {
    trainer.faults = () => ({ status, body: '{"detail":"rank must be 1 to 64"}' })
    const refused = clientOf(trainer.url).createSession({}, signal)
    await expect(refused).rejects.toMatchObject({ kind, code, message: expect.stringContaining('rank must be 1 to 64') })
    expect(trainer.calls).toHaveLength(1)
  })

  it('to an address without a trainer names the host and how to start one', async () => {
    const host = `127.0.0.1:${await freePort()}`
    await expect(clientOf(`http://${host}`).createSession({}, signal)).rejects.toMatchObject({
      kind: 'unavailable',
      code: 'trainer_unreachable',
      message: expect.stringMatching(new RegExp(`${host}.*svc trainer start`)),
    })
  })

  it.each(['<html>', '[]', '{"session_id":7}', '{"session_id":"../../etc"}'])('answered with %s is refused', async (body) => {
    trainer.faults = () => ({ status: 200, body })
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
    expect(await buffer(await client.archive(model, 'job-1', signal))).toEqual(trainer.archiveOf(samplerPath(model, 'job-1')))
  })

  it('that lies elsewhere is fetched there, without the key', async () => {
    const seen: unknown[] = []
    trainer.archivesAt = await startElsewhere(seen)
    const client = clientOf(trainer.url)
    const model = await savedAdapter(client)
    expect(String(await buffer(await client.archive(model, 'job-1', signal)))).toBe('the bytes')
    expect(seen).toEqual([undefined, undefined])
  })

  it('that lies elsewhere after a redirection inside the trainer is fetched there, without the key', async () => {
    const seen: unknown[] = []
    const elsewhere = await startElsewhere(seen)
    const detour = await startServer((request, response) => {
      const location = request.url === '/kept' ? `${elsewhere}/x` : '/kept'
      seen.push(request.headers['x-api-key'])
      response.writeHead(302, { location }).end()
    })
    expect(String(await buffer(await clientOf(detour).archive('m', 'job-1', signal)))).toBe('the bytes')
    expect(seen).toEqual([KEY, KEY, undefined, undefined])
  })

  it('whose address is answered as JSON is fetched there, without the key', async () => {
    const seen: unknown[] = []
    const elsewhere = await startElsewhere(seen)
    const naming = await startServer((request, response) => {
      seen.push(request.headers['x-api-key'])
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ url: `${elsewhere}/x`, expires: null }))
    })
    expect(String(await buffer(await clientOf(naming).archive('m', 'job-1', signal)))).toBe('the bytes')
    expect(seen).toEqual([KEY, undefined, undefined])
  })

  it.each(['{}', '{"url":7}', '{"url":"file:///etc/passwd"}', '{"url":"tinker://m"}'])(
    'whose address is answered as %s is refused',
    async (body) => {
      const naming = await startServer(
        (_request, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(body),
      )
      await expect(clientOf(naming).archive('m', 'job-1', signal)).rejects.toMatchObject({ code: 'trainer_answer' })
    },
  )

  it('that is redirected in circles is given up', async () => {
    const circle = await startServer((_request, response) => void response.writeHead(302, { location: '/again' }).end())
    await expect(clientOf(circle).archive('m', 'job-1', signal)).rejects.toMatchObject({ code: 'trainer_answer' })
  })

  it('that breaks off on the way is a trainer that cannot be reached', async () => {
    const breaking = await startServer((_request, response) => {
      response.writeHead(200, { 'content-length': 1000 })
      response.write('half', () => response.destroy())
    })
    const archive = clientOf(breaking).archive('m', 'job-1', signal)
    await expect(archive.then(buffer)).rejects.toMatchObject({ code: 'trainer_unreachable' })
  })

  it('that is not there is unknown', async () => {
    await expect(clientOf(trainer.url).archive('m', 'job-1', signal)).rejects.toMatchObject({ kind: 'unknown' })
    expect(await clientOf(trainer.url).knows('tinker://m/weights/x', signal)).toBe(false)
  })
})
