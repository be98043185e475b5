/** Asks in chat completions what a client asked in another format. */
import type { JsonObject } from '../../contract/index.ts'
import { callsIn, isInstruction, withResultsApart, type Part, type ResultPart, type Turn } from '../conversation.ts'
import { effortIn, inputText, schemaOfTool, unfit, type Asked } from '../translation/asked.ts'
import { Untranslatable } from '../translation/rules.ts'
import { resultTexts } from '../translation/results.ts'

const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh']

export function askChat(asked: Asked, leftOut: string[]): JsonObject {
  const { model, turns, tools, choice, hasParallelCalls, tokensMax, stops, sampling, seed, penalties, isStreamed } = asked
  if (sampling['top_k'] !== undefined) throw new Untranslatable('top_k', 'it has no counterpart')
  const effort = effortIn(asked, EFFORTS)
  return {
    model,
    messages: withResultsApart(turns).flatMap((turn) => messagesOf(turn, leftOut)),
    ...(tools.length > 0 && {
      tools: tools.map((tool) => ({
        type: 'function',
        function: {
          name: tool.name,
          ...(tool.description !== '' && { description: tool.description }),
          parameters: schemaOfTool(tool),
          ...(asked.strictTools.has(tool.name) && { strict: true }),
        },
      })),
      ...(choice.kind === 'named' && { tool_choice: { type: 'function', function: { name: choice.name } } }),
      ...((choice.kind === 'none' || choice.kind === 'required') && { tool_choice: choice.kind }),
      ...(hasParallelCalls !== null && { parallel_tool_calls: hasParallelCalls }),
    }),
    ...(tokensMax !== null && { max_tokens: tokensMax }),
    ...(stops.length > 0 && { stop: stops }),
    ...formatOf(asked),
    ...sampling,
    ...(seed !== null && { seed: seed.value }),
    ...(penalties.frequency !== null && { frequency_penalty: penalties.frequency.value }),
    ...(penalties.presence !== null && { presence_penalty: penalties.presence.value }),
    ...(effort !== null && { reasoning_effort: effort }),
    // Without the option no upstream counts what a stream took.
    ...(isStreamed && { stream: true, stream_options: { include_usage: true } }),
  }
}

function formatOf({ format, formatName, isFormatStrict }: Asked): JsonObject {
  if (format === null) return {}
  if (format.schema === null) return { response_format: { type: 'json_object' } }
  const strict = isFormatStrict === null ? {} : { strict: isFormatStrict }
  return { response_format: { type: 'json_schema', json_schema: { name: formatName ?? 'answer', schema: format.schema, ...strict } } }
}

function messagesOf({ role, parts }: Turn, leftOut: string[]): readonly JsonObject[] {
  if (role === 'tool') return parts.map((part) => (part.kind === 'result' ? resultOf(part, leftOut) : unfit(part, role)))
  if (role !== 'assistant') {
    if (isInstruction(role) && parts.length === 0) return []
    return [{ role, content: contentOf(parts, (part) => (part.kind === 'image' && role === 'user' ? imageOf(part) : unfit(part, role))) }]
  }
  const said = parts.filter(({ kind }) => kind !== 'thinking' && kind !== 'call')
  const calls = callsIn(parts).map((call) => ({
    id: call.id ?? '',
    type: 'function',
    function: { name: call.name, arguments: inputText(call) },
  }))
  if (said.length === 0 && calls.length === 0) return []
  const content = said.length === 0 ? null : contentOf(said, (part) => unfit(part, role))
  return [{ role, content, ...(calls.length > 0 && { tool_calls: calls }) }]
}

const resultOf = (part: ResultPart, leftOut: string[]): JsonObject => ({
  role: 'tool',
  tool_call_id: part.callId ?? '',
  content: contentOf(resultTexts(part, leftOut), (one) => unfit(one, 'a tool result')),
})

/** One text is sent as a text, which every upstream reads. */
function contentOf(parts: readonly Part[], other: (part: Part) => JsonObject): string | readonly JsonObject[] {
  const [first, ...more] = parts
  if (first === undefined) return ''
  if (more.length === 0 && (first.kind === 'text' || first.kind === 'refusal')) return first.text
  return parts.map((part) => (part.kind === 'text' || part.kind === 'refusal' ? { type: 'text', text: part.text } : other(part)))
}

const imageOf = ({ address }: Extract<Part, { kind: 'image' }>): JsonObject => ({ type: 'image_url', image_url: { url: address } })
