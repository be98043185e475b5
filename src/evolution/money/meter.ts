/**
 * A counter in front of the model's routes: what each call of an episode took, with any executor. The agent gets an address that nobody can
 * guess, which is valid for its episode alone, instead of the service's token.
 */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request as askHttp, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { request as askHttps } from 'node:https'
import { Transform } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import type { ModelAddress } from '../../contract/index.ts'
import { dialectOfCall } from '../../dialects/index.ts'
import { hasCode, knowPassingSecret, TokenCounter } from '../../kit/index.ts'
import { EpisodeLuck, type ModelAnswered } from '../luck.ts'
import { EpisodeBounds, usedWithin, type CallBound } from './bounds.ts'
import { CapReached } from './caps.ts'
import type { HeldCall } from './purse.ts'
import { NO_TOKENS, type ModelCallUse } from './spent.ts'

/** A larger call is passed on as it comes. */
const CALL_BYTES_MAX = 16 * 1024 * 1024

export interface MeteredLine {
  /** How the episode reaches the model. */
  readonly model: ModelAddress
  /** The seed of each answered call; null for one without a seed of ours. */
  readonly seeds: EpisodeLuck['seeds']
  /** Aborted with CapReached once a call was not sent because of a cap. */
  readonly cut: AbortSignal
  /** Resolves when every call was counted; running ones are broken off. */
  close(): Promise<void>
}

/** What the calls of an episode are counted by. */
export interface CallCount {
  /** Resolves once a call may be sent, with what is held for it. Throws CapReached where it may not. */
  hold(bound: CallBound, signal: AbortSignal): Promise<HeldCall | null>
  used(use: ModelCallUse, held: HeldCall | null): void
}

interface Line {
  readonly model: ModelAddress
  readonly luck: EpisodeLuck
  readonly count: CallCount
  readonly bounds: EpisodeBounds
  readonly cut: AbortController
  readonly running: Map<ServerResponse, Promise<void>>
}

const lines = new Map<string, Line>()
/** One per thread. It keeps no process alive, and answers nobody without a line. */
let listening: Promise<number> | null = null

/** `luck` is what the calls' seeds follow from; null: they have none. */
export async function meteredLine(model: ModelAddress, luck: string | null, count: CallCount): Promise<MeteredLine> {
  const port = await (listening ??= listen())
  const key = randomBytes(KEY_BYTES).toString('hex')
  // Agents print what they get.
  knowPassingSecret(key)
  const own = { luck: new EpisodeLuck(luck, model), bounds: new EpisodeBounds(), cut: new AbortController() }
  const line: Line = { model, count, ...own, running: new Map() }
  lines.set(key, line)
  return {
    model: { ...model, url: `http://127.0.0.1:${port}/${key}`, apiKey: model.apiKey === null ? null : key },
    seeds: line.luck.seeds,
    cut: line.cut.signal,
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
async function forward(line: Line, path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const body = isReadable(request.headers) ? await buffer(request) : null
    const held = await hold(line, path, body, request, response)
    await passOn(line, { path, request, response, body, held })
  } catch (error) {
    if (error instanceof CapReached) line.cut.abort(error)
    refuse(response, path, error)
  }
}

interface PassedCall {
  readonly path: string
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Null where it is passed on as it comes. */
  readonly body: Buffer | null
  readonly held: HeldCall | null
}

/** Sends it, and counts what it took. */
async function passOn({ model, luck, count, bounds }: Line, { path, request, response, body, held }: PassedCall): Promise<void> {
  const counter = new TokenCounter()
  let status: number | null = null
  let isWhole = false
  let isSent = true
  try {
    const answer = await luck.ask(path, body, (own) => ask({ model, path, request, response, counter }, own))
    status = answer.status
    response.writeHead(answer.status, answer.headers)
    await pipeline(
      answer.body,
      passing((part) => counter.read(part)),
      response,
    )
    isWhole = true
  } catch (error) {
    isSent = !hasCode(error, 'ECONNREFUSED')
    if (response.headersSent) response.destroy()
    else response.writeHead(502).end()
  } finally {
    // Of one that was sent and left nobody says what it took.
    const isLeft = isSent && status === null && held !== null
    const isAnswered = status === OK || isLeft
    const said = held === null ? counter.counts() : usedWithin(held.bound, counter, isWhole ? 'whole' : 'broken')
    const counts = isAnswered ? said : NO_TOKENS
    if (status === OK && isWhole && counter.says.input) bounds.counted(body, counts.input)
    count.used({ ...counts, model: model.model ?? counter.model, isAnswered }, held)
  }
}
const OK = 200

const isReadable = (headers: IncomingHttpHeaders): boolean =>
  headers['content-encoding'] === undefined && Number(headers['content-length'] ?? Infinity) <= CALL_BYTES_MAX

/** Null for what is no call of a model, and where nothing caps it. */
async function hold(
  { model, count, bounds }: Line,
  path: string,
  body: Buffer | null,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<HeldCall | null> {
  const dialect = dialectOfCall(path)
  if (dialect === null || dialect.writeCount !== undefined) return null
  const gone = new AbortController()
  response.on('close', () => gone.abort(new Error('the agent is gone')))
  const bytes = body?.length ?? Number(request.headers['content-length'] ?? CALL_BYTES_MAX)
  return count.hold(bounds.of({ dialect, model: model.model, body, bytes }), gone.signal)
}

function refuse(response: ServerResponse, path: string, error: unknown): void {
  if (!(error instanceof CapReached)) return void response.writeHead(502).end()
  const said = dialectOfCall(path)?.writeError(CAPPED, { message: error.message, code: 'step_cap' })
  return void response.writeHead(CAPPED, { 'content-type': 'application/json' }).end(JSON.stringify(said))
}
/** One that agents do not try again. */
const CAPPED = 403

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
  const target = `${model.url.replace(/(?<!\/)\/+$/, '')}${path}`
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
