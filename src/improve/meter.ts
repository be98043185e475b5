/**
 * A counter in front of the service's evaluation routes: how many calls an episode made, and what its provider said that they took. The agent
 * gets an address that nobody can guess instead of the service's token.
 */
import { randomBytes } from 'node:crypto'
import { createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import { pipeline } from 'node:stream/promises'
import { Transform } from 'node:stream'

interface Usage {
  readonly calls: number
  /** Those of them that got an answer. */
  readonly answered: number
  readonly inputTokens: number
  readonly outputTokens: number
}

export interface Meter {
  /** The address for one episode. */
  open(): { readonly url: string; readonly usage: () => Usage }
  close(): Promise<void>
}

const NO_USAGE: Usage = { calls: 0, answered: 0, inputTokens: 0, outputTokens: 0 }

const sumOf = (usages: readonly Usage[]): Usage =>
  usages.reduce(
    (sum, each) => ({
      calls: sum.calls + each.calls,
      answered: sum.answered + each.answered,
      inputTokens: sum.inputTokens + each.inputTokens,
      outputTokens: sum.outputTokens + each.outputTokens,
    }),
    NO_USAGE,
  )

/** `target` is the base address of the routes, `token` the service's. */
export async function openMeter(target: string, token: string): Promise<Meter> {
  const counts = new Map<string, Usage>()
  const server = createServer((request, response) => {
    const [, key = '', path = ''] = /^\/(\w+)(\/.*)$/.exec(request.url ?? '') ?? []
    const before = counts.get(key)
    if (before === undefined) {
      response.writeHead(404).end()
      return
    }
    counts.set(key, { ...before, calls: before.calls + 1 })
    forward(`${target}${path}`, token, request, response, (text) => counts.set(key, sumOf([counts.get(key) ?? NO_USAGE, usageIn(text)])))
  })
  server.requestTimeout = 0
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    open() {
      const key = randomBytes(KEY_BYTES).toString('hex')
      counts.set(key, NO_USAGE)
      return { url: `http://127.0.0.1:${port}/${key}`, usage: () => counts.get(key) ?? NO_USAGE }
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
const KEY_BYTES = 16

/** The numbers are at the end of an answer, whole or streamed. */
const TAIL_CHARACTERS = 16 * 1024

function forward(target: string, token: string, request: IncomingMessage, response: ServerResponse, ended: (tail: string) => void): void {
  const { host: _host, 'accept-encoding': _encoding, 'x-api-key': _key, ...headers } = request.headers
  const options = { method: request.method ?? 'POST', headers: { ...headers, authorization: `Bearer ${token}` } }
  const asked = send(target, options, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    let tail = ''
    const count = new Transform({
      transform(part: Buffer, _, next) {
        tail = `${tail}${part.toString('latin1')}`.slice(-TAIL_CHARACTERS)
        next(null, part)
      },
    })
    pipeline(answer, count, response).then(
      () => (answer.statusCode === 200 ? ended(tail) : undefined),
      () => response.destroy(),
    )
  })
  asked.on('error', () => (response.headersSent ? response.destroy() : response.writeHead(502).end()))
  response.on('close', () => asked.destroy())
  request.pipe(asked)
}

/** The last numbers of each name: a stream repeats them as they grow. */
const usageIn = (tail: string): Usage => ({
  calls: 0,
  answered: 1,
  inputTokens: lastNumber(tail, /"(?:prompt_tokens|input_tokens)"\s*:\s*(\d+)/g),
  outputTokens: lastNumber(tail, /"(?:completion_tokens|output_tokens)"\s*:\s*(\d+)/g),
})

const lastNumber = (text: string, pattern: RegExp): number => Number([...text.matchAll(pattern)].at(-1)?.[1] ?? 0)
