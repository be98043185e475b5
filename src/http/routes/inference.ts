/** The inference, evaluation and multimodal routes. */
import { HEADER } from '../../contract/index.ts'
import * as wire from '../../contract/wire/index.ts'
import { dialects, type DialectSpec } from '../../dialects/index.ts'
import type { HttpRoute } from '../context.ts'
import * as inference from '../handlers/inference.ts'
import * as multimodal from '../handlers/multimodal.ts'
import { chosenReceipt, optionalScenario, provisional, recording, scenario, startingRelease, tags } from '../openapi/parameters.ts'
import { CHOSEN, CREATED, KNOWN, LIMITED, LOOSE_BODY, NAMED, QUEUED, refusals, TAGGED, UPSTREAM, WRITING } from '../openapi/refusals.ts'
import { other, type RouteAnswer, type RouteSpec } from '../openapi/spec.ts'
import { rowsOf } from './row.ts'

const inferred = rowsOf('inference')
const evaluated = rowsOf('evaluation')
const multimodalRows = rowsOf('multimodal')

type RowSpec = Omit<RouteSpec, 'tag'> & Pick<HttpRoute, 'right'>

interface Format {
  readonly dialect: DialectSpec
  readonly path: string
  readonly name: string
}

/** A format with a route of its own for streams has one operation for each. */
const FORMATS: readonly Format[] = Object.values(dialects).flatMap((dialect) => {
  const { name } = dialect.openApi
  return dialect.paths.map((path, at) => ({ dialect, path, name: at === 0 ? name : `Streamed${name}` }))
})

const RACE = { 503: ['weight_update_race'] }
const WEIGHTS = {
  400: [
    'foreign_lora_path',
    'foreign_return_meta_info',
    'unsupported_value',
    'unsupported_content',
    'missing_required_parameter',
    'invalid_type',
    'previous_response_not_found',
    'invalid_json',
  ],
  409: ['no_load_id', 'spans_do_not_add_up', 'base_changed'],
  502: [
    'engine_unreachable',
    'engine_timeout',
    'engine_failed',
    'engine_not_json',
    'engine_answer_broken',
    'engine_answer_too_large',
    'engine_other_model',
    'engine_without_lora',
  ],
  503: [
    'nothing_served',
    'adapter_lost',
    'adapter_not_loaded',
    'engine_unreachable',
    'engine_busy',
    'engine_stuck',
    'engine_closed',
    'engine_no_memory',
    'model_changed',
  ],
}
const EVALUATED = refusals(
  { 400: ['foreign_lora_path'], 404: ['unknown_scenario'], 429: ['episode_limit', 'step_cap'] },
  LIMITED,
  LOOSE_BODY,
  TAGGED,
  UPSTREAM,
  RACE,
)

const AS_PROVIDER = "Send the request as you would send it to the provider; status, content type and body of the answer are the provider's."

const OF_SCENARIO = '/svc/scenarios/:scenario/evaluation'
const OF_COMPONENT = '/svc/scenarios/:scenario/components/:component/evaluation'

export const inferenceRoutes: readonly HttpRoute[] = [
  ...FORMATS.map((format) => inferred.traffic(format.path, inference.traffic(format.dialect.name), traffic(format))),
  inferred.get('/v1/responses', inference.refuseWebSocket, {
    right: 'infer',
    scope: 'any',
    operationId: 'refuseWebSocket',
    summary: 'Says that the route has no web socket',
    description: 'A client that tries a socket first falls back to POST at once.',
    answers: {},
    refusals: { 426: ['upgrade_required'] },
  }),
  inferred.get('/v1/models', inference.models, {
    right: 'infer',
    operationId: 'listModels',
    summary: 'Relays the list of models',
    description: 'Not stored. The model settings of a named scenario apply when it exists; none is created.',
    parameters: [optionalScenario],
    answers: { 200: other('application/json', "The provider's answer.") },
    refusals: refusals({ 400: ['bad_scenario_name', 'repeated_header'] }, KNOWN, UPSTREAM),
  }),
  inferred.get('/v1/models/:model', inference.models, {
    right: 'infer',
    operationId: 'readModel',
    summary: 'Relays what is known of a model',
    description: 'As the list of models, of which it is one.',
    parameters: [optionalScenario],
    answers: { 200: other('application/json', "The provider's answer.") },
    refusals: refusals({ 400: ['bad_scenario_name', 'repeated_header'], 404: ['model_not_found'] }, KNOWN, UPSTREAM),
  }),
  inferred.post('/v1/completions', inference.notServed('POST the text as a message to /v1/chat/completions'), {
    right: 'infer',
    scope: 'any',
    operationId: 'refuseCompletion',
    summary: 'Says that completions of plain text are not served',
    answers: {},
    refusals: { 501: ['not_served'] },
  }),
  ...FORMATS.map((format) => evaluated.line(`${OF_SCENARIO}${format.path}`, inference.evaluation(format.dialect.name), evaluation(format))),
  ...FORMATS.map((format) =>
    evaluated.line(`${OF_COMPONENT}${format.path}`, inference.evaluation(format.dialect.name), componentEvaluation(format)),
  ),
  multimodalRows.post('/v1/images', multimodal.relay('images'), relayed('createImage', 'Relays a request for images')),
  multimodalRows.post(
    '/v1/images/generations',
    multimodal.relay('images/generations'),
    relayed('generateImage', "Relays a request for images at the path of OpenAI's SDKs"),
  ),
  multimodalRows.post('/v1/embeddings', multimodal.relay('embeddings'), relayed('createEmbedding', 'Relays a request for embeddings')),
  multimodalRows.post('/v1/audio/speech', multimodal.relay('audio/speech'), relayed('createSpeech', 'Relays a request for speech')),
  multimodalRows.post('/v1/decisions', multimodal.relay('decisions'), relayed('createDecision', 'Relays a request for a decision')),
]

function traffic({ dialect, name }: Format): RowSpec {
  const { words, body } = dialect.openApi
  return {
    right: 'infer',
    operationId: `create${name}`,
    summary: `Answers with ${words} of the provider, and stores the exchange`,
    description: `${AS_PROVIDER} A new scenario is created unless the deployment forbids it. Only answers with status 2xx are stored.`,
    parameters: [scenario, startingRelease, chosenReceipt, provisional, recording, tags],
    body,
    answers: { 200: answerIn(dialect, [HEADER.receipt, HEADER.release, HEADER.provisional, HEADER.recording]) },
    refusals: refusals(pathFaults(dialect), NAMED, TAGGED, CHOSEN, LIMITED, QUEUED, LOOSE_BODY, CREATED, WRITING, UPSTREAM, RACE, WEIGHTS, {
      503: ['redaction_failed'],
    }),
  }
}

function pathFaults({ pathFault }: DialectSpec): RouteSpec['refusals'] {
  return pathFault === undefined ? {} : { 400: ['alt_not_sse'] }
}

function answerIn({ openStream }: DialectSpec, headers: RouteAnswer['headers']): RouteAnswer {
  const stream = openStream === undefined ? {} : { 'text/event-stream': null }
  return { description: "The provider's answer, byte for byte.", content: { 'application/json': null, ...stream }, headers }
}

function evaluation({ dialect, name }: Format): RowSpec & Pick<HttpRoute, 'access'> {
  const { words, body } = dialect.openApi
  return {
    access: 'evaluation',
    right: 'review',
    operationId: `evaluate${name}`,
    summary: `Answers with ${words} of the provider, and stores nothing`,
    description: `${AS_PROVIDER} For a scenario that is loaded in this process; its own request hooks stay out. Takes the evaluation token too.`,
    parameters: [tags],
    body,
    answers: { 200: answerIn(dialect, []) },
    refusals: refusals(pathFaults(dialect), EVALUATED),
  }
}

function componentEvaluation(format: Format): RowSpec & Pick<HttpRoute, 'access'> {
  return {
    ...evaluation(format),
    right: 'manage',
    operationId: `evaluateComponent${format.name}`,
    description: `${AS_PROVIDER} As the evaluation of the scenario, with the hooks of every other component in force.`,
    refusals: refusals(pathFaults(format.dialect), EVALUATED, { 404: ['unknown_component'] }),
  }
}

function relayed(operationId: string, summary: string): RowSpec {
  return {
    right: 'infer',
    operationId,
    summary,
    description: 'Status, content type and bytes of the answer are those of the gateway.',
    parameters: [scenario, startingRelease],
    body: wire.gatewayBodySchema,
    answers: { 200: other('*/*', "The gateway's answer.") },
    refusals: refusals(NAMED, LIMITED, LOOSE_BODY, { 400: ['stream_unsupported'], 501: ['no_gateway'] }, CREATED, UPSTREAM),
  }
}
