/** Responses: a list of items, to a chat request. */
import { invalid, isObject, type Json, type JsonObject } from '../../../contract/index.ts'
import { assistantTurn, functionTool, readList, readText, schemaFormat, systemTurn, toolCall } from './conversation.ts'
import { objectOf, objectsOf, pick, textOf, written } from './json.ts'

export function readResponses(body: JsonObject): JsonObject {
  if ((body['previous_response_id'] ?? null) !== null)
    throw invalid(
      'previous_response_not_found',
      'previous_response_id: answers are not kept for the next call; send the whole conversation as input',
    )
  const tools = [...toolsOf(body).values()].map(({ tool }) => tool)
  const messages = [...systemTurn(readText(body['instructions'], 'instructions')), ...readInput(body)]
  return {
    messages,
    ...(tools.length === 0 ? {} : { tools, ...readChoice(body['tool_choice']), ...pick(body, ['parallel_tool_calls']) }),
    ...((body['max_output_tokens'] ?? null) === null ? {} : { max_tokens: body['max_output_tokens'] ?? null }),
    ...pick(body, ['temperature', 'top_p']),
    ...readFormat(objectOf(objectOf(body['text'])['format'])),
  }
}

/** How the client offered a tool that the engine knows as a function. */
export interface OfferedTool {
  readonly isCustom: boolean
  readonly namespace: string | null
  readonly tool: JsonObject
}

const CUSTOM_INPUT: JsonObject = { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] }

/** By name. A custom tool takes plain text: the engine sees a function of one text. Hosted tools cannot be called here and are left out. */
export function toolsOf(body: JsonObject): ReadonlyMap<string, OfferedTool> {
  const offered = new Map<string, OfferedTool>()
  const take = (tool: JsonObject, namespace: string | null): void => {
    const [type, name] = [textOf(tool['type']), textOf(tool['name'])]
    if (type === 'namespace') for (const inner of objectsOf(tool['tools'])) take(inner, name)
    const isCustom = type === 'custom'
    if (name === '' || (type !== 'function' && !isCustom)) return
    const parameters = isCustom ? CUSTOM_INPUT : objectOf(tool['parameters'])
    offered.set(name, { isCustom, namespace, tool: functionTool(name, tool['description'], parameters) })
  }
  for (const tool of objectsOf(body['tools'])) take(tool, null)
  return offered
}

function readInput(body: JsonObject): readonly JsonObject[] {
  const input = body['input']
  if (typeof input === 'string') return [{ role: 'user', content: input }]
  return readList(body, 'input').reduce<readonly JsonObject[]>((turns, item, at) => withItem(turns, item, `input.${at}`), [])
}

const RESULTS = new Set(['function_call_output', 'custom_tool_call_output'])

/** Calls that follow an assistant's words or calls are of the same turn. */
function withItem(turns: readonly JsonObject[], item: JsonObject, where: string): readonly JsonObject[] {
  const type = textOf(item['type'])
  if (type === 'reasoning') return turns
  if (type === 'function_call' || type === 'custom_tool_call') return withCall(turns, readCall(item))
  if (RESULTS.has(type))
    return [...turns, { role: 'tool', tool_call_id: textOf(item['call_id']), content: readOutput(item['output'], where) }]
  if (type !== '' && type !== 'message')
    throw invalid('unsupported_content', `${where}: this model takes messages and calls of functions only`)
  const text = readText(item['content'], `${where}.content`)
  const role = textOf(item['role'])
  if (role === 'system' || role === 'developer') return [...turns, ...systemTurn(text)]
  return [...turns, role === 'assistant' ? assistantTurn(text, []) : { role: 'user', content: text }]
}

function withCall(turns: readonly JsonObject[], call: JsonObject): readonly JsonObject[] {
  const last = turns.at(-1)
  if (last?.['role'] !== 'assistant') return [...turns, assistantTurn('', [call])]
  return [...turns.slice(0, -1), assistantTurn(textOf(last['content']), [...objectsOf(last['tool_calls']), call])]
}

function readCall(item: JsonObject): JsonObject {
  const text = item['type'] === 'custom_tool_call' ? JSON.stringify({ input: textOf(item['input']) }) : written(item['arguments'])
  return toolCall(textOf(item['call_id']), textOf(item['name']), text)
}

const readOutput = (output: Json | undefined, where: string): string =>
  Array.isArray(output) ? readText(output, `${where}.output`) : written(output)

function readChoice(choice: Json | undefined): JsonObject {
  if (typeof choice === 'string') return { tool_choice: choice }
  if (!isObject(choice)) return {}
  const name = textOf(choice['name'])
  if (name !== '') return { tool_choice: { type: 'function', function: { name } } }
  return choice['mode'] === undefined ? {} : { tool_choice: choice['mode'] }
}

function readFormat(format: JsonObject): JsonObject {
  if (format['type'] === 'json_object') return { response_format: { type: 'json_object' } }
  return format['type'] === 'json_schema' ? { response_format: schemaFormat(objectOf(format['schema'])) } : {}
}
