/** A conversation of any format as a chat request, for engines that speak chat completions alone and read text alone. */
import { invalid, type JsonObject } from '../contract/index.ts'
import {
  callsIn,
  isInstruction,
  resultText,
  textsIn,
  withResultsApart,
  type CallPart,
  type Conversation,
  type Part,
  type Tool,
  type Turn,
} from './conversation.ts'
import { textOf, written } from './values.ts'

export function chatRequestOf(conversation: Conversation): JsonObject {
  const { tokensMax, stops, format, sampling } = conversation
  return {
    ...chatPromptOf(conversation),
    ...(tokensMax !== null && { max_tokens: tokensMax }),
    ...(stops.length > 0 && { stop: stops }),
    ...(format !== null && {
      response_format:
        format.schema === null ? { type: 'json_object' } : { type: 'json_schema', json_schema: { name: 'answer', schema: format.schema } },
    }),
    ...sampling,
  }
}

/** What becomes the prompt, and so what is counted. */
export function chatPromptOf({ turns, tools, choice, hasParallelCalls }: Conversation): JsonObject {
  const messages = withResultsApart(turns).flatMap(messagesOf)
  // Hosted tools run at a provider and cannot run here, so the model is not offered them.
  const offered = tools.filter(({ shape }) => shape !== 'hosted').map(toolOf)
  if (offered.length === 0) return { messages }
  return {
    messages,
    tools: offered,
    ...(choice.kind === 'named' && { tool_choice: { type: 'function', function: { name: choice.name } } }),
    ...((choice.kind === 'none' || choice.kind === 'required') && { tool_choice: choice.kind }),
    ...(hasParallelCalls !== null && { parallel_tool_calls: hasParallelCalls }),
  }
}

function messagesOf({ role, parts }: Turn): readonly JsonObject[] {
  const text = textIn(parts)
  if (isInstruction(role)) return text === '' ? [] : [{ role: 'system', content: text }]
  if (role === 'tool')
    return parts.flatMap((part) => {
      if (part.kind !== 'result') return []
      if (Array.isArray(part.value)) textIn(part.parts)
      return [{ role, tool_call_id: part.callId ?? '', content: resultText(part) }]
    })
  if (role !== 'assistant') return [{ role: 'user', content: text }]
  const calls = callsIn(parts).map(callOf)
  // Thoughts are not shown to the model again.
  if (calls.length === 0) return parts.length > 0 && parts.every(({ kind }) => kind === 'thinking') ? [] : [{ role, content: text }]
  return [{ role, content: text === '' ? null : text, tool_calls: calls }]
}

function textIn(parts: readonly Part[]): string {
  for (const part of parts)
    if (part.kind === 'image' || part.kind === 'other')
      throw invalid('unsupported_content', `${part.where}: this model takes text only; leave other parts out`)
  return textsIn(parts).join('\n')
}

/** A custom tool takes plain text: the engine sees a function of one text. */
const CUSTOM_INPUT: JsonObject = { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] }

const toolOf = ({ name, description, parameters, shape }: Tool): JsonObject => ({
  type: 'function',
  function: { name, ...(description !== '' && { description }), parameters: shape === 'custom' ? CUSTOM_INPUT : parameters },
})

const callOf = ({ id, name, input, isCustom }: CallPart): JsonObject => ({
  id: id ?? '',
  type: 'function',
  function: { name, arguments: isCustom ? JSON.stringify({ input: textOf(input) }) : written(input) },
})
