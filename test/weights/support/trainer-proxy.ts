/** A proxy before a trainer: its address survives the trainer, it records calls, and it can hold one. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'

export interface TrainerProxy {
  readonly url: string
  /** The names of the calls so far, in order. */
  readonly calls: readonly string[]
  /** Sets the trainer behind it. */
  lead(to: string): void
  /** Holds the next call of that name before it is forwarded. Resolves when it arrives, with its release. */
  held(call: string): Promise<() => void>
  close(): Promise<void>
}

export async function openTrainerProxy(): Promise<TrainerProxy> {
  const calls: string[] = []
  const holds = new Map<string, PromiseWithResolvers<() => void>>()
  let target = ''
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(request)
    const call = (request.url ?? '').split('/').at(-1) ?? ''
    calls.push(call)
    await heldUp(holds, call)
    const sent = request.method === 'POST' ? { method: 'POST', body, headers: { 'content-type': 'application/json' } } : {}
    const answer = await fetch(`${target}${request.url}`, { ...sent, redirect: 'manual' })
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'application/json' })
    response.end(Buffer.from(await answer.arrayBuffer()))
  }
  const server = createServer((request, response) => {
    // When the trainer is gone, the client is disconnected too.
    pass(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    calls,
    lead: (to) => {
      target = to
    },
    held: (call) => {
      const hold = Promise.withResolvers<() => void>()
      holds.set(call, hold)
      return hold.promise
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function heldUp(holds: Map<string, PromiseWithResolvers<() => void>>, call: string): Promise<void> {
  const hold = holds.get(call)
  if (hold === undefined) return
  holds.delete(call)
  await new Promise<void>((resolve) => hold.resolve(resolve))
}
