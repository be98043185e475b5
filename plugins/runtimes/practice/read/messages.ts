/** A messages request as turns, tools and limits. */
import type { JsonObject } from '../../../../src/contract/index.ts'
import { isObject, listOf, objectOf, objectsOf, textOf, written } from '../json.ts'
import type { Call, Prompt, Tool, ToolTurn, Turn } from '../prompt.ts'
import { readChoice } from './choice.ts'
import { assistantTurn, instructionTurns, isInstructionRole, joined, readContent, userTurns } from './content.ts'
import { limitOf, stopsOf } from './limits.ts'

export function readMessages(body: JsonObject, model: string): Prompt {
  const format = objectOf(objectOf(body['output_config'])['format'] ?? body['output_format'])
  return {
    model,
    turns: [...instructionTurns(readContent(body['system'])), ...objectsOf(body['messages']).flatMap(readMessage)],
    tools: objectsOf(body['tools']).flatMap(readTool),
    choice: readChoice(body['tool_choice']),
    tokensMax: limitOf(body['max_tokens']),
    stops: stopsOf(body['stop_sequences']),
    format: format['type'] === 'json_schema' ? { schema: objectOf(format['schema']) } : null,
  }
}

function readMessage(message: JsonObject): readonly Turn[] {
  const role = textOf(message['role'])
  const content = readContent(message['content'])
  if (isInstructionRole(role)) return instructionTurns(content)
  const blocks = listOf(message['content']).filter(isObject)
  if (role === 'assistant') return [assistantTurn(content, blocks.filter((block) => block['type'] === 'tool_use').map(readCall))]
  return [...blocks.filter((block) => block['type'] === 'tool_result').map(readResult), ...userTurns(content)]
}

const readCall = (block: JsonObject): Call => ({ id: textOf(block['id']), name: textOf(block['name']), input: written(block['input']) })

const readResult = (block: JsonObject): ToolTurn => ({
  role: 'tool',
  callId: textOf(block['tool_use_id']),
  text: joined(block['content']),
  failed: block['is_error'] === true,
})

/** A tool of the client's own has an input schema and often no type; hosted ones (with another type) run at the provider. */
function readTool(tool: JsonObject): readonly Tool[] {
  const name = textOf(tool['name'])
  const isOwn = tool['type'] === undefined || tool['type'] === 'custom' || isObject(tool['input_schema'])
  if (name === '' || !isOwn) return []
  const parameters = objectOf(tool['input_schema'])
  return [{ name, description: textOf(tool['description']), parameters, shape: 'function', namespace: null }]
}
