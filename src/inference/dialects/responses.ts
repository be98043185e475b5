/** Responses: items that open and close, ended by an event that repeats the whole answer; the receipt stands on it and in one chunk after. */
import type { Json, JsonObject } from '../../contract/index.ts'
import { readEvent, writeEvent } from '../../kit/index.ts'
import { numberAt, objectAt, readObject, receiptFields, stringAt, type StreamDialect, type StreamReader } from './dialect.ts'

export const responses: StreamDialect = {
  open: () => new ResponsesReader(),
}

const TERMINAL = new Set(['response.completed', 'response.incomplete', 'response.failed'])
const DONE = Buffer.from('data: [DONE]\n\n')

class ResponsesReader implements StreamReader {
  #response: JsonObject = { object: 'response' }
  readonly #items = new Map<number, JsonObject>()
  /** Text of items that are still open, by item and member: all a broken stream leaves of them. */
  readonly #open = new Map<number, { text: string; arguments: string }>()
  #sequence = 0
  #isWhole = false

  take(frame: Buffer): boolean {
    const event = readObject(frame)
    if (event === null) return false
    this.#sequence = numberAt(event, 'sequence_number') ?? this.#sequence + 1
    const type = stringAt(event, 'type') ?? ''
    const response = objectAt(event, 'response')
    if (response !== null) this.#response = response
    this.#takeItem(type, event)
    this.#isWhole = TERMINAL.has(type)
    return this.#isWhole
  }

  #takeItem(type: string, event: JsonObject): void {
    const index = numberAt(event, 'output_index')
    const item = objectAt(event, 'item')
    if (index === null) return
    if (item !== null) this.#items.set(index, item)
    if (type === 'response.output_item.done') this.#open.delete(index)
    const delta = stringAt(event, 'delta')
    if (delta === null) return
    const open = this.#open.get(index) ?? { text: '', arguments: '' }
    this.#open.set(index, open)
    open[type.includes('arguments') || type.includes('_input') ? 'arguments' : 'text'] += delta
  }

  answer(): JsonObject {
    if (this.#isWhole) return this.#response
    const output = [...this.#items].sort(([a], [b]) => a - b).map(([index, item]) => this.#asFarAsItCame(index, item))
    return { ...this.#response, output }
  }

  #asFarAsItCame(index: number, item: JsonObject): JsonObject {
    const open = this.#open.get(index)
    if (open === undefined) return item
    const said: Record<string, Json> = { ...item }
    if (open.text !== '') said['content'] = [{ type: 'output_text', text: open.text, annotations: [] }]
    if (open.arguments !== '') said['arguments'] = open.arguments
    return said
  }

  /** `keepalive` is the one event type that every client lets pass; without a type four of them break. */
  ending(terminal: Buffer, receipt: string): Buffer {
    const fields = receiptFields(receipt)
    const event = readEvent(terminal)?.event ?? null
    const last = readObject(terminal) ?? {}
    const keepalive = { type: 'keepalive', sequence_number: this.#sequence + 1, choices: [], ...fields }
    return Buffer.concat([
      writeEvent(event, JSON.stringify({ ...last, ...fields })),
      writeEvent('keepalive', JSON.stringify(keepalive)),
      DONE,
    ])
  }
}
