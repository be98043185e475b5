/** A trainer that can be killed and restarted behind a fixed address: a proxy records its calls, and can hold one. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { listenOnLoopback } from '../../support/listen.ts'
import { startTrainer, type TrainerOptions } from './trainer-process.ts'

export async function startRestartableTrainer(options: TrainerOptions) {
  const calls: string[] = []
  const holds = new Map<string, PromiseWithResolvers<() => void>>()
  let trainer = await startTrainer(options)
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(request)
    const call = (request.url ?? '').split('/').at(-1) ?? ''
    calls.push(call)
    const hold = holds.get(call)
    holds.delete(call)
    if (hold !== undefined) await new Promise<void>((release) => hold.resolve(release))
    const sent = request.method === 'POST' ? { method: 'POST', body, headers: { 'content-type': 'application/json' } } : {}
    const answer = await fetch(`${trainer.url}${request.url}`, { ...sent, redirect: 'manual' })
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'application/json' })
    response.end(Buffer.from(await answer.arrayBuffer()))
  }
  const server = createServer((request, response) => {
    // When the trainer is gone, the client is disconnected too.
    pass(request, response).catch(() => response.destroy())
  })
  return {
    url: `http://127.0.0.1:${await listenOnLoopback(server)}`,
    /** The names of the calls so far, in order. */
    calls,
    /** Holds the next call of that name before it is forwarded. Resolves when it arrives, with its release. */
    held(call: string): Promise<() => void> {
      const hold = Promise.withResolvers<() => void>()
      holds.set(call, hold)
      return hold.promise
    },
    /** SIGKILL. */
    kill: () => trainer.kill9(),
    async start(): Promise<void> {
      trainer = await startTrainer(options)
    },
    async stop(): Promise<void> {
      await trainer.kill9()
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
