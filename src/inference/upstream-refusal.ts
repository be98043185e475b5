/** An upstream that says no: its status, its own words, and the headers that tell the caller when to try again. */
import {
  isObject,
  upstream,
  UPSTREAM_ERROR_CHARACTERS_MAX,
  type Json,
  type JsonObject,
  type Refusal,
  type WholeAnswer,
} from '../contract/index.ts'
import { firstCodePoints } from '../kit/index.ts'

export function refusalOfUpstream(answer: WholeAnswer): Refusal {
  const error = errorObject(answer.body)
  const message = textAt(error, 'message') ?? firstWords(answer.body)
  const code = textAt(error, 'code') ?? textAt(error, 'type') ?? 'upstream_refused'
  const text = message === '' ? `the upstream answered with status ${answer.status} and no message` : message
  return upstream(code, text, { upstreamStatus: answer.status, headers: answer.headers })
}

/** Providers put the error under `error`; some send the text there directly. */
function errorObject(body: Uint8Array): JsonObject {
  try {
    const value: Json = JSON.parse(Buffer.from(body).toString())
    const error = isObject(value) ? value['error'] : undefined
    if (typeof error === 'string') return { message: error }
    return isObject(error) ? error : {}
  } catch {
    return {}
  }
}

function textAt(error: JsonObject, key: string): string | null {
  const value = error[key]
  return typeof value === 'string' && value !== '' ? value : null
}

function firstWords(body: Uint8Array): string {
  return firstCodePoints(Buffer.from(body).toString().trim(), UPSTREAM_ERROR_CHARACTERS_MAX)
}
