/** The inference and evaluation routes: headers and body into a call, the answer back onto the socket. */
import {
  HEADER,
  invalid,
  isObject,
  leastOf,
  unknown,
  upstream,
  type Commit,
  type CountedCall,
  type Dialect,
  type ModelsCall,
  type WholeAnswer,
} from '../../contract/index.ts'
import { dialects, isList, objectsOf, parsed, sentPath } from '../../dialects/index.ts'
import {
  answerPieces,
  refusalOfUpstream,
  releaseFor,
  serve,
  serveStream,
  type Call,
  type Served,
  type Serving,
} from '../../inference/index.ts'
import { lengthOf } from '../../kit/index.ts'
import { tokensOf } from '../../limits/index.ts'
import { scenarioName, type Scenario } from '../../scenarios/index.ts'
import { clientKeyIn } from '../credentials/client-key.ts'
import { noteImplicitScenario } from './audit.ts'
import type { Handler, HttpContext, LineHandler, TrafficHandler } from '../context.ts'
import { HttpRefusal, isRelayedHeader } from '../errors.ts'
import { answerHeld } from './held.ts'
import { inTurn, UNLIMITED, withinLimits, type CallAnswered, type LimitedCall } from './limited.ts'
import { logSummary, logUpstreamId } from '../log/log-fields.ts'
import { clientSignal, responseOutlet } from '../response-stream.ts'
import { endWith, type HttpReply } from '../reply.ts'
import type { TrafficScenario, TrafficServices } from '../services.ts'
import {
  askedRecording,
  chosenReceipt,
  encodeHeader,
  forwardedHeaders,
  headerText,
  nameInPath,
  scenarioOf,
  tagsOf,
  takesProvisional,
} from '../request-fields.ts'

/** Served, recorded, and answered with a receipt. */
export function traffic(dialect: Dialect): TrafficHandler {
  // A count of tokens takes none.
  const isFree = dialects[dialect].writeCount !== undefined
  return async (context) => {
    const name = scenarioOf(context.request)
    context.logFields.scenario = name
    const release = headerText(context.request, HEADER.release)
    const chosen = chosenReceipt(context.request)
    const takes = takesProvisional(context.request)
    const mode = context.services.recorder.modeOf(name)
    const recording = leastOf(mode, askedRecording(context.request) ?? mode)
    context.recording = recording
    if (recording !== 'full') context.headers[HEADER.recording] = recording
    const answered = async ({ begin, settle }: LimitedCall): Promise<void> => {
      const call = { ...(await callOf(context, dialect, context.path)), ...clientKeyOf(context), takesProvisional: takes, recording }
      await begin()
      const askedBytes = call.request.pieces.length
      const answerIn = async (scenario: TrafficScenario): Promise<void> => {
        const answer = async (asked: Call): Promise<void> => {
          const served = await serve(scenario, asked)
            .catch((error: unknown) => {
              // The upstream has read the question of a client that left, and charges for it.
              if (asked.signal.aborted) settle({ summary: askedModel(asked), askedBytes, answeredBytes: 0, isWhole: false })
              throw error
            })
            // Every answer names the release that is served, refusals included.
            .finally(() => Object.assign(context.headers, releaseHeaders(scenario, asked)))
          settle({ ...(await write(context, served)), askedBytes })
        }
        await (chosen === null ? answer(call) : scenario.claim(chosen, () => answer({ ...call, id: chosen, interruptedId: call.id })))
      }
      const made = (row: Commit): Promise<void> => noteImplicitScenario(context, name, row)
      // Nobody holds a turn while its body is still coming.
      await inTurn(context, name, () => context.services.registry.useOrCreate(name, release, answerIn, made))
    }
    await withinLimits(context, name, answered, isFree)
  }
}

function askedModel({ dialect, path, request }: Call): CallAnswered['summary'] {
  const model = dialects[dialect].modelIn(path, request.facts)
  return model === '' ? {} : { model }
}

const EVALUATION = '/evaluation/'

/** The same for a loaded scenario, without a record. */
export function evaluation(dialect: Dialect): LineHandler {
  const isFree = dialects[dialect].writeCount !== undefined
  return async (context) => {
    const name = nameInPath(context)
    context.recording = context.services.recorder.modeOf(name)
    const path = context.path.slice(context.path.lastIndexOf(EVALUATION) + EVALUATION.length - 1)
    const { registry, fleet } = context.services
    const lease = leaseIn(context)
    // A step of another gateway may have offered the episode.
    const use: typeof registry.useLoaded = (...asked) => (lease === null ? registry.useLoaded(...asked) : registry.use(...asked))
    const answered = async ({ begin, settle }: LimitedCall): Promise<void> => {
      const call = await callOf(context, dialect, path)
      await begin()
      const askedBytes = call.request.pieces.length
      await use(name, async (scenario) => {
        const serving: Serving = scenario.evaluation(context.params['component'] ?? null)
        const { budgets } = scenario.binding
        if (!isFree && lease?.budget !== undefined && budgets !== undefined)
          return answerHeld(
            { fleet, lease, budget: lease.budget, budgets, call },
            () => serve(serving, call),
            (each) => write(context, each),
          )
        const served = await serve(serving, call).catch((error: unknown) => {
          if (call.signal.aborted) settle({ summary: askedModel(call), askedBytes, answeredBytes: 0, isWhole: false })
          throw error
        })
        settle({ ...(await write(context, served)), askedBytes })
      })
    }
    // What a person replays counts as their traffic does. Training counts by its own budgets.
    if (lease !== null)
      return fleet.within(lease, () => answered({ ...UNLIMITED, settle: (each) => fleet.called(lease, callOfLease(each)) }))
    if (context.principal.kind !== 'service') return answered(UNLIMITED)
    await withinLimits(context, name, answered, isFree)
  }
}

/** Of a worker that asks for the episode that it plays. */
const leaseIn = ({ principal }: Pick<HttpContext, 'principal'>) => (principal.kind === 'evaluation' ? principal.lease : null)

/** What an episode on another machine takes is counted here, since a worker might say less. */
function callOfLease({ summary, ...answered }: CallAnswered): Omit<CountedCall, 'cost'> {
  const { model, input_tokens: inputTokens, output_tokens: outputTokens } = summary
  return { model: model ?? null, ...tokensOf({ model, inputTokens, outputTokens, ...answered }) }
}

/** Relays the list of models. The scenario is optional and is not created. */
export async function models(context: HttpContext): Promise<HttpReply> {
  const { services } = context
  const named = headerText(context.request, HEADER.scenario)
  const name = named === null ? null : scenarioName(named, HEADER.scenario)
  context.recording = services.recorder.modeOf(name ?? '')
  const ask = async ({ runtime, model }: Pick<Scenario, 'runtime' | 'model'>): Promise<HttpReply> => {
    const asked = {
      path: pathWithQuery(context, context.path),
      headers: forwardedHeaders(context.request.headers),
      ...clientKeyOf(context),
      model,
    }
    const answer = await runtime.models({ ...asked, signal: clientSignal(context.response) })
    if (answer.status >= 300) throw refusalOfUpstream(answer, (answer.by ?? model).apiKey)
    refuseNoJson(answer.body)
    const { model: id } = context.params
    return { status: answer.status, headers: wholeHeaders(answer), body: id === undefined ? answer.body : modelIn(answer.body, id) }
  }
  return name !== null && (await services.registry.has(name)) ? services.registry.use(name, ask) : ask(services)
}

/** The model that is meant, where a runtime lists its models whatever it is asked. */
function modelIn(body: Uint8Array, id: string): Uint8Array {
  const said = parsed(Buffer.from(body).toString())
  if (!isObject(said) || !isList(said['data'])) return body
  const found = objectsOf(said['data']).find((model) => model['id'] === id)
  if (found === undefined) throw unknown('model_not_found', 'there is no such model; GET /v1/models lists those there are')
  return Buffer.from(JSON.stringify(found))
}

/** SDKs have methods for more than is served. */
export function notServed(instead: string): Handler {
  return async (context) => {
    await context.readBytes()
    throw new HttpRefusal(501, 'not_served', `this service does not serve ${context.path}; ${instead}`, { 'x-should-retry': 'false' })
  }
}

/** One client tries a web socket first, and falls back at once when it is refused. */
export function refuseWebSocket(): HttpReply {
  throw new HttpRefusal(426, 'upgrade_required', 'this service answers over HTTP; POST to this route', { allow: 'POST' })
}

function clientKeyOf({ request, services }: HttpContext<TrafficServices>): Pick<ModelsCall, 'clientKey'> {
  const clientKey = clientKeyIn(request.headers, services)
  return clientKey === null ? {} : { clientKey }
}

async function callOf(context: HttpContext<TrafficServices>, dialect: Dialect, path: string): Promise<Call> {
  const asked = pathWithQuery(context, sentPath(path))
  const fault = dialects[dialect].pathFault?.(asked) ?? null
  if (fault !== null) throw invalid(fault.code ?? 'invalid_query', fault.message)
  const { services, request, response } = context
  const tags = tagsOf(request.headers)
  const body = await services.bodies.line(await context.readBytes(), tags)
  const { clock, retryTimeoutSeconds, answerBytesMax } = services
  return {
    id: services.newId(),
    dialect,
    path: asked,
    headers: forwardedHeaders(request.headers),
    request: body,
    tags,
    signal: clientSignal(response),
    retryTimeoutSeconds,
    answerBytesMax,
    clock,
    begunAt: clock(),
    trace: context.trace,
  }
}

async function write(context: HttpContext<TrafficServices>, served: Served): Promise<Omit<CallAnswered, 'askedBytes'>> {
  const { services, response } = context
  await logUpstreamId(context, served.answer.headers)
  if (served.kind === 'whole') {
    logSummary(context.logFields, served.summary)
    return { summary: served.summary, answeredBytes: writeWhole(context, served.answer, served.receipt), isWhole: true }
  }
  response.writeHead(served.answer.status, { ...context.headers, ...relayedHeaders(served.answer) })
  // Sends them now; flushHeaders() would write their bytes as UTF-8, and so twice.
  response.write('', 'latin1')
  const {
    receipt,
    cause,
    isQuoted,
    summary,
    answerBytes: answeredBytes,
  } = await serveStream(served, responseOutlet(response), services.keepRawStreams)
  logSummary(context.logFields, summary)
  if (receipt !== null) context.logFields.receipt = receipt
  if (cause !== null) {
    const isOurs = !isQuoted && context.recording !== 'redacted'
    context.logFields.cause = (isOurs ? cause : await services.recorder.loggedWords(context.recording, cause)) ?? NOT_LOGGED
    services.metrics.streamInterrupted()
  }
  return { summary, answeredBytes, isWhole: cause === null }
}

const NOT_LOGGED = 'the upstream broke off with an error; its words are not recorded here'

/** Answers how long the answer is. */
function writeWhole(context: HttpContext<TrafficServices>, answer: WholeAnswer, receipt: string | null): number {
  const pieces = answerPieces(answer)
  const length = lengthOf(pieces)
  const headers: Record<string, string | number> = {
    ...context.headers,
    ...wholeHeaders(answer),
    'content-length': length,
  }
  if (receipt !== null) {
    headers[HEADER.receipt] = encodeHeader(receipt)
    context.logFields.receipt = receipt
  }
  context.response.writeHead(answer.status, headers)
  endWith(context.response, ...pieces)
  return length
}

/** The release that this client would pull now, when the scenario serves files; and that it is unproven, where it is. */
function releaseHeaders(scenario: TrafficScenario, call: Call): Readonly<Record<string, string>> {
  const release = scenario.provisional === null ? null : releaseFor(scenario, call)
  const provisional = release === scenario.provisional?.release ? release : null
  return {
    ...(scenario.surface.files !== undefined && { [HEADER.release]: provisional?.release_id ?? scenario.pulledId }),
    ...(provisional && { [HEADER.provisional]: 'yes' }),
  }
}

/** A whole answer is always sent as JSON: a browser might run any other type. */
function wholeHeaders(answer: Pick<WholeAnswer, 'headers'>): Record<string, string> {
  const headers = relayedHeaders(answer)
  const type = headers['content-type'] ?? ''
  headers['content-type'] = JSON_TYPE.test(type) ? type : 'application/json'
  return headers
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

function pathWithQuery({ rawQuery }: Pick<HttpContext, 'rawQuery'>, path: string): string {
  return rawQuery === '' ? path : `${path}?${rawQuery}`
}
