/** Messages, and the count of their tokens. */
import { errorIn, errorType, isText, type DialectSpec } from '../dialect.ts'
import { MessagesReader } from './stream.ts'

export const messages: DialectSpec = {
  name: 'messages',
  path: '/v1/messages',
  ownsPath: (path) => /\/v1\/messages(?:\/|$)/.test(path),
  provider: 'anthropic',
  operation: 'chat',
  requestIdHeader: 'request-id',
  keyHeaders: (apiKey) => ({ 'x-api-key': apiKey }),
  defaultHeaders: { 'anthropic-version': '2023-06-01' },
  facts: { maxTokens: ['max_tokens'], temperature: 'temperature' },
  answer: {
    model: 'model',
    id: 'id',
    usage: 'usage',
    // What came from the cache is counted beside the input; everywhere else it is counted within it.
    inputTokens: ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'],
    outputTokens: ['output_tokens'],
  },
  finishReasons: ({ stop_reason }) => [stop_reason ?? null],
  writeError: (status, { message, requestId }) => ({
    type: 'error',
    error: { type: errorType(status), message },
    ...(requestId !== undefined && { request_id: requestId }),
  }),
  isError(said) {
    const error = errorIn(said)
    return error !== null && isText(error['type']) && said['type'] === 'error'
  },
  isEvent: ({ type }) => typeof type === 'string' && /^(?:message|content_block)_/.test(type),
  openStream: () => new MessagesReader(),
}

const { openStream: _never, ...shared } = messages

export const messagesCount: DialectSpec = { ...shared, name: 'count_tokens', path: '/v1/messages/count_tokens', operation: 'count_tokens' }
