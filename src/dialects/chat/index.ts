/** Chat completions. */
import { invalid, isObject, type Json, type JsonObject } from '../../contract/index.ts'
import { chatBodySchema, errorSchema } from '../../contract/wire/index.ts'
import type { DialectSpec } from '../dialect.ts'
import { elementsFault, fault, limitFault, missing, openaiChoiceFault, wrongType, type RequestFault } from '../faults.ts'
import { openai, OPENAI_HEADERS } from '../openai.ts'
import { askChat } from './ask.ts'
import { chatBesides, chatFields } from './fields.ts'
import { ChatHearing } from './hear.ts'
import { chatReader } from './read.ts'
import { ChatSaying } from './say.ts'
import { ChatReader } from './stream.ts'
import { chatFrames, writeChat, writeChatRequest } from './write.ts'

const PATH = chatReader.askPath('')

export const chat: DialectSpec = {
  ...openai,
  name: 'chat',
  format: 'chat',
  paths: [PATH],
  ownsPath: (path) => path.endsWith(PATH),
  answer: { model: 'model', id: 'id', usage: 'usage', inputTokens: ['prompt_tokens'], outputTokens: ['completion_tokens'] },
  seedAt: [['seed']],
  openApi: { name: 'ChatCompletion', words: 'a chat completion', body: chatBodySchema, error: errorSchema },
  finishReasons: ({ choices }) =>
    Array.isArray(choices) ? choices.flatMap((choice: Json) => (isObject(choice) ? (choice['finish_reason'] ?? []) : [])) : [],
  isEvent: ({ choices, object }) => Array.isArray(choices) || object === 'chat.completion.chunk',
  openStream: () => new ChatReader(),
  reader: chatReader,
  faultIn,
  chatRequest({ stream: _stream, stream_options: _options, n = 1, ...body }) {
    if (n !== 1) throw invalid('unsupported_value', "Invalid 'n': this model gives one choice; ask again for another.")
    return typeof body['stop'] === 'string' ? { ...body, stop: [body['stop']] } : body
  },
  idCharacters: 29,
  writeAnswer: writeChat,
  frames: chatFrames,
  writeRequest: writeChatRequest,
  asClient: { fields: chatFields, besides: chatBesides, headers: OPENAI_HEADERS, say: (to) => new ChatSaying(to) },
  asUpstream: { ask: askChat, path: () => PATH, hear: () => new ChatHearing() },
}

function faultIn(body: JsonObject, model: string): RequestFault | null {
  const { messages } = body
  if (model === '') return fault('you must provide a model parameter')
  if (messages === undefined) return missing('messages')
  if (!Array.isArray(messages)) return wrongType('messages', 'an array of objects')
  if (messages.length === 0) {
    const message = "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead."
    return fault(message, 'messages', 'empty_array')
  }
  return (
    elementsFault(messages, 'messages') ??
    limitFault(body, 'max_completion_tokens') ??
    limitFault(body, 'max_tokens') ??
    openaiChoiceFault(chatReader.read(body))
  )
}
