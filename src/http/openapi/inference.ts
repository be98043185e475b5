/** The inference, evaluation and multimodal routes, described. */
import { HEADER } from '../../contract/index.ts'
import { dialects, type DialectSpec } from '../../dialects/index.ts'
import * as bodies from './bodies.ts'
import { other, type Answer, type Description, type Descriptions } from './description.ts'
import { chosenReceipt, optionalScenario, scenario, startingRelease, tags } from './parameters.ts'
import { CHOSEN, CREATED, KNOWN, LOOSE_BODY, NAMED, refusals, TAGGED, UPSTREAM, WRITING } from './refusals.ts'

interface Format {
  readonly dialect: DialectSpec
  /** In names of operations. */
  readonly name: string
  readonly words: string
  readonly body: NonNullable<Description['body']>
}

const FORMATS: readonly Format[] = [
  { dialect: dialects.chat, name: 'ChatCompletion', words: 'a chat completion', body: bodies.chatBody },
  { dialect: dialects.responses, name: 'Response', words: 'a response', body: bodies.responsesBody },
  { dialect: dialects.messages, name: 'Message', words: 'a message', body: bodies.messagesBody },
  { dialect: dialects.count_tokens, name: 'TokenCount', words: 'a token count', body: bodies.countTokensBody },
]

const RACE = { 503: ['weight_update_race'] }
/** Of a scenario that serves weights. */
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
  409: ['no_load_id', 'spans_do_not_add_up'],
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
const EVALUATED = refusals({ 400: ['foreign_lora_path'], 404: ['unknown_scenario'] }, LOOSE_BODY, TAGGED, UPSTREAM, RACE)

const AS_PROVIDER = "Send the request as you would send it to the provider; status, content type and body of the answer are the provider's."

export const inferenceDescriptions: Descriptions = {
  ...Object.fromEntries(FORMATS.map((format) => [`POST ${format.dialect.path}`, traffic(format)])),
  'GET /v1/responses': {
    operationId: 'refuseWebSocket',
    tag: 'inference',
    summary: 'Says that the route has no web socket',
    description: 'A client that tries a socket first falls back to POST at once.',
    answers: {},
    refusals: { 426: ['upgrade_required'] },
  },
  'GET /v1/models': {
    operationId: 'listModels',
    tag: 'inference',
    summary: 'Relays the list of models',
    description: 'Not stored. A scenario that is named and exists has its own model settings used; none is created by asking.',
    parameters: [optionalScenario],
    answers: { 200: other('application/json', "The provider's answer.") },
    refusals: refusals({ 400: ['bad_scenario_name', 'repeated_header'] }, KNOWN, UPSTREAM),
  },
  ...Object.fromEntries(FORMATS.map((format) => [`POST /svc/scenarios/:scenario/evaluation${format.dialect.path}`, evaluation(format)])),
  ...Object.fromEntries(
    FORMATS.map((format) => [
      `POST /svc/scenarios/:scenario/components/:component/evaluation${format.dialect.path}`,
      componentEvaluation(format),
    ]),
  ),
  'POST /v1/images': relayed('createImage', 'Relays a request for images'),
  'POST /v1/embeddings': relayed('createEmbedding', 'Relays a request for embeddings'),
  'POST /v1/audio/speech': relayed('createSpeech', 'Relays a request for speech'),
  'POST /v1/decisions': relayed('createDecision', 'Relays a request for a decision'),
}

function traffic({ dialect, name, words, body }: Format): Description {
  return {
    operationId: `create${name}`,
    tag: 'inference',
    summary: `Answers with ${words} of the provider, and stores the exchange`,
    description: `${AS_PROVIDER} A new scenario is created unless the deployment forbids it. Only answers with status 2xx are stored.`,
    parameters: [scenario, startingRelease, chosenReceipt, tags],
    body,
    answers: { 200: answerIn(dialect, [HEADER.receipt, HEADER.release]) },
    refusals: refusals(NAMED, TAGGED, CHOSEN, LOOSE_BODY, CREATED, WRITING, UPSTREAM, RACE, WEIGHTS),
  }
}

function answerIn({ openStream }: DialectSpec, headers: Answer['headers']): Answer {
  const stream = openStream === undefined ? {} : { 'text/event-stream': null }
  return { description: "The provider's answer, byte for byte.", content: { 'application/json': null, ...stream }, headers }
}

function evaluation({ dialect, name, words, body }: Format): Description {
  return {
    operationId: `evaluate${name}`,
    tag: 'evaluation',
    summary: `Answers with ${words} of the provider, and stores nothing`,
    description: `${AS_PROVIDER} For a scenario that is loaded in this process; its own request hooks stay out. Takes the evaluation token too.`,
    parameters: [tags],
    body,
    answers: { 200: answerIn(dialect, []) },
    refusals: EVALUATED,
  }
}

function componentEvaluation(format: Format): Description {
  return {
    ...evaluation(format),
    operationId: `evaluateComponent${format.name}`,
    description: `${AS_PROVIDER} As the evaluation of the scenario, with the hooks of every other component in force.`,
    refusals: refusals(EVALUATED, { 404: ['unknown_component'] }),
  }
}

function relayed(operationId: string, summary: string): Description {
  return {
    operationId,
    tag: 'multimodal',
    summary,
    description: 'Status, content type and bytes of the answer are those of the gateway.',
    parameters: [scenario, startingRelease],
    body: bodies.gatewayBody,
    answers: { 200: other('*/*', "The gateway's answer.") },
    refusals: refusals(NAMED, LOOSE_BODY, { 400: ['stream_unsupported'], 501: ['no_gateway'] }, CREATED, UPSTREAM),
  }
}
