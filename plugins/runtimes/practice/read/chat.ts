/** A chat completions request as turns, tools and limits. */
import type { JsonObject } from '../../../../src/contract/index.ts'
import { isObject, objectOf, objectsOf, textOf, written } from '../json.ts'
import type { Call, Prompt, Tool, Turn } from '../prompt.ts'
import { readChoice } from './choice.ts'
import { assistantTurn, instructionTurns, isInstructionRole, joined, readContent, userTurns } from './content.ts'
import { limitOf, stopsOf } from './limits.ts'

export function readChat(body: JsonObject, model: string): Prompt {
  return {
    model,
    turns: objectsOf(body['messages']).flatMap(readMessage),
    tools: objectsOf(body['tools']).flatMap(readTool),
    choice: readChoice(body['tool_choice']),
    tokensMax: limitOf(body['max_completion_tokens'] ?? body['max_tokens']),
    stops: stopsOf(body['stop']),
    format: readFormat(objectOf(body['response_format'])),
  }
}

function readMessage(message: JsonObject): readonly Turn[] {
  const role = textOf(message['role'])
  if (isInstructionRole(role)) return instructionTurns(readContent(message['content']))
  if (role === 'assistant') return [assistantTurn(readContent(message['content']), objectsOf(message['tool_calls']).map(readCall))]
  if (role === 'tool' || role === 'function') {
    const callId = textOf(message['tool_call_id']) || textOf(message['name'])
    return [{ role: 'tool', callId, text: joined(message['content']), failed: false }]
  }
  return userTurns(readContent(message['content']))
}

function readCall(call: JsonObject): Call {
  const called = isObject(call['function']) ? call['function'] : objectOf(call['custom'])
  return { id: textOf(call['id']), name: textOf(called['name']), input: written(called['arguments'] ?? called['input']) }
}

function readTool(tool: JsonObject): readonly Tool[] {
  const shape = isObject(tool['custom']) ? 'custom' : 'function'
  const definition = objectOf(tool[shape])
  const name = textOf(definition['name'])
  if (name === '') return []
  return [{ name, description: textOf(definition['description']), parameters: objectOf(definition['parameters']), shape, namespace: null }]
}

function readFormat(format: JsonObject): Prompt['format'] {
  if (format['type'] === 'json_object') return { schema: null }
  if (format['type'] !== 'json_schema') return null
  return { schema: objectOf(objectOf(format['json_schema'])['schema']) }
}
