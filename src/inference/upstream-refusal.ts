/** A refusal of the upstream: its status, its own message, and the headers that say when to try again. */
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
import { dialects, filledText, objectOf, parsed, type DialectSpec } from '../dialects/index.ts'
import { firstCodePoints, keyRemover, withoutSecrets } from '../kit/index.ts'

/**
 * The dialect is the one the caller reads errors in; routes without one read those of chat. Null: the upstream was asked in another. `key` is what the upstream was asked with: some echo
 * it, and neither it nor another secret is passed on.
 */
export function refusalOfUpstream(answer: WholeAnswer, key: string | null, dialect: DialectSpec | null = dialects.chat): Refusal {
  const { status, body } = answer
  const remove = keyRemover(key)
  const clean = (words: string): string => withoutSecrets(remove(words))
  const headers = Object.fromEntries(Object.entries(answer.headers).map(([name, value]) => [name, clean(value)]))
  const text = Buffer.from(body).toString()
  const said = parsed(text)
  const error = errorObject(said)
  const first = (words: string): string => clean(firstCodePoints(words, UPSTREAM_ERROR_CHARACTERS_MAX))
  const message = first(filledText(error['message']) ?? text.trim())
  const named = filledText(error['code']) ?? filledText(error['type']) ?? filledText(error['status'])
  const code = named === null ? 'upstream_refused' : first(named)
  const words = message === '' ? `the upstream answered with status ${status} and no message` : message
  return upstream(code, words, {
    upstreamStatus: status,
    isOverload: [error['type'], error['code'], error['status']].some(isOverload),
    headers,
    ...(isObject(said) && dialect?.isError(said) === true && body.length <= UPSTREAM_ERROR_BYTES_MAX && clean(text) === text && { body }),
  })
}

/** Providers put the error under `error`; some send the text there directly. */
function errorObject(said: Json | undefined): JsonObject {
  const { error } = objectOf(said)
  return typeof error === 'string' ? { message: error } : objectOf(error)
}

const isOverload = (word: Json | undefined): boolean => typeof word === 'string' && (word.includes('overloaded') || word === 'UNAVAILABLE')
