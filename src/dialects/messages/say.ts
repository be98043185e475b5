/** Says an answer of another format as the events of a message. */
import type { JsonObject } from '../../contract/index.ts'
import { writeEvent } from '../../kit/index.ts'
import type { AnswerEnd, Usage } from '../translation/pieces.ts'
import { AnswerWriting, type OpenCall } from '../translation/writing.ts'
import { isObject, parsed } from '../values.ts'

const REASONS = { end: 'end_turn', stop: 'stop_sequence', length: 'max_tokens', call: 'tool_use', refusal: 'refusal' } as const

const BLOCKS = {
  text: { block: { type: 'text', text: '' }, delta: 'text_delta', member: 'text' },
  thinking: { block: { type: 'thinking', thinking: '', signature: '' }, delta: 'thinking_delta', member: 'thinking' },
} as const

export class MessagesSaying extends AnswerWriting {
  #blocks = 0
  #open: 'text' | 'thinking' | null = null
  /** Pieces of the open call's input that are not passed on yet. */
  #held: string[] = []
  #isPassingOn = false
  /** The first character of the input that is no blank. */
  #opening = '';

  *begin(): Iterable<Buffer> {
    const { id, model } = this.speaker
    const message = { id, type: 'message', role: 'assistant', model, content: [], stop_reason: null, stop_sequence: null }
    yield frame('message_start', { message: { ...message, usage: { ...usageOf(this.usage), output_tokens: 0 } } })
  }

  /** There is no block for a refusal: it is a text, and the reason to stop. */
  *piece(kind: 'text' | 'thinking' | 'refusal', text: string): Iterable<Buffer> {
    const wanted = kind === 'refusal' ? 'text' : kind
    const { block, delta, member } = BLOCKS[wanted]
    if (this.#open !== wanted) {
      yield* this.#close()
      this.#open = wanted
      yield frame('content_block_start', { index: this.#blocks, content_block: block })
    }
    yield frame('content_block_delta', { index: this.#blocks, delta: { type: delta, [member]: text } })
  }

  *openCall({ id, name }: OpenCall): Iterable<Buffer> {
    yield* this.#close()
    this.#isPassingOn = false
    this.#opening = ''
    yield frame('content_block_start', { index: this.#blocks, content_block: { type: 'tool_use', id, name, input: {} } })
  }

  /** The first piece waits, since it may be all of the input; the rest of an object is passed on as it comes. */
  *input(_call: OpenCall, text: string): Iterable<Buffer> {
    const isFirst = !this.#isPassingOn && this.#held.length === 0
    this.#held.push(text)
    this.#opening ||= text.trimStart().slice(0, 1)
    if (isFirst || this.#opening !== '{') return
    this.#isPassingOn = true
    yield this.#inputDelta(this.#held.splice(0).join(''))
  }

  *closeCall({ input }: OpenCall): Iterable<Buffer> {
    if (!this.#isPassingOn) yield this.#inputDelta(objectText(input))
    this.#held = []
    yield frame('content_block_stop', { index: this.#blocks++ })
  }

  #inputDelta(partial_json: string): Buffer {
    return frame('content_block_delta', { index: this.#blocks, delta: { type: 'input_json_delta', partial_json } })
  }

  *finish(reason: AnswerEnd, sequence: string | null): Iterable<Buffer> {
    yield* this.#close()
    yield frame('message_delta', { delta: { stop_reason: REASONS[reason], stop_sequence: sequence }, usage: usageOf(this.usage) })
    yield frame('message_stop', {})
  }

  *fail(message: string): Iterable<Buffer> {
    yield frame('error', { error: { type: 'api_error', message } })
  }

  *#close(): Iterable<Buffer> {
    if (this.#open !== null) yield frame('content_block_stop', { index: this.#blocks++ })
    this.#open = null
  }
}

/**
 * The input of a call is an object here. Some models write it into a string of JSON. Any other input stands as a text under a name that the provider
 * proposes for that: the tool's schema refuses it, and the model reads why.
 */
function objectText(input: string): string {
  const given = parsed(input)
  if (isObject(given)) return input
  return typeof given === 'string' && isObject(parsed(given)) ? given : JSON.stringify({ INVALID_JSON: input })
}

const frame = (type: string, fields: JsonObject): Buffer => writeEvent(type, JSON.stringify({ type, ...fields }))

/** What came from the cache is counted beside the input here. The format knows no count that is missing. */
function usageOf({ input, cacheRead, cacheWrite, output }: Usage): JsonObject {
  return {
    input_tokens: Math.max(0, (input ?? 0) - (cacheRead ?? 0) - (cacheWrite ?? 0)),
    cache_creation_input_tokens: cacheWrite ?? 0,
    cache_read_input_tokens: cacheRead ?? 0,
    output_tokens: output ?? 0,
  }
}
