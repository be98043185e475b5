import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { expect, it } from 'vitest'
import { clientSignal } from './response-stream.ts'

it('work for a client that has left already is aborted from the start', () => {
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  response.destroy()
  expect(clientSignal(response).aborted).toBe(true)
})
