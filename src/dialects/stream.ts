/** Reading a stream of any format: where it ends, where the receipt goes, what its frames amount to. */
import { isObject, RECEIPT_FIELD, RECEIPT_OBJECT, type Json, type JsonObject } from '../contract/index.ts'
import { cutOut, joined, readEvent, withData } from '../kit/index.ts'

export interface StreamReader {
  /** Takes a frame in; true when the stream ends with it. */
  take(frame: Buffer): boolean
  /** The provider's answer as far as the frames have it, in the shape it has when it is not streamed. */
  answer(): JsonObject
  /** Set where a frame that may be the last is so only when the stream ends after it. */
  readonly endsWithStream?: true
  /** What the provider said went wrong in the middle of the stream; null while nothing did. */
  readonly failure: string | null
  /** True where a whole answer names an error, such as that of a response that failed. */
  readonly holdsError?: boolean
  /** What stands in place of the terminal frame, the receipt in it. */
  ending(terminal: Buffer, receipt: string): Buffer
  /** The event by which a provider says that a stream failed half way. */
  failing(message: string, code: string): Buffer
}

export function receiptFields(receipt: string): JsonObject {
  return { [RECEIPT_OBJECT]: { agent_record_id: receipt }, [RECEIPT_FIELD]: receipt }
}

/** The frame with the receipt in its object, which is otherwise as it came: printed again, its numbers would lose digits. */
export function withReceipt(frame: Buffer, receipt: string): Buffer {
  const { data } = readEvent(frame) ?? { data: '{}' }
  const fields = Object.entries(receiptFields(receipt)).map(([key, value]) => [key, JSON.stringify(value)] as const)
  // Line ends of JSON text stand between its values alone.
  const bytes = Buffer.from(data.replaceAll('\n', ' '))
  const keys = fields.map(([key]) => key)
  return withData(frame, joined(bytes, cutOut(bytes, keys), new Map(fields)).toString())
}

/** The JSON object a frame carries, or null for comments, marks and text that is no object. */
export function readObject(frame: Buffer, parse: (text: string) => Json = JSON.parse): JsonObject | null {
  const event = readEvent(frame)
  if (event === null || !event.data.startsWith('{')) return null
  try {
    const value = parse(event.data)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

/** The words of an error that came as an event; providers send an object with a message, or the text itself. */
export function failureOf(error: Json | undefined): string {
  if (typeof error === 'string' && error !== '') return error
  return (isObject(error) ? stringAt(error, 'message') : null) ?? 'the upstream reported an error without saying which'
}

/** The reader's own list, in place: copied for every piece, a list as long as the stream would cost the square of its length. */
export function grownList(before: Json | undefined, more: readonly Json[]): Json {
  const list: Json[] = Array.isArray(before) ? before : []
  for (const member of more) list.push(member)
  return list
}

export const objectAt = (value: JsonObject, key: string): JsonObject | null => (isObject(value[key]) ? value[key] : null)

export const stringAt = (value: JsonObject, key: string): string | null => (typeof value[key] === 'string' ? value[key] : null)

export const numberAt = (value: JsonObject, key: string): number | null => (typeof value[key] === 'number' ? value[key] : null)
