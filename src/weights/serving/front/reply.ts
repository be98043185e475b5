/** A chat completion of the engine, as every format needs it. */
import type { Capture, JsonObject } from '../../../contract/index.ts'
import { newId } from '../../../kit/index.ts'
import { objectOf, objectsOf, textOf, textsOf } from './json.ts'

export interface Reply {
  /** The completion itself, with what an engine may have left out. */
  readonly completion: JsonObject
  readonly id: string
  readonly createdSeconds: number
  readonly model: string
  readonly text: string
  readonly calls: readonly ReplyCall[]
  readonly finish: string
  /** Which of the request's stops ended it, where the engine says so. */
  readonly stop: string | null
  readonly usage: { readonly input: number; readonly output: number }
}
export interface ReplyCall {
  readonly id: string
  readonly name: string
  readonly arguments: string
}
export interface Asked {
  /** As the client called it. */
  readonly model: string
  readonly createdSeconds: number
  /** The chat request that the engine answered. */
  readonly chat: JsonObject
}

/** Tokens are counted by the capture: it is what was generated. */
export function replyOf(answer: JsonObject, { prompt, tokens }: Capture, { model, createdSeconds, chat }: Asked): Reply {
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
  const said = { text: textOf(message['content']), calls: objectsOf(message['tool_calls']).map(readCall) }
  return { completion, id, createdSeconds, model, ...said, finish, stop: stopOf(choice, chat), usage }
}

function readCall(call: JsonObject): ReplyCall {
  const called = objectOf(call['function'])
  return { id: textOf(call['id']) || `call_${newId()}`, name: textOf(called['name']), arguments: textOf(called['arguments']) || '{}' }
}

/** Engines name it differently, and put the number of an end token there too. */
function stopOf(choice: JsonObject, chat: JsonObject): string | null {
  const matched = textOf(choice['matched_stop']) || textOf(choice['stop_reason'])
  return textsOf(chat['stop']).includes(matched) ? matched : null
}
