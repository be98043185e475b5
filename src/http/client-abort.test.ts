import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { expect, it } from 'vitest'
import { clientSignal } from './client-abort.ts'

it('work for a client that has gone already is given up from the start', () => {
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  response.destroy()
  expect(clientSignal(response).aborted).toBe(true)
})
