/** The inference and evaluation routes: headers and body into a call, the answer back onto the socket. */
import type { ServerResponse } from 'node:http'
import { HEADER, upstream, type Dialect, type WholeAnswer } from '../contract/index.ts'
import { refusalOfUpstream, serve, serveStream, type Call, type Served, type Serving } from '../inference/index.ts'
import { scenarioName, type Scenario } from '../scenarios/index.ts'
import { readBody } from './bodies/index.ts'
import type { Door, Visit } from './door.ts'
import { HttpRefusal, isRelayedHeader } from './errors.ts'
import { goneSignal, whileConnected } from './gone.ts'
import { noteUpstream } from './note.ts'
import { outletOf } from './outlet.ts'
import { nameInPath } from './params.ts'
import type { Asked, LineHandler, Reply } from './reply.ts'
import { chosenReceipt, encodeHeader, forwardedHeaders, headerText, scenarioOf, tagsOf } from './scope.ts'

/** Beyond this, copying the body costs more than a second write. */
const ONE_WRITE_BYTES_MAX = 16 * 1024

/** Served, recorded, and answered with a receipt. */
export function traffic(dialect: Dialect): LineHandler {
  return async (door, visit, response, bodyBytesMax) => {
    const name = scenarioOf(visit.request)
    visit.note.scenario = name
    const release = headerText(visit.request, HEADER.release)
    const chosen = chosenReceipt(visit.request)
    const call = await callOf(door, visit, response, dialect, visit.path, bodyBytesMax)
    await door.registry.useOrCreate(name, release, async (scenario) => {
      const answer = async (asked: Call): Promise<void> => {
        // Every answer of such a scenario says which release is served, refusals too.
        const served = await serve(scenario, asked).finally(() => Object.assign(visit.headers, releaseHeader(scenario)))
        await write(door, visit, response, served)
      }
      await (chosen === null ? answer(call) : scenario.claim(chosen, () => answer({ ...call, id: chosen, interruptedId: call.id })))
    })
  }
}

/** The same line for a scenario that is loaded here, kept by nobody. */
export function evaluation(dialect: Dialect): LineHandler {
  return async (door, visit, response, bodyBytesMax) => {
    const name = nameInPath(visit)
    const path = visit.path.slice(visit.path.lastIndexOf('/v1/'))
    const call = await callOf(door, visit, response, dialect, path, bodyBytesMax)
    await door.registry.useLoaded(name, async (scenario) => {
      const serving: Serving = scenario.evaluation(visit.params['component'] ?? null)
      await write(door, visit, response, await serve(serving, call))
    })
  }
}

/** Which models there are, relayed: real clients ask. The scenario is optional and never created by asking. */
export async function models({ door, visit }: Asked): Promise<Reply> {
  const named = headerText(visit.request, HEADER.scenario)
  const name = named === null ? null : scenarioName(named, HEADER.scenario)
  const ask = async ({ runtime, model }: Pick<Scenario, 'runtime' | 'model'>): Promise<Reply> => {
    const asked = { path: pathWithQuery(visit, visit.path), headers: forwardedHeaders(visit.request.headers), model }
    const answer = await whileConnected(visit.request, (signal) => runtime.models({ ...asked, signal }))
    if (answer.status >= 300) throw refusalOfUpstream(answer)
    refuseNoJson(answer.body)
    return { status: answer.status, headers: wholeHeaders(answer), body: answer.body }
  }
  return name !== null && door.registry.has(name) ? door.registry.use(name, ask) : ask(door)
}

/** One client tries a socket first; told so at once, it falls back at once. */
export function refuseWebSocket(): Reply {
  throw new HttpRefusal(426, 'upgrade_required', 'this service answers over HTTP; POST to this route', { allow: 'POST' })
}

async function callOf(door: Door, visit: Visit, response: ServerResponse, dialect: Dialect, path: string, bytesMax: number): Promise<Call> {
  const { request } = visit
  const tags = tagsOf(request.headers)
  const body = await door.bodies.line(await readBody(request, bytesMax, visit.hold), tags)
  const { clock, retryTimeoutSeconds, answerBytesMax } = door
  return {
    id: door.newId(),
    dialect,
    path: pathWithQuery(visit, path),
    headers: forwardedHeaders(request.headers),
    request: body,
    tags,
    signal: goneSignal(response),
    retryTimeoutSeconds,
    answerBytesMax,
    clock,
    begunAt: clock(),
    trace: visit.trace,
  }
}

async function write(door: Door, visit: Visit, response: ServerResponse, served: Served): Promise<void> {
  noteUpstream(visit.note, served.answer.headers)
  if (served.kind === 'whole') {
    writeWhole(visit, response, served.answer, served.receipt)
    return
  }
  response.writeHead(served.answer.status, { ...visit.headers, ...relayedHeaders(served.answer) })
  response.flushHeaders()
  const { receipt, cause } = await serveStream(served, outletOf(response), door.keepRawStreams)
  if (receipt !== null) visit.note.receipt = receipt
  if (cause === null) return
  visit.note.cause = cause
  door.metrics.streamInterrupted()
}

function writeWhole(visit: Visit, response: ServerResponse, answer: WholeAnswer, receipt: string | null): void {
  const headers: Record<string, string | number> = {
    ...visit.headers,
    ...wholeHeaders(answer),
    'content-length': answer.body.length,
  }
  if (receipt !== null) {
    headers[HEADER.receipt] = encodeHeader(receipt)
    visit.note.receipt = receipt
  }
  response.writeHead(answer.status, headers)
  endWith(response, answer.body)
}

/** Node joins headers and a string into one write; bytes of their own would be a second one. Latin-1 maps every byte to itself. */
function endWith(response: ServerResponse, body: Uint8Array): void {
  if (body.length > ONE_WRITE_BYTES_MAX) response.end(body)
  else response.end(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1'), 'latin1')
}

/** On a scenario that serves files: the release its clients would pull now. */
function releaseHeader(scenario: Scenario): Readonly<Record<string, string>> {
  return scenario.surface.files === undefined ? {} : { [HEADER.release]: scenario.pulledId }
}

/** A whole answer is JSON, whatever its upstream calls it: as anything else a browser might run it. */
function wholeHeaders(answer: Pick<WholeAnswer, 'headers'>): Record<string, string> {
  const { 'content-type': type = '', ...headers } = relayedHeaders(answer)
  return { ...headers, 'content-type': JSON_TYPE.test(type) ? type : 'application/json' }
}

const JSON_TYPE = /^application\/(?:[a-z0-9.-]+\+)?json(?:;|$)/i

function refuseNoJson(body: Uint8Array): void {
  if (body.length === 0) return
  try {
    JSON.parse(Buffer.from(body).toString())
  } catch {
    throw upstream('upstream_not_json', 'the upstream answered with something that is not JSON')
  }
}

function relayedHeaders({ headers }: Pick<WholeAnswer, 'headers'>): Record<string, string> {
  const relayed: Record<string, string> = {}
  for (const name in headers) {
    const value = headers[name]
    if (value !== undefined && (name === 'content-type' || isRelayedHeader(name))) relayed[name] = value
  }
  return relayed
}

function pathWithQuery(visit: Visit, path: string): string {
  return visit.query === '' ? path : `${path}?${visit.query}`
}
