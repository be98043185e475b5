/** The HTTP server of a test engine: it records calls, and can hang, disconnect, reset or stop. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Json, JsonObject } from '../../../src/contract/index.ts'
import { EngineState, NOT_A_NUMBER, type EngineOptions, type Fault, type Held } from './state.ts'

interface Call {
  readonly path: string
  readonly body: JsonObject
}

export interface EngineServer {
  readonly url: string
  /** All calls in order. */
  readonly calls: readonly Call[]
  /** Switched on and off while it runs. */
  readonly faults: Set<Fault>
  /** The folders of the adapters it holds, by name. */
  readonly adapters: ReadonlyMap<string, string>
  /** How often a folder was read by an in-place load. */
  readonly rereads: number
  /** Waiting generations, held or paused. */
  readonly waiting: number
  /** Later calls of these kinds wait until released. */
  hold(what: Held): void
  letGoOn(): void
  /** Resets it: no adapters, no connections. */
  restart(): void
  /** Stops it at once, like a kill. */
  kill(): Promise<void>
  close(): Promise<void>
}

export type Answer = { readonly status: number; readonly body: Json | string }
export type Routes = (
  engine: EngineState,
) => Readonly<Record<string, (body: JsonObject, query: URLSearchParams) => Answer | Promise<Answer>>>

export async function startEngine(routes: Routes, options: EngineOptions): Promise<EngineServer> {
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
    const { status, body: answered } = route === undefined ? notFound : await route(body, searchParams)
    if (pathname.endsWith('/load_lora_adapter') && state.faults.has('diesInLoad')) return server.closeAllConnections()
    response.writeHead(status, { 'content-type': typeof answered === 'string' ? 'text/plain' : 'application/json' })
    response.end(typeof answered === 'string' ? answered : printed(answered))
  }
  await new Promise<void>((resolve) => {
    server.listen(options.port ?? 0, '127.0.0.1', resolve)
  })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    faults: state.faults,
    adapters: state.adapters,
    get rereads() {
      return state.rereads
    },
    get waiting() {
      return state.waiting
    },
    hold: (what) => state.hold(what),
    letGoOn: () => state.letGoOn(),
    restart: () => {
      server.closeAllConnections()
      state.forget()
    },
    kill: stop,
    close: stop,
  }
}

const notFound: Answer = { status: 404, body: { detail: 'Not Found' } }

/** Prints NaN as Python does. */
const printed = (value: Json): string => JSON.stringify(value).replaceAll(`"${NOT_A_NUMBER}"`, 'NaN')
