/** The request line: freeze, prepare, ask, verify, keep. One exchange, whole or streamed. */
import { setTimeout as sleep } from 'node:timers/promises'
import {
  INLINE_BODY_BYTES_MAX,
  INTERRUPTED_RETRY_FIRST_SECONDS,
  INTERRUPTED_RETRY_MAX_SECONDS,
  invalid,
  isObject,
  SESSION_TAG,
  unavailable,
  upstream,
  type AnsweringUpstream,
  type Capture,
  type ClientKey,
  type Dialect,
  type ExchangeSummary,
  type Json,
  type JsonObject,
  type ModelAddress,
  type NewRecord,
  type RecordingMode,
  type Release,
  type StreamedAnswer,
  type WholeAnswer,
  RELEASE_TAG,
  type Runtime,
  type ServedProvisional,
  type Surface,
} from '../contract/index.ts'
import { dialects, parseExactly, tokensIn, type DialectSpec, type StreamReader } from '../dialects/index.ts'
import { dataWithoutKnownSecrets, lengthOf, textOf, withBody } from '../kit/index.ts'
import { answerTooLarge, exchangePayload, print, withoutClientKey, type Tags } from './payload.ts'
import { parsedBody, type RequestBody } from './request-body.ts'
import { releaseFor } from './served.ts'
import { inClientsWords, translationOf, type TranslatedAnswer, type TranslationMark } from './translated.ts'
import { refusalOfUpstream } from './upstream-refusal.ts'

/** What serving needs of a scenario. The scenario fits by shape; neither room imports the other. */
export interface Serving {
  readonly surface: Surface
  readonly runtime: Runtime
  readonly model: ModelAddress
  head(): Release
  /** Absent or null where every client is served the head. */
  readonly provisional?: ServedProvisional | null
  hasRelease(releaseId: string): boolean | Promise<boolean>
  /** Absent where the exchange is not kept: on the evaluation routes. */
  readonly keep?: (record: NewRecord) => Promise<unknown>
}

export interface Call {
  /** The receipt, when the exchange is kept. */
  readonly id: string
  /** The receipt of an answer that broke off, where the other one was chosen by the client: under that it may try again. */
  readonly interruptedId?: string
  readonly dialect: Dialect
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Never kept. */
  readonly clientKey?: ClientKey | undefined
  readonly request: RequestBody
  readonly tags: Tags
  /** What the client says of unproven releases. */
  readonly takesProvisional?: boolean | null
  /** How much of the exchange is stored. Absent: all of it. */
  readonly recording?: RecordingMode
  readonly signal: AbortSignal
  readonly retryTimeoutSeconds: number
  /** What the answer may be at most, as it comes from the upstream. */
  readonly answerBytesMax: number
  readonly clock: () => number
  /** When the whole request had come. */
  readonly begunAt: number
  readonly trace?: CallTrace | undefined
}

/** Traces a call. Nothing waits for it. */
export interface CallTrace {
  /** Before every attempt; answers the headers that carry the trace on. Without words, it shows none of the request and the answer. */
  asking(dialect: Dialect, model: ModelAddress, request: JsonObject, hasWords: boolean): Readonly<Record<string, string>>
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
  /** Where it is sent: frozen too, since the settings may be read again meanwhile. */
  readonly model: ModelAddress
  readonly request: RequestBody
  /** Lets go of what the attempt held. */
  readonly letGo: () => void
}

export type Served =
  | { readonly kind: 'whole'; readonly answer: WholeAnswer; readonly receipt: string | null; readonly summary: ExchangeSummary }
  | ServedStream
export interface ServedStream {
  readonly kind: 'stream'
  readonly exchange: Exchange
  readonly answer: StreamedAnswer
  readonly reader: StreamReader
  /** What is kept of an answer that was verified before its first event, beside what was sent. */
  readonly training: JsonObject | null
  /** Present where the client and the upstream speak different formats. */
  readonly translation?: TranslationMark | undefined
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
    if (answer.kind === 'stream') return openStream(exchange, answer)
    const pieces = answerPieces(answer)
    if (lengthOf(pieces) > call.answerBytesMax) throw answerTooLarge(call.answerBytesMax)
    const fields = parseAnswer(pieces, answer.translation === undefined ? undefined : parseExactly)
    const training = verify(exchange, fields, answer.capture)
    const { translation } = answer
    const isAsSent = training === null && translation === undefined
    const response = isAsSent ? pieces : [Buffer.from(print({ ...fields, ...besides(training, translation) }))]
    const summary = summarize(exchange, fields, answer)
    const receipt = await keep(exchange, response, summary)
    giveBack(exchange, answer)
    return { kind: 'whole', answer, receipt, summary }
  }
}

/**
 * The release is frozen here and travels with the exchange into the record. The head may have moved while a call waited to be admitted: then
 * the new one is held. Nothing may come between that look and what is prepared by it.
 */
async function begin(scenario: Serving, call: Call): Promise<Exchange> {
  const { hooks } = scenario.surface
  for (;;) {
    const release = releaseFor(scenario, call)
    const letGo = hooks?.begin === undefined ? holdNothing : await hooks.begin(release, call.signal)
    if (releaseFor(scenario, call) === release) return prepared(scenario, call, release, letGo)
    letGo()
  }
}

function prepared(scenario: Serving, call: Call, release: Release, letGo: () => void): Exchange {
  try {
    refuseForeignAdapter(scenario, call)
    return { scenario, call, release, model: scenario.model, request: preparedBody(scenario, call, release), letGo }
  } catch (error) {
    letGo()
    throw error
  }
}

/** An unchanged body is never built: it goes on as the bytes it came in. */
function preparedBody({ surface }: Serving, { dialect, request, tags }: Call, release: Release): RequestBody {
  if (surface.hooks?.prepare === undefined) return request
  const fields = surface.hooks.prepare(release, dialect, request.fields())
  return fields === request.fields() ? request : parsedBody(Buffer.from(print(fields)), fields, tags)
}

/** A scenario without weights of its own may not name any: they are another's. */
function refuseForeignAdapter({ runtime, surface }: Serving, { request: { facts } }: Call): void {
  if (runtime.weights === undefined || surface.weights !== undefined || (facts['lora_path'] ?? null) === null) return
  throw invalid('foreign_lora_path', 'lora_path must be left out: no adapter is served here')
}

/** A stream goes on holding what the attempt needs; anything else lets go here. */
async function ask({ scenario, call, release, model, request, letGo }: Exchange): Promise<TranslatedAnswer> {
  let isStreaming = false
  try {
    const { dialect, path, answerBytesMax, signal, trace, clientKey } = call
    const purpose = scenario.keep === undefined ? 'evaluation' : 'traffic'
    const { runtime } = scenario
    const headers =
      trace === undefined ? call.headers : { ...call.headers, ...trace.asking(dialect, model, tracedFacts(call, request), isInFull(call)) }
    const own = clientKey === undefined ? {} : { clientKey }
    const asked = { dialect, path, headers, ...own, answerBytesMax, model, release, purpose, signal } as const
    const named = model.upstreams === undefined && model.formats === undefined ? null : withModelName(asked, request)
    const translation =
      named === null ? null : translationOf(runtime, named, { fields: () => exactFields(request), id: call.id, nowSeconds: call.clock() })
    const answer = await runtime.infer(translation?.call ?? withBody(named ?? asked, request.pieces))
    if (answer.kind === 'whole' && (answer.status < 200 || answer.status > 299))
      throw refusalOfUpstream(answer, (answer.by ?? model).apiKey, translation === null ? dialects[dialect] : null)
    isStreaming = answer.kind === 'stream'
    return translation === null || answer.kind === 'interrupted'
      ? answer
      : inClientsWords(answer, translation, (answer.by ?? model).apiKey, readAnswer)
  } finally {
    if (!isStreaming) letGo()
  }
}

function exactFields({ pieces, fields }: RequestBody): JsonObject {
  const value = parseExactly(textOf(pieces.list))
  return isObject(value) ? value : fields()
}

/** One of several upstreams is chosen by the model that the request names, and a translated call names it. */
const withModelName = <T extends Pick<Call, 'dialect' | 'path'>>(asked: T, { facts }: RequestBody) => ({
  ...asked,
  askedModel: dialects[asked.dialect].modelIn(asked.path, facts),
})

/** Once the exchange is durable and nobody holds the request any more. */
export function giveBack({ request }: Exchange, { isBodySent }: WholeAnswer | StreamedAnswer): void {
  if (isBodySent?.() === true) request.pieces.letGo()
}

export const isInFull = ({ recording = 'full' }: Call): boolean => recording === 'full'

/** Some formats name the model, and say that they stream, in the path. A trace may show all of a short body. */
function tracedFacts({ dialect, path }: Call, { pieces, facts: few, fields }: RequestBody): JsonObject {
  const facts = pieces.length <= INLINE_BODY_BYTES_MAX ? fields() : few
  const model = dialects[dialect].modelIn(path, facts)
  return { ...facts, ...(model !== '' && { model }), ...(dialects[dialect].isStreamed(path, facts) && { stream: true }) }
}

async function waitUnlessGone(seconds: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(seconds * 1000, undefined, { signal })
  } catch (cause) {
    throw unavailable('client_gone', 'the client closed the connection', { cause })
  }
}

async function openStream(exchange: Exchange, answer: StreamedAnswer & Pick<TranslatedAnswer, 'translation'>): Promise<ServedStream> {
  try {
    const reader = openReader(exchange.call.dialect)
    const training = answer.whole === undefined ? null : verify(exchange, answer.whole.answer, answer.whole.capture)
    return { kind: 'stream', exchange, answer, reader, training, translation: answer.translation }
  } catch (error) {
    // Given up before any of it is sent.
    exchange.letGo()
    await answer.chunks[Symbol.asyncIterator]().return?.()
    throw error
  }
}

function openReader(dialect: Dialect): StreamReader {
  const reader = dialects[dialect].openStream?.()
  if (reader === undefined) throw upstream('upstream_not_json', 'the upstream streamed an answer that is never streamed')
  return reader
}

/** What is kept of the capture beside the answer; null where nothing is. */
function verify({ scenario, release, call }: Exchange, answer: JsonObject, capture: Capture | undefined): JsonObject | null {
  return scenario.surface.hooks?.verify?.(release, call.dialect, answer, capture) ?? null
}

/** As they came. Reading the body would join them. */
export function answerPieces(answer: Pick<WholeAnswer, 'pieces' | 'body'>): readonly Uint8Array[] {
  return answer.pieces ?? [answer.body]
}

/** What is printed again keeps its digits. */
const readAnswer = (answer: WholeAnswer): JsonObject => parseAnswer(answerPieces(answer), parseExactly)

function parseAnswer(pieces: readonly Uint8Array[], parse: (text: string) => Json = JSON.parse): JsonObject {
  try {
    const value = parse(textOf(pieces))
    if (isObject(value)) return value
  } catch {
    // Falls through to the refusal: what came is not what the route promises.
  }
  throw upstream('upstream_not_json', 'the upstream answered with something that is not a JSON object')
}

/** What a record has of an answer that the client did not get. */
export const besides = (training: JsonObject | null, translation: TranslationMark | undefined): JsonObject => ({
  ...(training !== null && { training }),
  ...(translation !== undefined && { translation: { ...translation } }),
})

export function summarize(
  { call, request }: Exchange,
  answer: JsonObject,
  { by, translation }: { readonly by?: AnsweringUpstream | undefined; readonly translation?: TranslationMark | undefined },
): ExchangeSummary {
  const dialect = dialects[call.dialect]
  const { [SESSION_TAG]: session } = call.tags
  const told = summaryOf(dialect, dialect.modelIn(call.path, request.facts), answer, call.clock() - call.begunAt)
  const exchanged = translation === undefined ? told : withoutEmptyCounts(told)
  const named =
    session === undefined && by === undefined && translation === undefined
      ? exchanged
      : {
          ...exchanged,
          ...(session !== undefined && { session }),
          ...(typeof by?.name === 'string' && { upstream: by.name }),
          ...(translation && { upstream_format: translation.to }),
        }
  const summary = call.clientKey === undefined ? named : dataWithoutKnownSecrets(named)
  call.trace?.answered(answer, summary)
  return summary
}

/** A format in which every answer has counts says 0 where the upstream did not count. */
function withoutEmptyCounts(summary: ExchangeSummary): ExchangeSummary {
  const { input_tokens: input, output_tokens: output, ...rest } = summary
  return input === 0 && output === 0 ? rest : summary
}

/** Durable when this resolves; only then may the receipt be sent. */
export async function keep(
  exchange: Exchange,
  response: readonly Uint8Array[],
  summary: ExchangeSummary,
  id = exchange.call.id,
): Promise<string | null> {
  const { scenario, call, release, request } = exchange
  const { recording } = call
  if (scenario.keep === undefined || recording === 'off') return null
  const reference = await artifactRef(scenario, call.tags, release)
  await scenario.keep(
    new ExchangeRecord(id, call, reference, request, exchangePayload(request, withoutClientKey(response, call.clientKey)), summary),
  )
  return id
}

/** Nothing is joined unless a store reads `payload`, or copies the record. */
class ExchangeRecord implements NewRecord {
  readonly agent_record_id: string
  readonly request_type = 'inference'
  readonly created_at: number
  readonly references = []
  readonly artifact_ref: string
  readonly score = null
  readonly pieces: readonly Uint8Array[]
  readonly summary: ExchangeSummary
  readonly recording?: RecordingMode
  declare readonly payload: Buffer
  readonly #request: RequestBody

  /** One getter for all records: V8 would make one for each among what lives long. */
  static readonly #joined: PropertyDescriptor & ThisType<ExchangeRecord> = {
    get() {
      this.#request.pieces.requireHeld()
      return Buffer.concat(this.pieces)
    },
    enumerable: true,
  }

  constructor(
    id: string,
    { clock, recording }: Call,
    reference: string,
    request: RequestBody,
    pieces: readonly Uint8Array[],
    summary: ExchangeSummary,
  ) {
    this.agent_record_id = id
    this.created_at = clock()
    this.artifact_ref = reference
    this.pieces = pieces
    this.summary = summary
    this.#request = request
    if (recording !== undefined) this.recording = recording
    Object.defineProperty(this, 'payload', ExchangeRecord.#joined)
  }
}

/**
 * The client's tag counts only where clients hold the release themselves: the scenario serves files to pull, nothing of the release acts
 * inside this service (no hooks, no training runtime), and the tag names a release of the scenario's catalog.
 */
async function artifactRef(scenario: Serving, tags: Tags, frozen: Release): Promise<string> {
  const tag = tags[RELEASE_TAG]
  const isPulled = scenario.surface.files !== undefined && scenario.surface.hooks === undefined && scenario.surface.weights === undefined
  return tag !== undefined && isPulled && (await scenario.hasRelease(tag)) ? tag : frozen.release_id
}

const holdNothing = (): void => undefined

const MODEL_CHARACTERS_MAX = 200

/** What a list shows of an exchange without its body: which model, how long it took, how many tokens its provider counted. */
export function summaryOf(dialect: DialectSpec, askedModel: string, answer: JsonObject, seconds: number): ExchangeSummary {
  const model = answer[dialect.answer.model] ?? askedModel
  const { input, output } = tokensIn(dialect, answer)
  const summary: { -readonly [Name in keyof ExchangeSummary]: ExchangeSummary[Name] } = {
    latency_ms: Math.max(0, Math.round(seconds * 1000)),
  }
  if (typeof model === 'string' && model !== '') summary.model = model.slice(0, MODEL_CHARACTERS_MAX).toWellFormed()
  if (input !== null) summary.input_tokens = input
  if (output !== null) summary.output_tokens = output
  return summary
}
