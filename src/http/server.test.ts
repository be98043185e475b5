import { EventEmitter, once } from 'node:events'
import { Agent, request as openRequest, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectSecurely } from 'node:tls'
import { expect, it } from 'vitest'
import { makeCertificate } from '../../test/support/certificate.ts'
import { temporaryFolder } from '../../test/support/folder.ts'
import { listen } from './server.ts'

it('a client that sends no request and does not hang up is disconnected', async () => {
  const listening = await listen((_request, response) => response.end(), { host: '127.0.0.1', port: 0 }, { graceSeconds: 600 })
  const stranger = connect({ port: listening.port, host: '127.0.0.1', allowHalfOpen: true })
  stranger.on('error', () => undefined)
  stranger.write('this is no request\r\n\r\n')
  const [answer] = await once(stranger, 'data')
  expect(String(answer)).toContain('400 Bad Request')
  // No connection is left: otherwise this would wait for the stranger until the grace is over.
  await listening.close()
  stranger.destroy()
})

const begin: RequestListener = (request, response) => {
  response.write('the beginning of an answer')
  request.resume()
}

it('an unreadable request in the middle of an answer adds nothing to that answer', async () => {
  const listening = await listen(begin, { host: '127.0.0.1', port: 0 })
  const client = connect({ port: listening.port, host: '127.0.0.1' })
  client.on('error', () => undefined)
  client.write('POST / HTTP/1.1\r\nhost: here\r\ntransfer-encoding: chunked\r\n\r\n')
  const heard: Buffer[] = []
  client.on('data', (part: Buffer) => {
    heard.push(part)
    client.write('this is no chunk\r\n')
  })
  await once(client, 'close')
  expect(Buffer.concat(heard).toString()).toContain('the beginning of an answer')
  expect(Buffer.concat(heard).toString()).not.toContain('400')
  await listening.close()
})

it('a connection that the system cannot hand over fails alone, and the service goes on', async () => {
  let server: unknown
  const answer: RequestListener = (request, response) => {
    server = Reflect.get(request.socket, 'server')
    response.end('here')
  }
  const listening = await listen(answer, { host: '127.0.0.1', port: 0 })
  const ask = async (): Promise<string> => (await fetch(listening.address, { headers: { connection: 'close' } })).text()
  await ask()
  if (!(server instanceof EventEmitter)) throw new Error('the request does not know its server')
  for (let times = 0; times < 3; times++) server.emit('error', Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' }))
  expect(await ask()).toBe('here')
  await listening.close()
})

it('where a request came from is believed of the threads of this service alone', async () => {
  const said: unknown[] = []
  const note: RequestListener = (request, response) => {
    said.push(request.headers['x-svc-relayed-from'])
    response.end()
  }
  const path = join(temporaryFolder(), 'relay')
  const [open, relay] = await Promise.all([listen(note, { host: '127.0.0.1', port: 0 }), listen(note, { path })])
  for (const at of [{ host: '127.0.0.1', port: open.port }, { path }]) {
    const client = connect(at)
    client.write('GET / HTTP/1.1\r\nhost: here\r\nx-svc-relayed-from: 203.0.113.7\r\nconnection: close\r\n\r\n')
    await once(client.resume(), 'close')
  }
  expect(said).toEqual([undefined, '203.0.113.7'])
  await Promise.all([open.close(), relay.close()])
})

/** Turns of the event loop until this many requests have come. All of them wait to be accepted before the first turn. */
async function turnsFor(requests: number, reusePort: boolean): Promise<number> {
  const { promise: all, resolve } = Promise.withResolvers<void>()
  let come = 0
  const answer: RequestListener = (_request, response) => {
    response.end('here')
    come += 1
    if (come === requests) resolve()
  }
  const listening = await listen(answer, { host: '127.0.0.1', port: 0, reusePort })
  const clients = Array.from({ length: requests }, () => connect({ port: listening.port, host: '127.0.0.1' }).on('error', () => undefined))
  for (const client of clients) client.write('GET / HTTP/1.1\r\nhost: here\r\n\r\n')
  let turns = 0
  const count = (): void => {
    turns += 1
    if (come < requests) setImmediate(count)
  }
  count()
  await all
  for (const client of clients) client.destroy()
  await listening.close()
  return turns
}

it.runIf(process.platform === 'linux')('a burst of connections is let in many at a time where the port may be shared', async () => {
  const requests = 128
  expect(await turnsFor(requests, false)).toBeGreaterThanOrEqual(requests)
  expect(await turnsFor(requests, true)).toBeLessThan(requests)
})

function tlsFiles() {
  const files = makeCertificate(temporaryFolder(), 'left')
  const [certificate, key] = [readFileSync(files.certificate, 'utf8'), readFileSync(files.key, 'utf8')]
  return { certificate, key, minVersion: 'TLSv1.2', expiresAt: 0 } as const
}

async function leave(socket: Socket, event: string): Promise<void> {
  await once(socket, event)
  socket.destroy()
}

it.runIf(process.platform === 'linux')(
  'a client that leaves before it sent a request over TLS leaves no connection behind',
  async () => {
    const tls = tlsFiles()
    const listening = await listen(
      (_, response) => response.end(),
      { host: '127.0.0.1', port: 0, reusePort: true },
      { tls, graceSeconds: 600 },
    )
    const at = { host: '127.0.0.1', port: listening.port }
    // As many that most of the sockets of the port have some.
    await Promise.all(Array.from({ length: 32 }, () => leave(connect(at), 'connect')))
    await Promise.all(Array.from({ length: 32 }, () => leave(connectSecurely({ ...at, rejectUnauthorized: false }), 'secureConnect')))
    await listening.close()
    // Sooner than the handshake is given up.
  },
  25_000,
)

it('a client that stays without shaking hands over TLS holds up no close', async () => {
  const waiting = Promise.withResolvers<ServerResponse>()
  const listening = await listen(
    (_, response) => waiting.resolve(response),
    { host: '127.0.0.1', port: 0 },
    { tls: tlsFiles(), graceSeconds: 600 },
  )
  const at = { host: '127.0.0.1', port: listening.port }
  const silent = connect(at).on('error', () => undefined)
  await once(silent, 'connect')
  const client = connectSecurely({ ...at, rejectUnauthorized: false })
  client.write('GET / HTTP/1.1\r\nhost: here\r\n\r\n')
  const response = await waiting.promise
  const closed = listening.close()
  response.end('whole')
  let heard = ''
  for await (const part of client) heard += String(part)
  expect(heard).toContain('whole')
  await closed
  silent.destroy()
}, 25_000)

it.runIf(process.platform === 'linux')('answers on every socket of the port are finished before the service ends', async () => {
  const waiting: ServerResponse[] = []
  const { promise: all, resolve } = Promise.withResolvers<void>()
  const requests = 64
  const listening = await listen(
    (_request, response) => {
      if (waiting.push(response) === requests) resolve()
    },
    { host: '127.0.0.1', port: 0, reusePort: true },
    { graceSeconds: 600 },
  )
  const answers = Array.from({ length: requests }, async () => (await fetch(listening.address)).text())
  await all
  const closed = listening.close()
  await expect(fetch(listening.address)).rejects.toThrow()
  for (const response of waiting) response.end('whole')
  expect(await Promise.all(answers)).toEqual(Array.from({ length: requests }, () => 'whole'))
  await closed
})

it('an answer whose client is slow arrives whole when the service is closed meanwhile', async () => {
  const bytes = 20_000_000
  const answered = Promise.withResolvers<void>()
  const whole: RequestListener = (_request, response) => {
    response.end(Buffer.alloc(bytes))
    answered.resolve()
  }
  const listening = await listen(whole, { host: '127.0.0.1', port: 0 }, { graceSeconds: 600 })
  const client = connect({ port: listening.port, host: '127.0.0.1' })
  const idle = connect({ port: listening.port, host: '127.0.0.1' })
  await once(idle, 'connect')
  client.write('GET / HTTP/1.1\r\nhost: here\r\n\r\n')
  await answered.promise
  const closed = listening.close()
  let heard = 0
  for await (const part of client) heard += Buffer.from(part).length
  expect(heard).toBeGreaterThan(bytes)
  await closed
  idle.destroy()
})

it('a client that goes on asking over one connection is told with its answer that the service closes', async () => {
  const waiting: ServerResponse[] = []
  const come = new EventEmitter()
  const listening = await listen(
    (_request, response) => {
      waiting.push(response)
      come.emit('request')
    },
    { host: '127.0.0.1', port: 0 },
    { graceSeconds: 600 },
  )
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const ask = async (): Promise<string | undefined> => {
    const asked = openRequest({ agent, host: '127.0.0.1', port: listening.port }).end()
    const answer = new Promise<IncomingMessage>((resolve) => void asked.once('response', resolve))
    const { headers } = await answer.then((response) => response.resume())
    return headers.connection
  }
  const answered = ask()
  await once(come, 'request')
  const closed = listening.close()
  for (const response of waiting) response.end('whole')
  expect(await answered).toBe('close')
  await closed
})

it.each(['http', 'https'])('over %s a client that reads its answer slowly has all of it', async (protocol) => {
  const bytes = 20_000_000
  const tls = protocol === 'https' ? tlsFiles() : null
  const listening = await listen(
    (_, response) => response.end(Buffer.alloc(bytes)),
    { host: '127.0.0.1', port: 0 },
    { stallSeconds: 1, tls },
  )
  const at = { host: '127.0.0.1', port: listening.port }
  const client = tls === null ? connect(at) : connectSecurely({ ...at, rejectUnauthorized: false })
  client.write('GET / HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n')
  let heard = 0
  for await (const part of client) {
    heard += Buffer.from(part).length
    await sleep(tls === null ? 5 : 1)
  }
  expect(heard).toBeGreaterThan(bytes)
  await listening.close()
})

it.each(['sends nothing more', 'goes on sending'])('a client that stops reading its answer and %s is let go', async (what) => {
  const gone = Promise.withResolvers<boolean>()
  const whole: RequestListener = (_, response) => {
    response.once('close', () => gone.resolve(response.writableFinished))
    response.end(Buffer.alloc(20_000_000))
  }
  const listening = await listen(whole, { host: '127.0.0.1', port: 0 }, { stallSeconds: 0.2 })
  const client = connect({ host: '127.0.0.1', port: listening.port })
  client.on('error', () => undefined).write('GET / HTTP/1.1\r\nhost: here\r\n\r\n')
  const sending = setInterval(() => what === 'goes on sending' && client.write('\r\n'), 50)
  expect(await gone.promise).toBe(false)
  clearInterval(sending)
  client.destroy()
  await listening.close()
})

const largeThenLate: RequestListener = (request, response) => {
  if (request.url === '/large') response.end(Buffer.alloc(20_000_000))
  else setTimeout(() => response.end('late'), 500)
}

it('an answer that waits for an earlier one of its connection is not taken for one that is not read', async () => {
  const listening = await listen(
    ({ url }, response) => void setTimeout(() => response.end(url), url === '/late' ? 1000 : 0),
    { host: '127.0.0.1', port: 0 },
    { stallSeconds: 0.2 },
  )
  const client = connect({ host: '127.0.0.1', port: listening.port })
  client.write('GET /late HTTP/1.1\r\nhost: here\r\n\r\nGET /quick HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n')
  let heard = ''
  for await (const part of client) heard += String(part)
  expect(heard).toMatch(/\/late[^]*\/quick$/)
  await listening.close()
})

it('a connection whose last answer was read slowly waits for the next request as any other', async () => {
  const listening = await listen(largeThenLate, { host: '127.0.0.1', port: 0 }, { stallSeconds: 0.2 })
  const client = connect({ host: '127.0.0.1', port: listening.port })
  client.write('GET /large HTTP/1.1\r\nhost: here\r\n\r\nGET /late HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n')
  let last = ''
  for await (const part of client) last = `${last}${String(part)}`.slice(-4)
  expect(last).toBe('late')
  await listening.close()
})
