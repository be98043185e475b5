/** Asks in responses what a client asked in another format. */
import type { JsonObject } from '../../contract/index.ts'
import { withResultsApart, type Part, type Turn } from '../conversation.ts'
import { effortIn, inputText, refuseSaid, schemaOfTool, unfit, type Asked } from '../translation/asked.ts'
import { Untranslatable } from '../translation/rules.ts'
import { resultTexts } from '../translation/results.ts'

const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh']

export function askResponses(asked: Asked, leftOut: string[]): JsonObject {
  const { model, turns, tools, choice, hasParallelCalls, tokensMax, stops, sampling, seed, penalties, names, isStreamed } = asked
  refuseSaid(seed, penalties.frequency, penalties.presence)
  if (sampling['top_k'] !== undefined) throw new Untranslatable('top_k', 'it has no counterpart')
  if (stops.length > 0) throw new Untranslatable(names.stops, 'it has no counterpart')
  const effort = effortIn(asked, EFFORTS)
  return {
    model,
    input: withResultsApart(turns).flatMap((turn) => itemsOf(turn, leftOut)),
    // The client keeps the conversation.
    store: false,
    ...(tools.length > 0 && {
      tools: tools.map((tool) => ({
        type: 'function',
        name: tool.name,
        ...(tool.description !== '' && { description: tool.description }),
        parameters: schemaOfTool(tool),
        // Here every tool is strict that does not say otherwise.
        strict: asked.strictTools.has(tool.name),
      })),
      ...(choice.kind === 'named' && { tool_choice: { type: 'function', name: choice.name } }),
      ...((choice.kind === 'none' || choice.kind === 'required') && { tool_choice: choice.kind }),
      ...(hasParallelCalls !== null && { parallel_tool_calls: hasParallelCalls }),
    }),
    ...(tokensMax !== null && { max_output_tokens: tokensMax }),
    ...formatOf(asked),
    ...sampling,
    ...(effort !== null && { reasoning: { effort } }),
    ...(isStreamed && { stream: true }),
  }
}

function formatOf({ format, formatName, isFormatStrict }: Asked): JsonObject {
  if (format === null) return {}
  if (format.schema === null) return { text: { format: { type: 'json_object' } } }
  const strict = isFormatStrict === null ? {} : { strict: isFormatStrict }
  return { text: { format: { type: 'json_schema', name: formatName ?? 'answer', schema: format.schema, ...strict } } }
}

/** Texts and pictures beside each other are one message; calls and results are items of their own. */
function itemsOf({ role, parts }: Turn, leftOut: string[]): readonly JsonObject[] {
  const items: JsonObject[] = []
  let open: JsonObject[] | null = null
  for (const part of parts) {
    if (part.kind === 'thinking') continue
    if (part.kind === 'call') items.push({ type: 'function_call', call_id: part.id ?? '', name: part.name, arguments: inputText(part) })
    else if (part.kind === 'result')
      items.push({ type: 'function_call_output', call_id: part.callId ?? '', output: outputOf(resultTexts(part, leftOut)) })
    else if (open !== null) open.push(contentOf(part, role))
    else items.push({ type: 'message', role, content: (open = [contentOf(part, role)]) })
    if (part.kind === 'call' || part.kind === 'result') open = null
  }
  return items
}

function outputOf(parts: readonly Part[]): string | readonly JsonObject[] {
  const [first, ...more] = parts
  if (first === undefined) return ''
  return more.length === 0 && first.kind === 'text' ? first.text : parts.map((part) => contentOf(part, 'tool'))
}

function contentOf(part: Part, role: string): JsonObject {
  if (part.kind === 'text' || part.kind === 'refusal') return { type: role === 'assistant' ? 'output_text' : 'input_text', text: part.text }
  if (part.kind === 'image' && (role === 'user' || role === 'tool')) return { type: 'input_image', image_url: part.address }
  return unfit(part, role)
}
