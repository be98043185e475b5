/** The HTTP server of a test engine: it records calls, and can hang, disconnect, reset or stop. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Json, JsonObject } from '../../../src/contract/index.ts'
import { EngineState, NOT_A_NUMBER, type EngineOptions } from './state.ts'

interface Call {
  readonly path: string
  readonly body: JsonObject
}

export type EngineServer = Awaited<ReturnType<typeof startEngine>>

export type Answer = { readonly status: number; readonly body: Json | string }
export type Routes = (
  engine: EngineState,
) => Readonly<Record<string, (body: JsonObject, query: URLSearchParams) => Answer | Promise<Answer>>>

export async function startEngine(routes: Routes, options: EngineOptions) {
  const state = new EngineState(options)
  const calls: Call[] = []
  const table = routes(state)
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://engine')
    const sent = await text(request)
    const body: JsonObject = sent === '' ? {} : JSON.parse(sent)
    calls.push({ path: `${request.method} ${pathname}`, body })
    if (state.faults.has('hangs')) return
    const route = table[`${request.method} ${pathname}`]
    const { status, body: answered } = route === undefined ? missing : await route(body, searchParams)
    if (pathname.endsWith('/load_lora_adapter') && state.faults.has('diesInLoad')) return server.closeAllConnections()
    response.writeHead(status, { 'content-type': typeof answered === 'string' ? 'text/plain' : 'application/json' })
    response.end(typeof answered === 'string' ? answered : printed(answered))
  }
  await once(server.listen(options.port ?? 0, '127.0.0.1'), 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return Object.assign(state, {
    url: `http://127.0.0.1:${port}`,
    /** All calls in order. */
    calls,
    /** Resets it: no adapters, no connections. */
    restart: () => {
      server.closeAllConnections()
      state.forget()
    },
    /** At once, like a kill. */
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  })
}

export const ok = (body: Json): Answer => ({ status: 200, body })
export const missing: Answer = { status: 404, body: { detail: 'Not Found' } }

/** Prints NaN as Python does. */
const printed = (value: Json): string => JSON.stringify(value).replaceAll(`"${NOT_A_NUMBER}"`, 'NaN')
