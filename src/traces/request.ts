/** The trace of one request: a span for the request, and a child span for the model call. Both are written when the request is over. */
import { PRODUCT, type Dialect, type ExchangeSummary, type JsonObject, type ModelAddress } from '../contract/index.ts'
import { dialects } from '../dialects/index.ts'
import { withoutSecrets } from '../kit/index.ts'
import { Attributes, shortened } from './attributes.ts'
import { inputMessages, instructionsOf, outputMessages } from './content.ts'
import { traceHeaders, type TraceContext } from './context.ts'
import { NAME } from './names.ts'
import { newSpanId, type SpanSink, type TraceSpan } from './span.ts'

/** What is known of a finished request. */
export interface FinishedRequest {
  readonly id: string
  readonly method: string
  /** The route pattern; null where no route matched. */
  readonly route: string | null
  readonly path: string
  /** Null when the client disconnected before the response. */
  readonly status: number | null
  readonly note: {
    readonly scenario?: string
    readonly receipt?: string
    readonly path?: string
    readonly code?: string
    readonly cause?: string
  }
}

/** A failure: its kind for programs, and its message. */
interface Failure {
  readonly type: string
  readonly words: string
}

export class RequestSpans {
  readonly #sink: SpanSink
  readonly #context: TraceContext
  readonly #id = newSpanId()
  readonly #callId = newSpanId()
  readonly #begun = performance.now()
  #call: TracedCall | null = null
  #report: { readonly score: number | null; readonly receipts: readonly string[] } | null = null

  constructor(sink: SpanSink, context: TraceContext) {
    this.#sink = sink
    this.#context = context
  }

  /** All attempts belong to one call. Answers the headers that pass the trace on. */
  asking(dialect: Dialect, model: ModelAddress, request: JsonObject, hasWords: boolean): Readonly<Record<string, string>> {
    this.#call ??= { dialect, model, request, hasWords, begun: performance.now(), firstChunk: null, answer: null }
    return traceHeaders(this.#context, this.#callId)
  }

  chunk(): void {
    if (this.#call !== null) this.#call.firstChunk ??= performance.now()
  }

  answered(fields: JsonObject, summary: ExchangeSummary): void {
    if (this.#call !== null) this.#call.answer = { fields, summary, at: performance.now() }
  }

  /** The request reported a score of these receipts, or none of them. */
  reported(score: number | null, receipts: readonly string[]): void {
    this.#report = { score, receipts }
  }

  end(seen: FinishedRequest): void {
    if (!this.#context.isSampled) return
    const ended = performance.now()
    const call = this.#call
    if (call === null) this.#sink.write(1, () => [this.#requestSpan(seen, ended)])
    else this.#sink.write(2, () => [this.#requestSpan(seen, ended), this.#callSpan(call, seen, ended)])
  }

  #requestSpan(seen: FinishedRequest, ended: number): TraceSpan {
    const { id, method, route, path, status, note } = seen
    const failure = failureOf(seen)
    // The path of an unknown route is known to name nobody only as the log has it; that of a call may hold the name of a model.
    const shownPath = route === null ? note.path : (this.#call?.hasWords ?? true) ? path : route
    const attributes = new Attributes()
      .text(NAME.method, method)
      .text(NAME.scheme, this.#sink.scheme)
      .text(NAME.path, shownPath)
      .text(NAME.route, route)
      .whole(NAME.status, status)
      .text(NAME.errorType, failure?.type ?? note.code)
      .text(NAME.requestId, id)
      .text(NAME.scenario, note.scenario)
      .text(NAME.receipt, note.receipt)
      .number(NAME.score, this.#report?.score)
      .texts(NAME.reported, this.#report?.receipts ?? [])
    return {
      context: this.#context,
      id: this.#id,
      parentId: this.#context.parentSpanId,
      name: route === null ? method : `${method} ${route}`,
      kind: 'server',
      begun: this.#begun,
      ended,
      attributes,
      failure: failure?.words ?? null,
    }
  }

  #callSpan(call: TracedCall, seen: FinishedRequest, ended: number): TraceSpan {
    const failure = callFailure(call, seen)
    return {
      context: this.#context,
      id: this.#callId,
      parentId: this.#id,
      name: callName(call),
      kind: 'client',
      begun: call.begun,
      ended: call.answer?.at ?? ended,
      attributes: callAttributes(call, this.#sink).text(NAME.errorType, failure?.type),
      failure: failure?.words ?? null,
    }
  }
}

/** Why the service failed. A client error is not a failure of the service, but its code stands in the span. */
function failureOf({ status, note: { code, cause } }: FinishedRequest): Failure | null {
  if (status === null) return { type: 'client_gone', words: 'the client left before there was an answer' }
  if (status >= 500) return { type: code ?? String(status), words: withoutSecrets(cause ?? code ?? `status ${status}`) }
  return code === undefined && cause !== undefined ? { type: 'stream_interrupted', words: withoutSecrets(cause) } : null
}

/** A complete answer is no failure of the model, whatever happened afterwards. */
function callFailure({ answer }: TracedCall, seen: FinishedRequest): Failure | null {
  const { code } = seen.note
  if (answer !== null) return code === undefined ? failureOf(seen) : null
  return failureOf(seen) ?? { type: code ?? 'no_answer', words: code ?? 'there was no answer' }
}

const MODEL_CHARACTERS_MAX = 200

/** The model call, including attempts that lost a race. */
interface TracedCall {
  readonly dialect: Dialect
  readonly model: ModelAddress
  readonly request: JsonObject
  /** False where less than all of the exchange is recorded. */
  readonly hasWords: boolean
  readonly begun: number
  firstChunk: number | null
  answer: { readonly fields: JsonObject; readonly summary: ExchangeSummary; readonly at: number } | null
}

/** A client or an upstream may give a model any name: where less than all is recorded, only the configured one stands in the span. */
const shownModel = ({ hasWords, model }: TracedCall, named: unknown): unknown => (hasWords || named === model.model ? named : null)

function callName(call: TracedCall): string {
  const operation = dialects[call.dialect].operation
  const model = shownModel(call, call.request['model'])
  return typeof model === 'string' && model !== '' ? `${operation} ${shortened(model, MODEL_CHARACTERS_MAX)}` : operation
}

/** In the words of the GenAI conventions. */
function callAttributes(call: TracedCall, sink: SpanSink): Attributes {
  const isWithContent = sink.isWithContent && call.hasWords
  const { dialect, model, request, begun, firstChunk, answer } = call
  const spec = dialects[dialect]
  const settings = spec.settingsIn(request)
  const url = URL.canParse(model.url) ? new URL(model.url) : null
  // Which of several answered is known by its name alone.
  const server = model.upstreams === undefined ? url : null
  const attributes = new Attributes()
    .text(NAME.operation, spec.operation)
    // Whose format it is: an address says no more, since many speak the format of another.
    .text(NAME.provider, url === null ? PRODUCT : spec.provider)
    .text(NAME.serverAddress, server?.hostname)
    .whole(NAME.serverPort, server === null ? null : portOf(server))
    .text(NAME.requestModel, shownModel(call, request['model']))
    .whole(NAME.maxTokens, settings.maxTokens)
    .number(NAME.temperature, settings.temperature)
    .number(NAME.timeToFirstChunk, firstChunk === null ? null : (firstChunk - begun) / 1000)
  if (request['stream'] === true) attributes.flag(NAME.isStream, true)
  if (isWithContent)
    attributes.json(NAME.instructions, instructionsOf(request, spec.reader)).json(NAME.inputMessages, inputMessages(request, spec.reader))
  if (answer === null) return attributes
  const { fields, summary } = answer
  attributes
    .text(NAME.responseModel, shownModel(call, fields[spec.answer.model]))
    .text(NAME.responseId, call.hasWords ? fields[spec.answer.id] : null)
    .texts(NAME.finishReasons, call.hasWords ? spec.finishReasons(fields) : [])
    .text(NAME.upstream, summary.upstream)
    .whole(NAME.inputTokens, summary.input_tokens)
    .whole(NAME.outputTokens, summary.output_tokens)
    .number(NAME.cost, costOf(call, answer, sink))
  return isWithContent ? attributes.json(NAME.outputMessages, outputMessages(fields, spec.reader)) : attributes
}

/** By the name that the answer has, or else the one that was asked for. Null without a price, and where the provider counted nothing. */
function costOf({ dialect, request }: TracedCall, { fields, summary }: NonNullable<TracedCall['answer']>, sink: SpanSink): number | null {
  const { input_tokens: input, output_tokens: output } = summary
  if (input === undefined || output === undefined) return null
  const names = [fields[dialects[dialect].answer.model], request['model']].filter((name) => typeof name === 'string')
  return sink.costOf(names, { input, output })
}

function portOf({ port, protocol }: URL): number {
  if (port !== '') return Number(port)
  return protocol === 'https:' ? 443 : 80
}
