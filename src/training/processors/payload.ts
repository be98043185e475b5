/** Reads stored payloads defensively: any field may have any shape. */
import { isObject, REPORT_READ_BYTES_MAX, type Json, type JsonObject } from '../../contract/index.ts'

export const UNREADABLE = 'its body is not a JSON object'

/** A report, or why nothing is learned from it. */
export function readReport(payload: Uint8Array | null): JsonObject | string {
  if (payload !== null && payload.length > REPORT_READ_BYTES_MAX) return 'it is too long to learn from'
  return readPayload(payload) ?? UNREADABLE
}

/** Null when it is not a JSON object. */
export function readPayload(payload: Uint8Array | null): JsonObject | null {
  if (payload === null) return null
  try {
    const value: Json = JSON.parse(Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).toString())
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

export function feedbackOf({ feedback }: JsonObject): Json {
  return typeof feedback === 'string' || isObject(feedback) ? feedback : null
}

/** A task without a name is left out: it could not be looked up. */
export function taskOf({ metadata }: JsonObject): { readonly task?: JsonObject } {
  if (!isObject(metadata)) return {}
  const { task, bench } = metadata
  if (isObject(task)) return isName(task['name']) ? { task } : {}
  const name = task ?? (isObject(bench) ? bench['task_name'] : null)
  return isName(name) ? { task: { name } } : {}
}

function isName(value: Json | undefined): value is string {
  return typeof value === 'string' && value.trim() !== ''
}
