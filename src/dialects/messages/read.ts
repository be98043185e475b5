/** Reads messages. */
import type { JsonObject } from '../../contract/index.ts'
import type { Tool, DialectReader } from '../conversation.ts'
import { messageTurn, messageTurns, readChoice, readLimit, readStops, schemaFormat, systemTurns } from '../typed-parts.ts'
import { isObject, objectOf, objectsOf, pick, textOf, wordsAt } from '../values.ts'

export const messagesReader: DialectReader = {
  title: 'messages',
  askPath: () => '/v1/messages',
  usage: 'usage',
  instructions: ['system'],
  isExchange: (_request, { type, content }) => type === 'message' || Array.isArray(content),
  read(body) {
    const format = objectOf(objectOf(body['output_config'])['format'] ?? body['output_format'])
    return {
      turns: [...systemTurns(body['system'], 'system'), ...messageTurns(body['messages'])],
      tools: objectsOf(body['tools']).map(readTool),
      choice: readChoice(body['tool_choice']),
      hasParallelCalls: objectOf(body['tool_choice'])['disable_parallel_tool_use'] === true ? false : null,
      tokensMax: readLimit(body['max_tokens']),
      stops: readStops(body['stop_sequences']),
      format: schemaFormat(format['type'], format['schema']),
      sampling: pick(body, ['temperature', 'top_p', 'top_k']),
    }
  },
  readAnswer: (answer) =>
    answer['content'] === undefined
      ? []
      : [{ ...messageTurn({ role: 'assistant', ...answer }, 'message'), stop: wordsAt(answer, 'stop_reason') }],
}

/** A tool of the client's own has an input schema and often no type; hosted ones have another type. */
function readTool(tool: JsonObject): Tool {
  const name = textOf(tool['name'])
  const isOwn = tool['type'] === undefined || tool['type'] === 'custom' || isObject(tool['input_schema'])
  return {
    name: name || (wordsAt(tool, 'type') ?? 'unnamed'),
    description: textOf(tool['description']),
    parameters: objectOf(tool['input_schema']),
    shape: name !== '' && isOwn ? 'function' : 'hosted',
    namespace: null,
  }
}
