/** Responses. */
import { isObject } from '../../contract/index.ts'
import type { DialectSpec } from '../dialect.ts'
import { openai } from '../openai.ts'
import { ResponsesReader } from './stream.ts'

export const responses: DialectSpec = {
  ...openai,
  name: 'responses',
  path: '/v1/responses',
  ownsPath: (path) => path.endsWith('/v1/responses'),
  facts: { maxTokens: ['max_output_tokens'], temperature: 'temperature' },
  answer: { model: 'model', id: 'id', usage: 'usage', inputTokens: ['input_tokens'], outputTokens: ['output_tokens'] },
  finishReasons: ({ incomplete_details, status }) => [
    (isObject(incomplete_details) ? incomplete_details['reason'] : undefined) ?? status ?? null,
  ],
  isEvent: ({ type, response }) => typeof type === 'string' && (type.startsWith('response.') || isObject(response)),
  openStream: () => new ResponsesReader(),
}
