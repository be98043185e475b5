/** The format of responses. */
import type { ChatMessage, JsonObject } from '../../contract/index.ts'
import { countOf, objectOf, objectsOf, partsText, textOf } from '../values.ts'
import type { Answered, Asked } from './wire.ts'

export const path = '/v1/responses'
export const headers = {}

export function bodyOf({ model, messages, tools, tokensMax }: Asked): JsonObject {
  return {
    model,
    input: messages.flatMap(itemsOf),
    store: false,
    ...(tokensMax !== null && { max_output_tokens: tokensMax }),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, parameters }) => ({ type: 'function', name, description, parameters })),
    }),
  }
}

function itemsOf(message: ChatMessage): readonly JsonObject[] {
  if (message.role === 'tool') return [{ type: 'function_call_output', call_id: message.call_id, output: message.content }]
  const { role, content } = message
  const calls = message.role === 'assistant' ? (message.calls ?? []) : []
  return [
    ...(content === '' ? [] : [{ role, content }]),
    ...calls.map((call) => ({ type: 'function_call', call_id: call.id, name: call.name, arguments: call.arguments })),
  ]
}

export function answerIn({ output, usage }: JsonObject): Answered | null {
  if (!Array.isArray(output)) return null
  const items = objectsOf(output)
  const { input_tokens, output_tokens } = objectOf(usage)
  return {
    text: items.map(({ type, content }) => (type === 'message' ? partsText(content, 'output_text') : '')).join(''),
    calls: items
      .filter(({ type }) => type === 'function_call')
      .map((item) => ({ id: textOf(item['call_id']), name: textOf(item['name']), arguments: textOf(item['arguments']) })),
    inputTokens: countOf(input_tokens),
    outputTokens: countOf(output_tokens),
  }
}
