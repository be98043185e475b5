/** An upstream that says no: its status, its own words, and the headers that tell the caller when to try again. */
import {
  isObject,
  upstream,
  UPSTREAM_ERROR_BYTES_MAX,
  UPSTREAM_ERROR_CHARACTERS_MAX,
  type Json,
  type JsonObject,
  type Refusal,
  type WholeAnswer,
} from '../contract/index.ts'
import { dialects, type DialectSpec } from '../dialects/index.ts'
import { firstCodePoints } from '../kit/index.ts'

/** The dialect is the one the caller reads errors in; routes without one read those of chat. */
export function refusalOfUpstream({ status, headers, body }: WholeAnswer, dialect: DialectSpec = dialects.chat): Refusal {
  const said = parsed(body)
  const error = errorObject(said)
  const message = textAt(error, 'message') ?? firstWords(body)
  const code = textAt(error, 'code') ?? textAt(error, 'type') ?? textAt(error, 'status') ?? 'upstream_refused'
  const text = message === '' ? `the upstream answered with status ${status} and no message` : message
  return upstream(code, text, {
    upstreamStatus: status,
    isOverload: [error['type'], error['code'], error['status']].some(isOverload),
    headers,
    ...(isObject(said) && dialect.isError(said) && body.length <= UPSTREAM_ERROR_BYTES_MAX && { body }),
  })
}

function parsed(body: Uint8Array): Json {
  try {
    return JSON.parse(Buffer.from(body).toString())
  } catch {
    return null
  }
}

/** Providers put the error under `error`; some send the text there directly. */
function errorObject(said: Json): JsonObject {
  const error = isObject(said) ? said['error'] : undefined
  if (typeof error === 'string') return { message: error }
  return isObject(error) ? error : {}
}

const isOverload = (word: Json | undefined): boolean => typeof word === 'string' && (word.includes('overloaded') || word === 'UNAVAILABLE')

function textAt(error: JsonObject, key: string): string | null {
  const value = error[key]
  return typeof value === 'string' && value !== '' ? value : null
}

function firstWords(body: Uint8Array): string {
  return firstCodePoints(Buffer.from(body).toString().trim(), UPSTREAM_ERROR_CHARACTERS_MAX)
}
