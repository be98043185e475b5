/** The request line: freeze, prepare, ask, verify, keep. One exchange, whole or streamed, in three dialects. */
import { setTimeout as sleep } from 'node:timers/promises'
import {
  INTERRUPTED_RETRY_FIRST_SECONDS,
  INTERRUPTED_RETRY_MAX_SECONDS,
  isObject,
  unavailable,
  upstream,
  type Dialect,
  type ExchangeSummary,
  type Json,
  type JsonObject,
  type ModelAddress,
  type NewRecord,
  type Release,
  type RuntimeAnswer,
  type StreamedAnswer,
  type WholeAnswer,
} from '../contract/index.ts'
import { artifactRef, type Named } from './artifact-ref.ts'
import { streamDialects, type StreamReader } from './dialects/index.ts'
import { exchangePayload, print, type RequestBody, type Tags } from './payload.ts'
import { summaryOf } from './summary.ts'
import { refusalOfUpstream } from './upstream-refusal.ts'

/** What serving needs of a scenario. The scenario fits by shape; neither room imports the other. */
export interface Serving extends Named {
  readonly model: ModelAddress
  head(): Release
  /** Absent where nobody keeps the exchange: on the evaluation routes. */
  readonly keep?: (record: NewRecord) => Promise<unknown>
}

export interface Call {
  /** The receipt, when the exchange is kept. */
  readonly id: string
  readonly dialect: Dialect
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly request: RequestBody
  readonly tags: Tags
  readonly signal: AbortSignal
  readonly retryTimeoutSeconds: number
  readonly clock: () => number
  /** When the whole request had come. */
  readonly begunAt: number
  readonly trace?: CallTrace | undefined
}

/** Whoever traces a call, where somebody does. Nothing it is told is waited for. */
export interface CallTrace {
  /** Before every attempt; answers the headers that carry the trace on. */
  asking(dialect: Dialect, model: ModelAddress, request: JsonObject): Readonly<Record<string, string>>
  /** A piece of a streamed answer came. */
  chunk(): void
  /** The answer, as far as it came. */
  answered(answer: JsonObject, summary: ExchangeSummary): void
}

/** What was asked of which release: everything a record needs but the answer. */
export interface Exchange {
  readonly scenario: Serving
  readonly call: Call
  readonly release: Release
  readonly request: RequestBody
  /** Lets go of what the attempt held. */
  readonly letGo: () => void
}

export type Served = { readonly kind: 'whole'; readonly answer: WholeAnswer; readonly receipt: string | null } | ServedStream
export interface ServedStream {
  readonly kind: 'stream'
  readonly exchange: Exchange
  readonly answer: StreamedAnswer
  readonly reader: StreamReader
}

export async function serve(scenario: Serving, call: Call): Promise<Served> {
  const deadline = call.clock() + call.retryTimeoutSeconds
  for (let pause = INTERRUPTED_RETRY_FIRST_SECONDS; ; pause = Math.min(pause * 2, INTERRUPTED_RETRY_MAX_SECONDS)) {
    const exchange = await begin(scenario, call)
    const answer = await ask(exchange)
    if (answer.kind === 'interrupted') {
      if (call.clock() + pause > deadline)
        throw unavailable('weight_update_race', 'every attempt lost to a weight update; send the request again', { retryAfterSeconds: 1 })
      await waitUnlessGone(pause, call.signal)
      continue
    }
    if (answer.kind === 'stream') return { kind: 'stream', exchange, answer, reader: await openReader(exchange, answer) }
    const fields = verify(exchange, answer)
    return { kind: 'whole', answer, receipt: await keep(exchange, answer.body, summarize(exchange, fields)) }
  }
}

/** The release is frozen here and travels with the exchange into the record. */
async function begin(scenario: Serving, call: Call): Promise<Exchange> {
  const release = scenario.head()
  const { hooks } = scenario.surface
  const fields = hooks?.prepare?.(release, call.dialect, call.request.fields) ?? call.request.fields
  const request = fields === call.request.fields ? call.request : { fields, bytes: Buffer.from(print(fields)) }
  const letGo = hooks?.begin === undefined ? doNothing : await hooks.begin(release, call.signal)
  return { scenario, call, release, request, letGo }
}

/** A stream goes on holding what the attempt needs; anything else lets go here. */
async function ask({ scenario, call, release, request, letGo }: Exchange): Promise<RuntimeAnswer> {
  let isStreaming = false
  try {
    const { dialect, path, signal, trace } = call
    const purpose = scenario.keep === undefined ? 'evaluation' : 'traffic'
    const { runtime, model } = scenario
    const headers = trace === undefined ? call.headers : { ...call.headers, ...trace.asking(dialect, model, request.fields) }
    const answer = await runtime.infer({ dialect, path, headers, body: request.bytes, model, release, purpose, signal })
    if (answer.kind === 'whole' && !isSuccess(answer.status)) throw refusalOfUpstream(answer)
    isStreaming = answer.kind === 'stream'
    return answer
  } finally {
    if (!isStreaming) letGo()
  }
}

async function waitUnlessGone(seconds: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(seconds * 1000, undefined, { signal })
  } catch (cause) {
    throw unavailable('client_gone', 'the client closed the connection', { cause })
  }
}

/** A stream where the format has none is given up before anyone hears of it. */
async function openReader({ call, letGo }: Exchange, { chunks }: StreamedAnswer): Promise<StreamReader> {
  const dialect = streamDialects[call.dialect]
  if (dialect !== null) return dialect.open()
  letGo()
  await chunks[Symbol.asyncIterator]().return?.()
  throw upstream('upstream_not_json', 'the upstream streamed an answer that is never streamed')
}

function verify({ scenario, release, call }: Exchange, answer: WholeAnswer): JsonObject {
  const fields = parseAnswer(answer.body)
  scenario.surface.hooks?.verify?.(release, call.dialect, fields)
  return fields
}

function parseAnswer(body: Uint8Array): JsonObject {
  try {
    const value: Json = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString())
    if (isObject(value)) return value
  } catch {
    // Falls through to the refusal: what came is not what the route promises.
  }
  throw upstream('upstream_not_json', 'the upstream answered with something that is not a JSON object')
}

export function summarize({ call, request }: Exchange, answer: JsonObject): ExchangeSummary {
  const summary = summaryOf(request.fields, answer, call.clock() - call.begunAt)
  call.trace?.answered(answer, summary)
  return summary
}

/** Durable when this resolves; only then may anyone hear the receipt. */
export async function keep(exchange: Exchange, response: Uint8Array, summary: ExchangeSummary): Promise<string | null> {
  const { scenario, call, release, request } = exchange
  if (scenario.keep === undefined) return null
  await scenario.keep({
    agent_record_id: call.id,
    request_type: 'inference',
    created_at: call.clock(),
    references: [],
    artifact_ref: artifactRef(scenario, call.tags, release),
    score: null,
    payload: exchangePayload(request, call.tags, response),
    summary,
  })
  return call.id
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300
}

function doNothing(): void {}
