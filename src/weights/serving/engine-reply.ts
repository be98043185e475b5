/** What an engine said, a chat completion or a refusal, as every format needs it. */
import type { Capture, JsonObject } from '../../contract/index.ts'
import {
  listOf,
  objectOf,
  objectsOf,
  parsed,
  textOf,
  type DialectSpec,
  type ModelReply,
  type ReplyCall,
  type Tool,
} from '../../dialects/index.ts'
import { newId } from '../../kit/index.ts'

export interface AskedOf {
  /** As the client called it. */
  readonly model: string
  readonly createdSeconds: number
  /** The chat request that the engine answered. */
  readonly chat: JsonObject
  /** As the client offered them. */
  readonly tools: readonly Tool[]
}

/** Tokens are counted by the capture: it is what was generated. */
export function replyOf(answer: JsonObject, { prompt, tokens }: Capture, { model, createdSeconds, chat, tools }: AskedOf): ModelReply {
  const id = newId()
  const usage = { input: prompt.length, output: tokens.length }
  const choice = objectOf(objectsOf(answer['choices'])[0])
  const message = objectOf(choice['message'])
  const finish = textOf(choice['finish_reason']) || 'stop'
  const completion = {
    id: `chatcmpl-${id}`,
    created: createdSeconds,
    usage: { prompt_tokens: usage.input, completion_tokens: usage.output, total_tokens: usage.input + usage.output },
    ...answer,
    object: 'chat.completion',
    model,
    choices: [{ ...choice, index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason: finish }],
  }
  const calls = objectsOf(message['tool_calls']).map((call) => readCall(call, tools))
  const ending = endingOf(finish, stopOf(choice, chat), calls.length > 0)
  return { id, createdSeconds, model, text: textOf(message['content']), calls, ending, usage, completion }
}

/** A custom tool takes plain text: the engine called a function of one text. */
function readCall(call: JsonObject, tools: readonly Tool[]): ReplyCall {
  const { name: called, arguments: given } = objectOf(call['function'])
  const name = textOf(called)
  const tool = tools.find((offered) => offered.name === name)
  const isCustom = tool?.shape === 'custom'
  const text = textOf(given) || '{}'
  return {
    id: textOf(call['id']) || `call_${newId()}`,
    name,
    input: isCustom ? textOf(objectOf(parsed(text))['input']) : text,
    shape: isCustom ? 'custom' : 'function',
    namespace: tool?.namespace ?? null,
  }
}

function endingOf(finish: string, sequence: string | null, isCall: boolean): ModelReply['ending'] {
  if (sequence !== null) return { kind: 'stop', sequence }
  if (finish === 'length') return { kind: 'length' }
  if (finish === 'content_filter') return { kind: 'refusal' }
  return { kind: isCall ? 'call' : 'end' }
}

/** Engines name it differently, and put the number of an end token there too. */
function stopOf(choice: JsonObject, chat: JsonObject): string | null {
  const matched = textOf(choice['matched_stop']) || textOf(choice['stop_reason'])
  return listOf(chat['stop']).includes(matched) ? matched : null
}

/** What the engine said when it refused, in the shape of the format's provider. Engines put the words in different places. */
export function writeRefusal(dialect: DialectSpec, status: number, answer: JsonObject): JsonObject {
  const said = { ...answer, ...objectOf(answer['error']) }
  const message = textOf(said['message']) || textOf(said['detail']) || textOf(answer['error']) || 'the engine refused the request'
  const { type, param = null, code = null } = said
  return dialect.writeError(status, { message, param, code, ...(textOf(type) !== '' && { type: textOf(type) }) })
}
