/**
 * A counter in front of the model's routes: what each call of an episode took, with any executor. The agent gets an address that nobody can
 * guess, which is valid for its episode alone, instead of the service's token.
 */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request as askHttp, type IncomingMessage, type ServerResponse } from 'node:http'
import { request as askHttps } from 'node:https'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ModelAddress } from '../../contract/index.ts'
import { knowPassingSecret, TokenCounter, type TokenCounts } from '../../kit/index.ts'
import { EpisodeLuck, type ModelAnswered } from '../luck.ts'

export interface ModelCallUse extends TokenCounts {
  /** As it was configured, else as the answer names it. */
  readonly model: string | null
  /** One that was refused or broke off before its answer took nothing. */
  readonly isAnswered: boolean
}

export interface MeteredLine {
  /** How the episode reaches the model. */
  readonly model: ModelAddress
  /** The seed of each answered call; null for one without a seed of ours. */
  readonly seeds: EpisodeLuck['seeds']
  /** Resolves when every call was counted; running ones are broken off. */
  close(): Promise<void>
}

interface Line {
  readonly model: ModelAddress
  readonly luck: EpisodeLuck
  readonly ended: (use: ModelCallUse) => void
  readonly running: Map<ServerResponse, Promise<void>>
}

const lines = new Map<string, Line>()
/** One per thread. It keeps no process alive, and answers nobody without a line. */
let listening: Promise<number> | null = null

/** `luck` is what the calls' seeds follow from; null: they have none. */
export async function meteredLine(model: ModelAddress, luck: string | null, ended: Line['ended']): Promise<MeteredLine> {
  const port = await (listening ??= listen())
  const key = randomBytes(KEY_BYTES).toString('hex')
  // Agents print what they get.
  knowPassingSecret(key)
  const line: Line = { model, luck: new EpisodeLuck(luck, model), ended, running: new Map() }
  lines.set(key, line)
  return {
    model: { ...model, url: `http://127.0.0.1:${port}/${key}`, apiKey: model.apiKey === null ? null : key },
    seeds: line.luck.seeds,
    async close() {
      lines.delete(key)
      for (const response of line.running.keys()) response.destroy()
      await Promise.all(line.running.values())
    },
  }
}
const KEY_BYTES = 16

async function listen(): Promise<number> {
  const server = createServer((request, response) => {
    const [, key = '', path = ''] = /^\/(\w+)(\/.*)$/.exec(request.url ?? '') ?? []
    const line = lines.get(key)
    if (line === undefined) return void response.writeHead(404).end()
    return void line.running.set(
      response,
      forward(line, path, request, response).finally(() => line.running.delete(response)),
    )
  })
  server.requestTimeout = 0
  server.listen(0, '127.0.0.1').unref()
  await once(server, 'listening')
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** Never throws. */
async function forward({ model, luck, ended }: Line, path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const counter = new TokenCounter()
  let isAnswered = false
  try {
    const { status, headers, body } = await luck.ask(path, request, (own) => ask({ model, path, request, response, counter }, own))
    response.writeHead(status, headers)
    isAnswered = status === 200
    await pipeline(
      body,
      passing((part) => counter.read(part)),
      response,
    )
  } catch {
    if (response.headersSent) response.destroy()
    else response.writeHead(502).end()
  } finally {
    const counts = isAnswered ? counter.counts() : { input: 0, cached: 0, output: 0 }
    ended({ ...counts, model: model.model ?? counter.model, isAnswered })
  }
}

interface ForwardedCall {
  readonly model: ModelAddress
  readonly path: string
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly counter: TokenCounter
}

/** `own`: a body in place of the one that comes. */
function ask({ model, path, request, response, counter }: ForwardedCall, own: Buffer | null): Promise<ModelAnswered> {
  // An encoded answer could not be read here.
  const {
    host: _host,
    'accept-encoding': _encoding,
    'x-api-key': _key,
    'x-goog-api-key': _other,
    authorization,
    ...headers
  } = request.headers
  const pass = model.apiKey === null ? (authorization === undefined ? {} : { authorization }) : { authorization: `Bearer ${model.apiKey}` }
  const length = own === null ? {} : { 'content-length': String(own.length) }
  const target = `${model.url.replace(/\/+$/, '')}${path}`
  const options = { method: request.method ?? 'POST', headers: { ...headers, ...pass, ...length } }
  return new Promise<ModelAnswered>((resolve, reject) => {
    const asked = (target.startsWith('https:') ? askHttps : askHttp)(target, options, (answer) =>
      resolve({ status: answer.statusCode ?? 502, headers: answer.headers, body: answer }),
    )
    asked.on('error', reject)
    response.on('close', () => asked.destroy())
    if (own !== null) {
      counter.ask(own.length)
      asked.end(own)
      return
    }
    pipeline(
      request,
      passing((part) => counter.ask(part.length)),
      asked,
    ).catch(reject)
  })
}

const passing = (read: (part: Buffer) => void): Transform =>
  new Transform({
    transform(part: Buffer, _, next) {
      read(part)
      next(null, part)
    },
  })
