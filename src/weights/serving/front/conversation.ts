/** What the formats share on their way to a chat request: the text of a content, tools, and an assistant that calls them. */
import { invalid, type Json, type JsonObject } from '../../../contract/index.ts'
import { objectsOf, textOf } from './json.ts'

const TEXTS = new Set(['text', 'input_text', 'output_text', 'refusal', 'summary_text'])
/** Blocks that stand for turns of their own, and thoughts, which the model does not get to see again. */
const NO_CONTENT = new Set(['tool_use', 'tool_result', 'thinking', 'redacted_thinking', 'reasoning'])

/** `where` names the content for a refusal: this model reads text alone. */
export function readText(content: Json | undefined, where: string): string {
  if (typeof content === 'string') return content
  const texts: string[] = []
  for (const [at, part] of objectsOf(content).entries()) {
    const type = textOf(part['type'])
    if (TEXTS.has(type)) texts.push(textOf(part['text']) || textOf(part['refusal']))
    else if (!NO_CONTENT.has(type))
      throw invalid('unsupported_content', `${where}.${at}: this model takes text only; leave other parts out`)
  }
  return texts.join('\n')
}

/** The turns of a conversation that a format keeps in a list of objects. */
export function readList(body: JsonObject, field: string): readonly JsonObject[] {
  const list = body[field]
  if (!Array.isArray(list) || list.length === 0) throw invalid('missing_required_parameter', `${field}: a list of at least one is required`)
  const turns = objectsOf(list)
  if (turns.length < list.length) throw invalid('invalid_type', `${field}: every element must be an object`)
  return turns
}

export const systemTurn = (text: string): readonly JsonObject[] => (text === '' ? [] : [{ role: 'system', content: text }])

export const functionTool = (name: string, description: Json | undefined, parameters: JsonObject): JsonObject => ({
  type: 'function',
  function: { name, ...(description === undefined ? {} : { description }), parameters },
})

export const toolCall = (id: string, name: string, argumentsText: string): JsonObject => ({
  id,
  type: 'function',
  function: { name, arguments: argumentsText },
})

export function assistantTurn(text: string, calls: readonly JsonObject[]): JsonObject {
  if (calls.length === 0) return { role: 'assistant', content: text }
  return { role: 'assistant', content: text === '' ? null : text, tool_calls: calls }
}

export const schemaFormat = (schema: JsonObject): JsonObject => ({ type: 'json_schema', json_schema: { name: 'answer', schema } })
