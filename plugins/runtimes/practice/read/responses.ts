/** A responses request as turns, tools and limits. */
import type { Json, JsonObject } from '../../../../src/contract/index.ts'
import { objectOf, objectsOf, textOf, written } from '../json.ts'
import type { Call, Prompt, Tool, Turn } from '../prompt.ts'
import { readChoice } from './choice.ts'
import { assistantTurn, instructionTurns, isInstructionRole, joined, readContent, userTurns } from './content.ts'
import { limitOf } from './limits.ts'

export function readResponses(body: JsonObject, model: string): Prompt {
  return {
    model,
    turns: [...instructionTurns(readContent(body['instructions'])), ...readInput(body['input'])],
    tools: objectsOf(body['tools']).flatMap((tool) => readTool(tool, null)),
    choice: readChoice(body['tool_choice']),
    tokensMax: limitOf(body['max_output_tokens']),
    stops: [],
    format: readFormat(objectOf(objectOf(body['text'])['format'])),
  }
}

const readInput = (input: Json | undefined): readonly Turn[] =>
  typeof input === 'string' ? userTurns(readContent(input)) : objectsOf(input).flatMap(readItem)

const CALLS = new Set(['function_call', 'custom_tool_call', 'local_shell_call'])
const RESULTS = new Set(['function_call_output', 'custom_tool_call_output', 'local_shell_call_output'])

function readItem(item: JsonObject): readonly Turn[] {
  const type = textOf(item['type'])
  if (CALLS.has(type)) return [assistantTurn({ texts: [], images: 0 }, [readCall(item)])]
  if (RESULTS.has(type)) {
    return [{ role: 'tool', callId: textOf(item['call_id']), text: readOutput(item['output']), failed: item['status'] === 'failed' }]
  }
  if (type !== '' && type !== 'message') return []
  const role = textOf(item['role'])
  if (isInstructionRole(role)) return instructionTurns(readContent(item['content']))
  return role === 'assistant' ? [assistantTurn(readContent(item['content']), [])] : userTurns(readContent(item['content']))
}

const readCall = (item: JsonObject): Call => ({
  id: textOf(item['call_id']),
  name: textOf(item['name']) || 'local_shell',
  input: written(item['arguments'] ?? item['input'] ?? item['action']),
})

const readOutput = (output: Json | undefined): string => (Array.isArray(output) ? joined(output) : written(output))

/** Flat functions, custom tools, and namespaces that hold more of them. Hosted tools cannot be called by a model of ours. */
function readTool(tool: JsonObject, namespace: string | null): readonly Tool[] {
  const name = textOf(tool['name'])
  const type = textOf(tool['type'])
  if (type === 'namespace') return objectsOf(tool['tools']).flatMap((inner) => readTool(inner, name))
  if (name === '' || (type !== 'function' && type !== 'custom')) return []
  return [{ name, description: textOf(tool['description']), parameters: objectOf(tool['parameters']), shape: type, namespace }]
}

function readFormat(format: JsonObject): Prompt['format'] {
  if (format['type'] === 'json_object') return { schema: null }
  return format['type'] === 'json_schema' ? { schema: objectOf(format['schema']) } : null
}
