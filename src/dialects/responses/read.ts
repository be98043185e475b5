/** Reads responses. */
import type { Json, JsonObject } from '../../contract/index.ts'
import type { Part, Tool, Turn, DialectReader } from '../conversation.ts'
import { partsOf, readChoice, readLimit, schemaFormat, systemTurns } from '../typed-parts.ts'
import { isObject, listOf, objectOf, objectsOf, pick, textOf, wordsAt } from '../values.ts'

export const responsesReader: DialectReader = {
  title: 'responses',
  askPath: () => '/v1/responses',
  usage: 'usage',
  instructions: ['instructions'],
  isExchange: ({ input }, { output, object }) => Array.isArray(output) || object === 'response' || input !== undefined,
  read(body) {
    const format = objectOf(objectOf(body['text'])['format'])
    return {
      turns: turnsIn(body, (role) => role === 'assistant' || role === 'tool'),
      tools: objectsOf(body['tools']).flatMap((tool) => readTool(tool, null)),
      choice: readChoice(body['tool_choice']),
      hasParallelCalls: typeof body['parallel_tool_calls'] === 'boolean' ? body['parallel_tool_calls'] : null,
      tokensMax: readLimit(body['max_output_tokens']),
      stops: [],
      format: schemaFormat(format['type'], format['schema']),
      sampling: pick(body, ['temperature', 'top_p']),
    }
  },
  shownTurns: (body) => turnsIn(body, () => true),
  readAnswer(answer) {
    const { output, incomplete_details, status } = answer
    if (!Array.isArray(output)) return []
    const parts = listOf(output).flatMap((item, at) => itemTurn(item, `output.${at}`).parts)
    return [{ role: 'assistant', parts, stop: wordsAt(objectOf(incomplete_details), 'reason') ?? (textOf(status) || null) }]
  },
}

/** Items of one role in a row are one turn, where the role is `isJoined`. */
function turnsIn({ instructions, input }: JsonObject, isJoined: (role: string) => boolean): readonly Turn[] {
  const items = typeof input === 'string' ? [input] : listOf(input)
  const turns = items.map((item, at) => itemTurn(item, `input.${at}`))
  return [...systemTurns(instructions, 'instructions'), ...joined(turns, isJoined)]
}

function joined(turns: readonly Turn[], isJoined: (role: string) => boolean): readonly Turn[] {
  const all: { role: string; parts: Part[] }[] = []
  for (const { role, parts } of turns) {
    const last = all.at(-1)
    if (last?.role !== role || !isJoined(role)) all.push({ role, parts: [...parts] })
    else for (const part of parts) last.parts.push(part)
  }
  return all
}

function itemTurn(item: Json, where: string): Turn {
  if (!isObject(item)) return { role: 'user', parts: partsOf(item, where) }
  const type = wordsAt(item, 'type') ?? 'message'
  if (type === 'message') return { role: wordsAt(item, 'role') ?? 'unknown', parts: partsOf(item['content'], `${where}.content`) }
  return { role: type.endsWith('_output') ? 'tool' : 'assistant', parts: partsOf(item, where) }
}

/** Flat functions, custom tools, and namespaces that hold more of them. */
function readTool(tool: JsonObject, namespace: string | null): readonly Tool[] {
  const name = textOf(tool['name'])
  const type = textOf(tool['type'])
  if (type === 'namespace') return objectsOf(tool['tools']).flatMap((inner) => readTool(inner, name))
  return [
    {
      name: name || type || 'unnamed',
      description: textOf(tool['description']),
      parameters: objectOf(tool['parameters']),
      shape: name !== '' && (type === 'function' || type === 'custom') ? type : 'hosted',
      namespace,
    },
  ]
}
