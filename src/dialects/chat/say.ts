/** Says an answer of another format as chunks of a chat completion. */
import type { JsonObject } from '../../contract/index.ts'
import { writeEvent } from '../../kit/index.ts'
import type { AnswerEnd, Usage } from '../translation/pieces.ts'
import { AnswerWriting, type OpenCall } from '../translation/writing.ts'
import { objectOf } from '../values.ts'

const REASONS = { end: 'stop', stop: 'stop', length: 'length', call: 'tool_calls', refusal: 'content_filter' } as const
const MEMBERS = { text: 'content', thinking: 'reasoning_content', refusal: 'refusal' } as const

export class ChatSaying extends AnswerWriting {
  *begin(): Iterable<Buffer> {
    yield this.#chunk({ role: 'assistant' })
  }

  *piece(kind: 'text' | 'thinking' | 'refusal', text: string): Iterable<Buffer> {
    yield this.#chunk({ [MEMBERS[kind]]: text })
  }

  *openCall({ id, at, name, isCustom }: OpenCall): Iterable<Buffer> {
    const [type, called] = isCustom ? ['custom', { name, input: '' }] : ['function', { name, arguments: '' }]
    yield this.#chunk({ tool_calls: [{ index: at, id, type, [type]: called }] })
  }

  *input({ at, isCustom }: OpenCall, text: string): Iterable<Buffer> {
    yield this.#chunk({ tool_calls: [{ index: at, ...(isCustom ? { custom: { input: text } } : { function: { arguments: text } }) }] })
  }

  *closeCall(): Iterable<Buffer> {
    yield* []
  }

  /** Who asks for the counts gets a chunk of their own; for everyone else they stand in the last one. */
  *finish(reason: AnswerEnd): Iterable<Buffer> {
    const usage = usageOf(this.usage)
    const isAsked = objectOf(this.to.request['stream_options'])['include_usage'] === true
    yield this.#chunk({}, REASONS[reason], isAsked || usage === null ? {} : { usage })
    if (isAsked && usage !== null) yield frame({ ...this.#head(), choices: [], usage })
    yield writeEvent(null, '[DONE]')
  }

  *fail(message: string, code: string): Iterable<Buffer> {
    yield frame({ error: { message, type: 'api_error', code } })
  }

  #chunk(delta: JsonObject, reason: string | null = null, more: JsonObject = {}): Buffer {
    return frame({ ...this.#head(), choices: [{ index: 0, delta, finish_reason: reason }], ...more })
  }

  #head(): JsonObject {
    const { id, model, createdSeconds } = this.speaker
    return { id, object: 'chat.completion.chunk', created: createdSeconds, model }
  }
}

const frame = (chunk: JsonObject): Buffer => writeEvent(null, JSON.stringify(chunk))

function usageOf({ input, output, cacheRead, thought }: Usage): JsonObject | null {
  if (input === null && output === null) return null
  return {
    prompt_tokens: input ?? 0,
    completion_tokens: output ?? 0,
    total_tokens: (input ?? 0) + (output ?? 0),
    ...(cacheRead !== null && { prompt_tokens_details: { cached_tokens: cacheRead } }),
    ...(thought !== null && { completion_tokens_details: { reasoning_tokens: thought } }),
  }
}
