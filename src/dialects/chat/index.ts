/** Chat completions. */
import { isObject, type Json } from '../../contract/index.ts'
import type { DialectSpec } from '../dialect.ts'
import { openai } from '../openai.ts'
import { ChatReader } from './stream.ts'

export const chat: DialectSpec = {
  ...openai,
  name: 'chat',
  path: '/v1/chat/completions',
  ownsPath: (path) => path.endsWith('/v1/chat/completions'),
  facts: { maxTokens: ['max_tokens', 'max_completion_tokens'], temperature: 'temperature' },
  answer: { model: 'model', id: 'id', usage: 'usage', inputTokens: ['prompt_tokens'], outputTokens: ['completion_tokens'] },
  finishReasons: ({ choices }) =>
    Array.isArray(choices) ? choices.flatMap((choice: Json) => (isObject(choice) ? (choice['finish_reason'] ?? []) : [])) : [],
  isEvent: ({ choices, object }) => Array.isArray(choices) || object === 'chat.completion.chunk',
  openStream: () => new ChatReader(),
}
