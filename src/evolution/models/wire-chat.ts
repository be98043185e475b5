/** The format of chat completions. */
import type { ChatMessage, JsonObject } from '../../contract/index.ts'
import { countOf, objectOf, objectsOf, partsText, textOf } from '../values.ts'
import type { Answered, Asked } from './wire.ts'

export const path = '/v1/chat/completions'
export const headers = {}

export function bodyOf({ model, messages, tools, tokensMax }: Asked): JsonObject {
  return {
    model,
    messages: messages.map(messageOf),
    ...(tokensMax !== null && { max_tokens: tokensMax }),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, parameters }) => ({ type: 'function', function: { name, description, parameters } })),
    }),
  }
}

function messageOf(message: ChatMessage): JsonObject {
  if (message.role === 'tool') return { role: 'tool', tool_call_id: message.call_id, content: message.content }
  const { role, content } = message
  if (message.role !== 'assistant' || message.calls === undefined || message.calls.length === 0) return { role, content }
  const calls = message.calls.map((call) => ({ id: call.id, type: 'function', function: { name: call.name, arguments: call.arguments } }))
  return { role, content, tool_calls: calls }
}

export function answerIn({ choices, usage }: JsonObject): Answered | null {
  const [choice] = objectsOf(choices)
  if (choice === undefined) return null
  const { content, tool_calls } = objectOf(choice['message'])
  const { prompt_tokens, completion_tokens } = objectOf(usage)
  return {
    text: partsText(content, 'text'),
    calls: objectsOf(tool_calls).map(({ id, function: called }) => {
      const { name, arguments: given } = objectOf(called)
      return { id: textOf(id), name: textOf(name), arguments: textOf(given) }
    }),
    inputTokens: countOf(prompt_tokens),
    outputTokens: countOf(completion_tokens),
  }
}
