/** The only way out of a sandbox: a socket that forwards model calls to the evaluation routes, with a key that is valid only here. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer, request as askHttp } from 'node:http'
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { request as askHttps } from 'node:https'
import { pipeline } from 'node:stream/promises'
import type { ModelAddress } from '../../../src/contract/index.ts'
import type { ModelLimits } from '../common/limits.ts'
import { buildBody, buildHeaders, routeOf } from './bodies/index.ts'
import { ModelBudget } from './budget.ts'
import { ModelCalls, type ModelCall } from './failures.ts'

const CALL_BYTES_MAX = 16 * 1024 * 1024
const CALLS_MAX = 16
const CONNECTIONS_MAX = 64
const HEADER_BYTES_MAX = 16 * 1024
const HEADERS_TIMEOUT_MS = 10_000
const BODY_TIMEOUT_MS = 60_000
const RETURNED = ['content-type', 'content-encoding', 'retry-after'] as const
/** No answer of a model. */
const COUNTING = '/count_tokens'
const NOTES_MAX = 32
const NOTE_CHARACTERS_MAX = 100

interface Relay {
  /** What was left out of calls or refused, each once. */
  readonly notes: () => readonly string[]
  /** Why the model gave the last call no answer, or null. `seconds` is how long the episode ran where its time was up. */
  readonly modelFailure: (seconds: number | null) => string | null
  readonly answeredBy: () => string | null
  close(): Promise<void>
}

/** What the calls of one episode share. */
interface Line {
  readonly model: ModelAddress
  readonly budget: ModelBudget
  readonly calls: ModelCalls
  readonly over: AbortSignal
  readonly note: (words: string) => undefined
  /** The one model of the episode: the configured one, else the first that is asked for. */
  readonly pin: (named: string | null) => string | null
}

/** Closing it aborts running calls. */
export async function openRelay(path: string, model: ModelAddress, key: string, limits: ModelLimits): Promise<Relay> {
  const over = new AbortController()
  const notes = new Set<string>()
  const line = lineOf(model, limits, over.signal, notes)
  let calls = 0
  const options = { maxHeaderSize: HEADER_BYTES_MAX, headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: BODY_TIMEOUT_MS }
  const server = createServer(options, (request, response) => {
    const problem = problemWith(request, key) ?? (calls < CALLS_MAX ? null : ([429, 'too many calls at once'] as const))
    if (problem !== null) return refuse(response, ...problem)
    calls += 1
    return void forward(request, response, line).finally(() => (calls -= 1))
  })
  server.maxConnections = CONNECTIONS_MAX
  // The agent may be another user; the folder limits who reaches the socket.
  await new Promise<void>((resolve, reject) => server.on('error', reject).listen({ path, readableAll: true, writableAll: true }, resolve))
  return {
    notes: () => [...notes],
    modelFailure: (seconds) => line.calls.failure(seconds),
    answeredBy: () => line.calls.answeredBy,
    async close() {
      over.abort()
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

function lineOf(model: ModelAddress, limits: ModelLimits, over: AbortSignal, notes: Set<string>): Line {
  let pinned = model.model
  return {
    model,
    budget: new ModelBudget(limits),
    calls: new ModelCalls(),
    over,
    // Names of members are the agent's own words.
    note(words) {
      if (notes.size < NOTES_MAX) notes.add(words.replaceAll(/[^\w .,:()[\]-]/g, '?').slice(0, NOTE_CHARACTERS_MAX))
      return undefined
    },
    pin: (named) => (pinned ??= named),
  }
}

function problemWith({ method, url = '', headers }: IncomingMessage, key: string): readonly [number, string] | null {
  if (!isSame(keyIn(headers), key)) return [401, 'unknown key']
  if (routeOf(url) === null) return [404, 'only the model can be reached here']
  if (method !== 'POST') return [405, 'the model takes POST only']
  return Number(headers['content-length'] ?? 0) > CALL_BYTES_MAX ? [413, 'the call is too large'] : null
}

function keyIn({ authorization = '', 'x-api-key': apiKey }: IncomingHttpHeaders): string {
  return typeof apiKey === 'string' ? apiKey : authorization.replace(/^Bearer /i, '')
}

/** Compares digests, so that the time reveals neither length nor content. */
const isSame = (given: string, key: string): boolean => timingSafeEqual(digest(given), digest(key))
const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' })
  response.end(JSON.stringify({ error: { message, type: 'episode', code: null } }))
}

/** Sends a body and headers of its own making, so that nothing unknown is forwarded and no request can be smuggled. */
async function forward(request: IncomingMessage, response: ServerResponse, line: Line): Promise<void> {
  const left = new AbortController()
  response.on('close', () => left.abort())
  try {
    const given = await bodyOf(request)
    if (given === null) return refuse(response, 413, 'the call is too large')
    const route = routeOf(request.url ?? '') ?? ''
    const built = buildBody(route, given, line.pin, (at) => line.note(`left out: ${at}`))
    if (built === null) return refuse(response, 400, 'the call is no JSON object')
    const paid = line.budget.take(Buffer.byteLength(built.text), built.outputTokensMax)
    if (typeof paid === 'string') return refuseSpent(response, paid, line)
    const headers = buildHeaders(request.headers, (at) => line.note(`left out: ${at}`))
    const call = (route.endsWith(COUNTING) ? new ModelCalls() : line.calls).begin()
    try {
      const ended = AbortSignal.any([line.over, left.signal])
      const asked = ask({ url: request.url ?? '', headers, body: built.text }, line, ended)
      // An agent that leaves a call, and the end of the episode, are no failures of the model.
      const onError = (): void => (ended.aborted ? undefined : call.failed('it broke off, or could not be reached'))
      await answerWith(response, asked.once('error', onError), call, (part) => paid.read(part), onError)
    } finally {
      call.end()
      paid.settle()
    }
  } catch {
    if (response.headersSent) response.destroy()
    else refuse(response, 502, 'the model did not answer')
  }
}

function refuseSpent(response: ServerResponse, limit: string, { note }: Line): void {
  note(`refused: the episode may not use more than ${limit}`)
  // Agents retry what they are told is only too much for now.
  refuse(response, 403, `this episode may not use more than ${limit} of the model`)
}

/** Null when it is too large; then the connection is closed. */
async function bodyOf(request: AsyncIterable<Buffer>): Promise<string | null> {
  const parts: Buffer[] = []
  let room = CALL_BYTES_MAX
  for await (const part of request) {
    room -= part.length
    if (room < 0) return null
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

async function answerWith(
  response: ServerResponse,
  asked: ClientRequest,
  call: ModelCall,
  onPart: (part: Buffer) => void,
  onError: () => void,
): Promise<void> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => asked.once('response', resolve).once('error', reject))
  const { statusCode = 502 } = answer
  response.writeHead(statusCode, picked(answer.headers, RETURNED))
  answer.once('error', onError)
  answer.on('data', (part: Buffer) => {
    onPart(part)
    call.read(part)
  })
  await pipeline(answer, response)
  call.answered(statusCode)
}

interface Question {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

function ask({ url, headers, body }: Question, { model }: Line, signal: AbortSignal): ClientRequest {
  const target = new URL(model.url + url)
  const pass = model.apiKey === null ? {} : { authorization: `Bearer ${model.apiKey}` }
  const options = { method: 'POST', headers: { ...headers, ...pass }, agent: false, signal }
  const call = target.protocol === 'https:' ? askHttps(target, options) : askHttp(target, options)
  return call.end(body)
}

function picked(headers: IncomingHttpHeaders, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name]]] : [])))
}
