/** Responses. */
import { isObject, type JsonObject } from '../../contract/index.ts'
import { errorSchema, responsesBodySchema } from '../../contract/wire/index.ts'
import { chatRequestOf } from '../chat-request.ts'
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
