/** Responses: items that open and close, ended by an event that repeats the whole answer; the receipt stands on it and in one chunk after. */
import { isObject, type Json, type JsonObject } from '../../contract/index.ts'
import { writeEvent } from '../../kit/index.ts'
import { parseExactly } from '../digits.ts'
import { failureOf, numberAt, objectAt, readObject, receiptFields, stringAt, withReceipt, type StreamReader } from '../stream.ts'
import { listOf } from '../values.ts'

const TERMINAL = new Set(['response.completed', 'response.incomplete', 'response.failed'])
const DONE = Buffer.from('data: [DONE]\n\n')

/** Where the pieces of an open item go: a member of the item, or of a part of it. They are all that a broken stream leaves of it. */
const GROWS: Readonly<Record<string, { readonly member: string; readonly part?: JsonObject }>> = {
  'response.output_text.delta': { member: 'text', part: { type: 'output_text', text: '', annotations: [] } },
  'response.refusal.delta': { member: 'refusal', part: { type: 'refusal', refusal: '' } },
  'response.reasoning_text.delta': { member: 'text', part: { type: 'reasoning_text', text: '' } },
  'response.reasoning_summary_text.delta': { member: 'text', part: { type: 'summary_text', text: '' } },
  'response.function_call_arguments.delta': { member: 'arguments' },
  'response.mcp_call_arguments.delta': { member: 'arguments' },
  'response.custom_tool_call_input.delta': { member: 'input' },
  'response.code_interpreter_call_code.delta': { member: 'code' },
}

export class ResponsesReader implements StreamReader {
  #response: JsonObject = { object: 'response' }
  readonly #items = new Map<number, Record<string, Json>>()
  #sequence = 0
  failure: string | null = null

  take(frame: Buffer): boolean {
    const event = readObject(frame, parseExactly)
    if (event === null) return false
    this.#sequence = numberAt(event, 'sequence_number') ?? this.#sequence + 1
    const type = stringAt(event, 'type') ?? ''
    this.#response = objectAt(event, 'response') ?? this.#response
    if (type === 'error') this.#takeError(event)
    this.#takeItem(type, event)
    return TERMINAL.has(type)
  }

  /** Some send the error under `error`, some as the event itself. */
  #takeError(event: JsonObject): void {
    const error = objectAt(event, 'error') ?? event
    this.failure = failureOf(error)
    this.#response = { ...this.#response, error }
  }

  #takeItem(type: string, event: JsonObject): void {
    const index = numberAt(event, 'output_index')
    if (index === null) return
    const item = { ...(objectAt(event, 'item') ?? this.#items.get(index)) }
    const part = objectAt(event, 'part')
    if (part !== null) changePart(item, event, () => part)
    const grows = Object.hasOwn(GROWS, type) ? GROWS[type] : undefined
    if (grows !== undefined) grow(item, grows, event)
    this.#items.set(index, item)
  }

  get holdsError(): boolean {
    return isObject(this.#response['error'])
  }

  /** The last event repeats everything; until then, and where it left the items out, they are what was seen of them. */
  answer(): JsonObject {
    if (listOf(this.#response['output']).length >= this.#items.size) return this.#response
    const output = [...this.#items].sort(([a], [b]) => a - b).map(([, item]) => item)
    return { ...this.#response, output }
  }

  /** `keepalive` is the one event type that every client lets pass; without a type four of them break. */
  ending(terminal: Buffer, receipt: string): Buffer {
    const fields = receiptFields(receipt)
    const keepalive = { type: 'keepalive', sequence_number: this.#sequence + 1, choices: [], ...fields }
    return Buffer.concat([withReceipt(terminal, receipt), writeEvent('keepalive', JSON.stringify(keepalive)), DONE])
  }

  failing(message: string, code: string): Buffer {
    const event = { type: 'error', sequence_number: this.#sequence + 1, code, message, param: null }
    return writeEvent('error', JSON.stringify(event))
  }
}

function grow(
  item: Record<string, Json>,
  { member, part }: { readonly member: string; readonly part?: JsonObject },
  event: JsonObject,
): void {
  const more = (whole: JsonObject): JsonObject => ({
    ...whole,
    [member]: (stringAt(whole, member) ?? '') + (stringAt(event, 'delta') ?? ''),
  })
  if (part === undefined) Object.assign(item, more(item))
  else changePart(item, event, (before) => more(before ?? part))
}

/** A part stands in the item's summary or in its content, at the place its event names. */
function changePart(item: Record<string, Json>, event: JsonObject, change: (before: JsonObject | null) => JsonObject): void {
  const summaryIndex = numberAt(event, 'summary_index')
  const list = summaryIndex === null ? 'content' : 'summary'
  const parts = [...listOf(item[list])]
  const at = Math.min(summaryIndex ?? numberAt(event, 'content_index') ?? 0, parts.length)
  parts[at] = change(objectAt({ part: parts[at] ?? null }, 'part'))
  item[list] = parts
}
