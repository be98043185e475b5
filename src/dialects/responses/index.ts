/** Responses. */
import { invalid, isObject, type JsonObject } from '../../contract/index.ts'
import { compactBodySchema, errorSchema, inputTokensBodySchema, responsesBodySchema } from '../../contract/wire/index.ts'
import { chatPromptOf, chatRequestOf } from '../chat-request.ts'
import type { DialectSpec } from '../dialect.ts'
import { elementsFault, fault, limitFault, missing, openaiChoiceFault, wrongType, type RequestFault } from '../faults.ts'
import { openai, OPENAI_HEADERS } from '../openai.ts'
import { askResponses } from './ask.ts'
import { responsesBesides, responsesFields } from './fields.ts'
import { ResponsesHearing } from './hear.ts'
import { responsesReader } from './read.ts'
import { ResponsesSaying } from './say.ts'
import { ResponsesReader } from './stream.ts'
import { responseFrames, writeResponse, writeResponsesRequest } from './write.ts'

const PATH = responsesReader.askPath('')

export const responses: DialectSpec = {
  ...openai,
  name: 'responses',
  format: 'responses',
  paths: [PATH],
  ownsPath: (path) => path.endsWith(PATH),
  answer: { model: 'model', id: 'id', usage: 'usage', inputTokens: ['input_tokens'], outputTokens: ['output_tokens'] },
  openApi: { name: 'Response', words: 'a response', body: responsesBodySchema, error: errorSchema },
  finishReasons: ({ incomplete_details, status }) => [
    (isObject(incomplete_details) ? incomplete_details['reason'] : undefined) ?? status ?? null,
  ],
  isEvent: ({ type, response }) => typeof type === 'string' && (type.startsWith('response.') || isObject(response)),
  openStream: () => new ResponsesReader(),
  reader: responsesReader,
  faultIn,
  chatRequest: (body) => chatRequestOf(responsesReader.read(body)),
  idCharacters: 48,
  writeAnswer: writeResponse,
  frames: responseFrames,
  writeRequest: writeResponsesRequest,
  asClient: { fields: responsesFields, besides: responsesBesides, headers: OPENAI_HEADERS, say: (to) => new ResponsesSaying(to) },
  asUpstream: { ask: askResponses, path: () => PATH, hear: () => new ResponsesHearing() },
}

const { openStream: _never, asClient: _none, asUpstream: _neither, ...shared } = responses

export const responsesCount: DialectSpec = {
  ...shared,
  name: 'responses_count_tokens',
  paths: [`${PATH}/input_tokens`],
  operation: 'count_tokens',
  openApi: { ...responses.openApi, name: 'ResponseInputCount', words: 'a token count', body: inputTokensBodySchema },
  isStreamed: () => false,
  chatRequest: (body) => chatPromptOf(responsesReader.read(body)),
  writeCount: (tokens) => ({ object: 'response.input_tokens', input_tokens: tokens }),
  counted: responses,
}

export const responsesCompact: DialectSpec = {
  ...shared,
  name: 'responses_compact',
  paths: [`${PATH}/compact`],
  openApi: { ...responses.openApi, name: 'Compaction', words: 'a shorter conversation', body: compactBodySchema },
  isStreamed: () => false,
  // The shorter conversation is the provider's, and of no use to another one.
  chatRequest: () => {
    throw invalid('unsupported_content', 'the model of this scenario makes no conversation shorter; ask the provider that does')
  },
  writeAnswer: (reply, request) => ({ ...writeResponse(reply, request), object: 'response.compaction' }),
}

function faultIn(body: JsonObject, model: string): RequestFault | null {
  if (model === '') return missing('model')
  const { previous_response_id: previous, input } = body
  // Nothing is kept between calls, so no earlier answer can be found.
  if (typeof previous === 'string')
    return fault(`Previous response with id '${previous}' not found.`, 'previous_response_id', 'previous_response_not_found')
  if (input === undefined) return missing('input')
  if (typeof input !== 'string' && !Array.isArray(input)) return wrongType('input', 'a string or an array of input items')
  return elementsFault(input, 'input') ?? limitFault(body, 'max_output_tokens') ?? openaiChoiceFault(responsesReader.read(body))
}
