/** Asks in messages what a client asked in another format. */
import type { JsonObject } from '../../contract/index.ts'
import { isInstruction, type Part, type Turn } from '../conversation.ts'
import { bySide, effortIn, inlineImage, inputObject, refuseSaid, schemaOfTool, unfit, type Asked } from '../translation/asked.ts'
import { Untranslatable } from '../translation/rules.ts'

const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max']
/** This format wants a limit in any case: what every model of it can say. */
const TOKENS_UNSAID = 8192

export function askMessages(asked: Asked): JsonObject {
  const { model, turns, tools, tokensMax, stops, sampling, seed, penalties, isStreamed } = asked
  refuseSaid(seed, penalties.frequency, penalties.presence)
  if (Number(sampling['temperature'] ?? 0) > 1) throw new Untranslatable('temperature', 'it can be 1 at most here')
  const system = turns.filter(({ role }) => isInstruction(role)).flatMap(({ role, parts }) => parts.map((part) => textBlock(part, role)))
  return {
    model,
    max_tokens: tokensMax ?? TOKENS_UNSAID,
    ...(system.length > 0 && { system }),
    // Two turns of one side may not follow each other, and an empty one is refused.
    messages: bySide(
      turns.filter(({ role }) => !isInstruction(role)),
      sideOf,
      blocksOf,
    ).map(({ side, parts }) => ({ role: side, content: parts })),
    ...(tools.length > 0 && {
      tools: tools.map((tool) => ({
        name: tool.name,
        ...(tool.description !== '' && { description: tool.description }),
        input_schema: schemaOfTool(tool),
        ...(asked.strictTools.has(tool.name) && { strict: true }),
      })),
      ...choiceOf(asked),
    }),
    ...(stops.length > 0 && { stop_sequences: stops }),
    ...sampling,
    ...outputOf(asked),
    ...(isStreamed && { stream: true }),
  }
}

function choiceOf({ choice, hasParallelCalls }: Asked): JsonObject {
  const type = { auto: 'auto', none: 'none', required: 'any', named: 'tool' }[choice.kind]
  const single = hasParallelCalls === false && choice.kind !== 'none' ? { disable_parallel_tool_use: true } : {}
  if (choice.kind === 'auto' && hasParallelCalls !== false) return {}
  return { tool_choice: { type, ...(choice.kind === 'named' && { name: choice.name }), ...single } }
}

function outputOf(asked: Asked): JsonObject {
  const { format, names } = asked
  const effort = effortIn(asked, EFFORTS)
  if (format !== null && format.schema === null) throw new Untranslatable(names.format, 'JSON without a schema has no counterpart')
  const config = {
    ...(format !== null && { format: { type: 'json_schema', schema: format.schema } }),
    ...(effort !== null && { effort }),
  }
  return Object.keys(config).length === 0 ? {} : { output_config: config }
}

const sideOf = (role: string): 'user' | 'assistant' => (role === 'assistant' ? role : 'user')

const blocksOf = ({ role, parts }: Turn): readonly JsonObject[] =>
  parts.flatMap((part) => (part.kind === 'thinking' ? [] : [blockOf(part, sideOf(role))]))

function blockOf(part: Part, role: 'user' | 'assistant'): JsonObject {
  if (part.kind === 'image' && role === 'user') return imageBlock(part.address)
  if (part.kind === 'call') return { type: 'tool_use', id: toolId(part.id), name: part.name, input: inputObject(part) }
  if (part.kind !== 'result') return textBlock(part, role)
  const content = part.parts.map((one) => (one.kind === 'image' ? imageBlock(one.address) : textBlock(one, 'a tool result')))
  return { type: 'tool_result', tool_use_id: toolId(part.callId), content, ...(part.isError && { is_error: true }) }
}

function textBlock(part: Part, where: string): JsonObject {
  return part.kind === 'text' || part.kind === 'refusal' ? { type: 'text', text: part.text } : unfit(part, where)
}

function imageBlock(address: string): JsonObject {
  const inline = inlineImage(address)
  const source = inline === null ? { type: 'url', url: address } : { type: 'base64', media_type: inline.type, data: inline.base64 }
  return { type: 'image', source }
}

/** Other formats let an id be any text; a call and its result are changed alike. */
const toolId = (id: string | null): string => (id ?? '').replaceAll(/[^\w-]/g, '_')
