/** What a stored payload says about the unit it becomes. Nothing in it is trusted to have the shape it should. */
import { isObject, type Json, type JsonObject } from '../../contract/index.ts'

/** Why a record whose payload cannot be read is never used. */
export const UNREADABLE = 'its body is not a JSON object'

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

/** As the member of a sample. A task without a name is none: there is nothing to look it up by. */
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
