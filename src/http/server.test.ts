import { EventEmitter, once } from 'node:events'
import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { listen } from './server.ts'

it('who sends no request and does not hang up is hung up on', async () => {
  const listening = await listen((_request, response) => response.end(), '127.0.0.1', 0, 600)
  const stranger = connect({ port: listening.port, host: '127.0.0.1', allowHalfOpen: true })
  stranger.on('error', () => undefined)
  stranger.write('this is no request\r\n\r\n')
  const [answer] = await once(stranger, 'data')
  expect(String(answer)).toContain('400 Bad Request')
  // Nobody is left: otherwise this would wait for the stranger until the grace is over.
  await listening.close()
  stranger.destroy()
})

it('what cannot be read in the middle of an answer puts no words into it', async () => {
  const listening = await listen(
    (request, response) => {
      response.write('the beginning of an answer')
      request.resume()
    },
    '127.0.0.1',
    0,
  )
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
  const listening = await listen(
    (request, response) => {
      server = Reflect.get(request.socket, 'server')
      response.end('here')
    },
    '127.0.0.1',
    0,
  )
  const ask = async (): Promise<string> => (await fetch(listening.address, { headers: { connection: 'close' } })).text()
  await ask()
  if (!(server instanceof EventEmitter)) throw new Error('the request does not know its server')
  for (let times = 0; times < 3; times++) server.emit('error', Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' }))
  expect(await ask()).toBe('here')
  await listening.close()
})
