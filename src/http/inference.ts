/** The inference and evaluation routes: headers and body into a call, the answer back onto the socket. */
import type { ServerResponse } from 'node:http'
import { HEADER, type Dialect, type WholeAnswer } from '../contract/index.ts'
import { refusalOfUpstream, serve, serveStream, type Call, type Served, type Serving } from '../inference/index.ts'
import { scenarioName, type Scenario } from '../scenarios/index.ts'
import { readBody } from './body.ts'
import type { Door, Visit } from './door.ts'
import { isRetryHeader } from './errors.ts'
import { outletOf } from './outlet.ts'
import type { Asked, LineHandler, Reply } from './reply.ts'
import { forwardedHeaders, headerText, scenarioOf, tagsOf } from './scope.ts'
import { parseLooseObject } from './strict-json.ts'

/** Served, recorded, and answered with a receipt. */
export function traffic(dialect: Dialect): LineHandler {
  return async (door, visit, response, bodyBytesMax) => {
    const name = scenarioOf(visit.request)
    visit.note.scenario = name
    const release = headerText(visit.request, HEADER.release)
    const call = await callOf(door, visit, response, dialect, visit.path, bodyBytesMax)
    await door.registry.useOrCreate(name, release, async (scenario) => {
      const served = await serve(scenario, call)
      await write(door, visit, response, served, releaseHeader(scenario))
    })
  }
}

/** The same line for a scenario that is loaded here, kept by nobody. */
export function evaluation(dialect: Dialect): LineHandler {
  return async (door, visit, response, bodyBytesMax) => {
    const name = scenarioName(visit.params['scenario'] ?? '', 'the path')
    visit.note.scenario = name
    const path = visit.path.slice(visit.path.lastIndexOf('/v1/'))
    const call = await callOf(door, visit, response, dialect, path, bodyBytesMax)
    await door.registry.useLoaded(name, async (scenario) => {
      const serving: Serving = scenario.evaluation(visit.params['component'] ?? null)
      await write(door, visit, response, await serve(serving, call), {})
    })
  }
}

/** Which models there are, relayed: real clients ask. The scenario is optional and never created by asking. */
export async function models({ door, visit }: Asked): Promise<Reply> {
  const named = headerText(visit.request, HEADER.scenario)
  const name = named === null ? null : scenarioName(named, HEADER.scenario)
  const ask = async ({ runtime, model }: Pick<Scenario, 'runtime' | 'model'>): Promise<Reply> => {
    const { signal } = new AbortController()
    const headers = forwardedHeaders(visit.request.headers)
    const answer = await runtime.models({ path: pathWithQuery(visit, visit.path), headers, model, signal })
    if (answer.status >= 300) throw refusalOfUpstream(answer)
    return { status: answer.status, headers: relayedHeaders(answer), body: answer.body }
  }
  return name !== null && door.registry.has(name) ? door.registry.use(name, ask) : ask(door)
}

/** One client tries a socket first; told so at once, it falls back at once. */
export function refuseWebSocket(): Reply {
  const body = {
    error: { message: 'this service answers over HTTP; POST to this route', type: 'invalid_request_error', code: 'upgrade_required' },
  }
  return { status: 426, headers: { 'content-type': 'application/json', allow: 'POST' }, body: JSON.stringify(body) }
}

async function callOf(door: Door, visit: Visit, response: ServerResponse, dialect: Dialect, path: string, bytesMax: number): Promise<Call> {
  const { request } = visit
  const tags = tagsOf(request.headers)
  const bytes = await readBody(request, bytesMax)
  const { clock, retryTimeoutSeconds } = door
  return {
    id: visit.id,
    dialect,
    path: pathWithQuery(visit, path),
    headers: forwardedHeaders(request.headers),
    request: { bytes, fields: parseLooseObject(bytes) },
    tags,
    signal: goneSignal(response),
    retryTimeoutSeconds,
    clock,
  }
}

/** Aborts when the client goes before its answer is finished. */
function goneSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController()
  response.once('close', () => {
    if (!response.writableFinished) controller.abort()
  })
  return controller.signal
}

async function write(door: Door, visit: Visit, response: ServerResponse, served: Served, release: Readonly<Record<string, string>>) {
  if (served.kind === 'whole') {
    writeWhole(visit, response, served.answer, served.receipt, release)
    return
  }
  response.writeHead(served.answer.status, { ...visit.headers, ...relayedHeaders(served.answer), ...release })
  response.flushHeaders()
  const end = await serveStream(served.exchange, served.answer, outletOf(response), door.keepRawStreams)
  visit.note.receipt = visit.id
  if (end.cause === null) return
  visit.note.cause = end.cause
  door.metrics.streamInterrupted()
}

function writeWhole(
  visit: Visit,
  response: ServerResponse,
  answer: WholeAnswer,
  receipt: string | null,
  release: Readonly<Record<string, string>>,
): void {
  const headers: Record<string, string | number> = {
    ...visit.headers,
    ...relayedHeaders(answer),
    ...release,
    'content-length': answer.body.length,
  }
  if (receipt !== null) {
    headers[HEADER.receipt] = receipt
    visit.note.receipt = receipt
  }
  response.writeHead(answer.status, headers)
  response.end(answer.body)
}

/** On a scenario that serves files: the release its clients would pull now. */
function releaseHeader(scenario: Scenario): Readonly<Record<string, string>> {
  return scenario.surface.files === undefined ? {} : { [HEADER.release]: scenario.head().release_id }
}

/** What a client may see of the upstream's headers: content type, request ids, rate limits and retries. */
function relayedHeaders({ headers }: Pick<WholeAnswer, 'headers'>): Record<string, string> {
  const relayed: Record<string, string> = {}
  for (const name in headers) {
    const value = headers[name]
    if (value !== undefined && (name === 'content-type' || name.endsWith('request-id') || isRetryHeader(name))) relayed[name] = value
  }
  return relayed
}

function pathWithQuery(visit: Visit, path: string): string {
  return visit.query === '' ? path : `${path}?${visit.query}`
}
