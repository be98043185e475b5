/** Messages: blocks that open, grow and close, ended by `message_stop`; the receipt stands on that event. */
import { isObject, type Json, type JsonObject } from '../../contract/index.ts'
import { writeEvent } from '../../kit/index.ts'
import { parseExactly } from '../digits.ts'
import { failureOf, grownList, numberAt, objectAt, readObject, stringAt, withReceipt, type StreamReader } from '../stream.ts'

/** Which member of a block a delta's text belongs to. A tool's input arrives as JSON text and is parsed when its block is whole. */
const GROWS: ReadonlyMap<string, readonly [from: string, to: string]> = new Map([
  ['text_delta', ['text', 'text']],
  ['thinking_delta', ['thinking', 'thinking']],
  ['signature_delta', ['signature', 'signature']],
  ['input_json_delta', ['partial_json', 'input']],
])

interface Block {
  block: Record<string, Json>
  input: string
}

export class MessagesReader implements StreamReader {
  #message: JsonObject = { type: 'message', role: 'assistant' }
  readonly #blocks = new Map<number, Block>()
  failure: string | null = null

  take(frame: Buffer): boolean {
    const event = readObject(frame, parseExactly)
    if (event === null) return false
    const index = numberAt(event, 'index') ?? 0
    switch (event['type']) {
      case 'message_start':
        this.#message = objectAt(event, 'message') ?? this.#message
        return false
      case 'content_block_start':
        this.#blocks.set(index, { block: { ...objectAt(event, 'content_block') }, input: '' })
        return false
      case 'content_block_delta':
        this.#grow(index, objectAt(event, 'delta') ?? {})
        return false
      case 'message_delta':
        this.#takeMessageDelta(event)
        return false
      case 'error':
        this.#message = { ...this.#message, error: event['error'] ?? null }
        this.failure = failureOf(event['error'])
        return false
      default:
        return event['type'] === 'message_stop'
    }
  }

  #grow(index: number, delta: JsonObject): void {
    const grown = this.#blocks.get(index)
    const [from, to] = GROWS.get(stringAt(delta, 'type') ?? '') ?? []
    if (grown === undefined) return
    if (from === undefined || to === undefined) this.#growOther(grown, delta)
    else if (to === 'input') grown.input += stringAt(delta, from) ?? ''
    else grown.block[to] = (stringAt(grown.block, to) ?? '') + (stringAt(delta, from) ?? '')
  }

  /** Citations come one by one; a delta of a kind not known yet is kept whole rather than lost. */
  #growOther({ block }: Block, delta: JsonObject): void {
    const key = delta['type'] === 'citations_delta' ? 'citations' : 'deltas'
    block[key] = grownList(block[key], [key === 'citations' ? (delta['citation'] ?? null) : delta])
  }

  /** The counts of the beginning stand until the end says otherwise. */
  #takeMessageDelta(event: JsonObject): void {
    const said = Object.entries(objectAt(event, 'usage') ?? {}).filter(([, count]) => count !== null)
    const usage = { ...objectAt(this.#message, 'usage'), ...Object.fromEntries(said) }
    const { type: _type, delta: _delta, usage: _usage, ...rest } = event
    this.#message = { ...this.#message, ...rest, ...objectAt(event, 'delta'), usage }
  }

  answer(): JsonObject {
    const blocks = [...this.#blocks].sort(([a], [b]) => a - b)
    return { ...this.#message, content: blocks.map(([, block]) => finishBlock(block)) }
  }

  ending(terminal: Buffer, receipt: string): Buffer {
    return withReceipt(terminal, receipt)
  }

  failing(message: string): Buffer {
    return writeEvent('error', JSON.stringify({ type: 'error', error: { type: 'api_error', message } }))
  }
}

function finishBlock({ block, input }: Block): JsonObject {
  if (input === '') return block
  try {
    const parsed = parseExactly(input)
    return { ...block, input: isObject(parsed) ? parsed : input }
  } catch {
    // Cut off in the middle of its arguments: the text as far as it came is all there is.
    return { ...block, input }
  }
}
