/** Messages, and the count of their tokens. */
import type { JsonObject } from '../../contract/index.ts'
import { countTokensBodySchema, messagesBodySchema, messagesErrorSchema } from '../../contract/wire/index.ts'
import { chatPromptOf, chatRequestOf } from '../chat-request.ts'
import { errorIn, errorType, flatRequest, type DialectSpec } from '../dialect.ts'
import { choiceFault, fault, type RequestFault } from '../faults.ts'
import { filledText, isObject, listOf } from '../values.ts'
import { askMessages } from './ask.ts'
import { messagesBesides, messagesFields } from './fields.ts'
import { MessagesHearing } from './hear.ts'
import { messagesReader } from './read.ts'
import { MessagesSaying } from './say.ts'
import { MessagesReader } from './stream.ts'
import { messageFrames, writeMessage, writeMessagesRequest } from './write.ts'

const PATH = messagesReader.askPath('')

export const messages: DialectSpec = {
  ...flatRequest,
  name: 'messages',
  format: 'messages',
  paths: [PATH],
  ownsPath: (path) => /\/v1\/messages(?:\/|$)/.test(path),
  provider: 'anthropic',
  operation: 'chat',
  requestIdHeader: 'request-id',
  // A gateway in front of the provider may want a token in place of a key (`ANTHROPIC_AUTH_TOKEN`).
  keyHeaders: (apiKey) => (apiKey.startsWith('Bearer ') ? { authorization: apiKey } : { 'x-api-key': apiKey }),
  defaultHeaders: { 'anthropic-version': '2023-06-01' },
  answer: {
    model: 'model',
    id: 'id',
    usage: 'usage',
    // What came from the cache is counted beside the input; everywhere else it is counted within it.
    inputTokens: ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'],
    outputTokens: ['output_tokens'],
  },
  openApi: { name: 'Message', words: 'a message', body: messagesBodySchema, error: messagesErrorSchema },
  finishReasons: ({ stop_reason }) => [stop_reason ?? null],
  writeError: (status, { message, requestId }) => ({
    type: 'error',
    error: { type: errorType(status), message },
    ...(requestId !== undefined && { request_id: requestId }),
  }),
  isError(said) {
    const error = errorIn(said)
    return error !== null && filledText(error['type']) !== null && said['type'] === 'error'
  },
  isEvent: ({ type }) => typeof type === 'string' && /^(?:message|content_block)_/.test(type),
  openStream: () => new MessagesReader(),
  reader: messagesReader,
  faultIn,
  chatRequest: (body) => chatRequestOf(messagesReader.read(body)),
  idCharacters: 24,
  writeAnswer: writeMessage,
  frames: messageFrames,
  writeRequest: writeMessagesRequest,
  asClient: {
    fields: messagesFields,
    besides: messagesBesides,
    headers: ['anthropic-version', 'anthropic-beta'],
    say: (to) => new MessagesSaying(to),
  },
  asUpstream: { ask: askMessages, path: () => PATH, hear: () => new MessagesHearing() },
}

const { openStream: _never, asClient: _none, asUpstream: _neither, ...shared } = messages

export const messagesCount: DialectSpec = {
  ...shared,
  name: 'count_tokens',
  paths: [`${PATH}/count_tokens`],
  operation: 'count_tokens',
  openApi: { ...messages.openApi, name: 'TokenCount', words: 'a token count', body: countTokensBodySchema },
  faultIn: promptFault,
  chatRequest: (body) => chatPromptOf(messagesReader.read(body)),
  writeCount: (tokens) => ({ input_tokens: tokens }),
  counted: messages,
}

function faultIn(body: JsonObject, model: string): RequestFault | null {
  const limit = body['max_tokens']
  if (model === '') return required('model')
  if (limit === undefined) return required('max_tokens')
  if (typeof limit !== 'number' || !Number.isInteger(limit)) return fault('max_tokens: Input should be a valid integer')
  if (limit < 1) return fault('max_tokens: must be greater than or equal to 1')
  return promptFault(body, model)
}

const required = (field: string): RequestFault => fault(`${field}: Field required`)

function promptFault(body: JsonObject, model: string): RequestFault | null {
  const { messages: turns } = body
  if (model === '') return required('model')
  if (turns === undefined) return required('messages')
  if (!Array.isArray(turns)) return fault('messages: Input should be a valid list')
  if (turns.length === 0) return fault('messages: at least one message is required')
  const at = listOf(turns).findIndex((message) => !isObject(message))
  if (at !== -1) return fault(`messages.${at}: Input should be a valid dictionary`)
  const found = choiceFault(messagesReader.read(body))
  if (found === null) return null
  if (found.missing === 'named') return fault(`tool_choice: Tool '${found.name}' not found in provided tools`)
  return fault('tool_choice: tool_choice may only be specified while providing tools')
}
