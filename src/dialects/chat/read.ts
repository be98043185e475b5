/** Reads chat completions. */
import type { JsonObject } from '../../contract/index.ts'
import type { Tool, DialectReader } from '../conversation.ts'
import { messageTurn, messageTurns, readChoice, readLimit, readStops, schemaFormat } from '../typed-parts.ts'
import { isObject, objectOf, objectsOf, pick, textOf, wordsAt } from '../values.ts'

export const chatReader: DialectReader = {
  title: 'chat completions',
  askPath: () => '/v1/chat/completions',
  usage: 'usage',
  instructions: [],
  isExchange: (_request, { choices }) => Array.isArray(choices),
  read(body) {
    const format = objectOf(body['response_format'])
    return {
      turns: messageTurns(body['messages']),
      tools: objectsOf(body['tools']).map(readTool),
      choice: readChoice(body['tool_choice']),
      hasParallelCalls: typeof body['parallel_tool_calls'] === 'boolean' ? body['parallel_tool_calls'] : null,
      tokensMax: readLimit(body['max_completion_tokens'] ?? body['max_tokens']),
      stops: readStops(body['stop']),
      format: schemaFormat(format['type'], objectOf(format['json_schema'])['schema']),
      sampling: pick(body, ['temperature', 'top_p']),
    }
  },
  readAnswer: ({ choices }) =>
    objectsOf(choices).map((choice) => ({
      ...messageTurn({ role: 'assistant', ...objectOf(choice['message']) }, 'message'),
      stop: wordsAt(choice, 'finish_reason'),
    })),
}

function readTool(tool: JsonObject): Tool {
  const shape = isObject(tool['custom']) ? 'custom' : isObject(tool['function']) ? 'function' : 'hosted'
  const about = { ...tool, ...objectOf(tool[shape]) }
  return {
    name: wordsAt(about, 'name') ?? wordsAt(tool, 'type') ?? 'unnamed',
    description: textOf(about['description']),
    parameters: objectOf(about['parameters']),
    shape,
    namespace: null,
  }
}
