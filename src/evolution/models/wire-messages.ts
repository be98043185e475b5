/** The format of messages. */
import { isObject, type ChatMessage, type Json, type JsonObject } from '../../contract/index.ts'
import { countOf, objectOf, objectsOf, partsText, textOf } from '../values.ts'
import type { Answered, Asked } from './wire.ts'

/** This format wants a limit in any case: one that every model takes. */
const TOKENS_UNSAID = 4096

export const path = '/v1/messages'
export const headers = { 'anthropic-version': '2023-06-01' }

export function bodyOf({ model, messages, tools, tokensMax }: Asked): JsonObject {
  const system = messages.flatMap(({ role, content }) => (role === 'system' ? [content] : []))
  return {
    model,
    max_tokens: tokensMax ?? TOKENS_UNSAID,
    ...(system.length > 0 && { system: system.join('\n\n') }),
    messages: joined(messages.filter(({ role }) => role !== 'system').map(turnOf)),
    ...(tools.length > 0 && { tools: tools.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters })) }),
  }
}

interface Turn {
  readonly role: 'user' | 'assistant'
  readonly content: readonly JsonObject[]
}

function turnOf(message: ChatMessage): Turn {
  if (message.role === 'tool')
    return { role: 'user', content: [{ type: 'tool_result', tool_use_id: message.call_id, content: message.content }] }
  const said = message.content === '' ? [] : [{ type: 'text', text: message.content }]
  if (message.role !== 'assistant') return { role: 'user', content: said }
  const calls = (message.calls ?? []).map((call) => ({ type: 'tool_use', id: call.id, name: call.name, input: inputOf(call.arguments) }))
  return { role: 'assistant', content: [...said, ...calls] }
}

/** What a model wrote as arguments need not be JSON; it is told so by the tool's answer. */
function inputOf(written: string): JsonObject {
  try {
    const input: Json = JSON.parse(written)
    return isObject(input) ? input : {}
  } catch {
    return {}
  }
}

/** The answers to several calls are one turn here, and two turns of one side may not follow each other. */
function joined(turns: readonly Turn[]): readonly JsonObject[] {
  const all: Turn[] = []
  for (const turn of turns) {
    const last = all.at(-1)
    if (last?.role === turn.role) all[all.length - 1] = { role: turn.role, content: [...last.content, ...turn.content] }
    else all.push(turn)
  }
  return all.map(({ role, content }) => ({ role, content }))
}

export function answerIn({ content, usage }: JsonObject): Answered | null {
  if (!Array.isArray(content)) return null
  const { input_tokens, cache_read_input_tokens, cache_creation_input_tokens, output_tokens } = objectOf(usage)
  return {
    text: partsText(content, 'text'),
    calls: objectsOf(content)
      .filter(({ type }) => type === 'tool_use')
      .map(({ id, name, input }) => ({ id: textOf(id), name: textOf(name), arguments: JSON.stringify(input ?? {}) })),
    inputTokens: countOf(input_tokens) + countOf(cache_read_input_tokens) + countOf(cache_creation_input_tokens),
    outputTokens: countOf(output_tokens),
  }
}
