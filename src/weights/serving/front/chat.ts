/** Chat completions: what the engine speaks itself, whole or as chunks. */
import { invalid, type JsonObject } from '../../../contract/index.ts'
import { writeEvent } from '../../../kit/index.ts'
import { readList } from './conversation.ts'
import { objectOf, objectsOf, textOf } from './json.ts'
import type { Reply } from './reply.ts'

export function readChat(body: JsonObject): JsonObject {
  readList(body, 'messages')
  const { stream: _stream, stream_options: _options, n = 1, ...rest } = body
  if (n !== 1) throw invalid('unsupported_value', "Invalid 'n': this model gives one choice; ask again for another.")
  return typeof rest['stop'] === 'string' ? { ...rest, stop: [rest['stop']] } : rest
}

export const writeChat = ({ completion }: Reply): JsonObject => completion

/** The answer is whole already: its text is one piece. */
export function* chatFrames(completion: JsonObject, request: JsonObject): Generator<Buffer> {
  const { choices, usage = null, ...rest } = completion
  const head = { ...rest, object: 'chat.completion.chunk' }
  const isUsageWanted = objectOf(request['stream_options'])['include_usage'] === true
  const chunk = (part: JsonObject): Buffer =>
    frame({ ...head, choices: [{ index: 0, ...part }], ...(isUsageWanted ? { usage: null } : {}) })
  const { message, finish_reason = null, index: _index, ...more } = objectOf(objectsOf(choices)[0])
  for (const delta of deltas(objectOf(message))) yield chunk({ delta, finish_reason: null })
  yield chunk({ delta: {}, ...more, finish_reason })
  if (isUsageWanted) yield frame({ ...head, choices: [], usage })
  yield writeEvent(null, '[DONE]')
}

const frame = (chunk: JsonObject): Buffer => writeEvent(null, JSON.stringify(chunk))

function* deltas({ content = null, tool_calls, ...rest }: JsonObject): Generator<JsonObject> {
  yield { ...rest, content: content === null ? null : '' }
  if (textOf(content) !== '') yield { content }
  for (const [index, call] of objectsOf(tool_calls).entries()) yield { tool_calls: [{ ...call, index }] }
}
