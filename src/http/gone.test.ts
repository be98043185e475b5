import { once } from 'node:events'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { expect, it } from 'vitest'
import { whileConnected } from './gone.ts'

it('work for a client that has gone already is given up from the start', async () => {
  const socket = new Socket()
  socket.destroy()
  await once(socket, 'close')
  expect(await whileConnected(new IncomingMessage(socket), (signal) => Promise.resolve(signal.aborted))).toBe(true)
})
