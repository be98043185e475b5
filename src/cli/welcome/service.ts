/** A small client for the welcome: public routes, the token, whole answers. */
import { HEADER, isObject, type Json, type JsonObject } from '../../contract/index.ts'

export interface ServiceAddress {
  readonly url: string
  readonly token: string | null
  /** Aborts every call. */
  readonly signal: AbortSignal
}

interface Question {
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: object
  /** Refusal codes that are valid answers. */
  readonly expected?: readonly string[]
}

interface Answer {
  readonly receipt: string
  readonly body: JsonObject
  /** The code of a refusal; empty for a success. */
  readonly refused: string
}

const ANSWER_MILLISECONDS_MAX = 60_000

/** An unexpected refusal is thrown with the service's message. */
export async function call({ url, token, signal }: ServiceAddress, path: string, question: Question = {}): Promise<Answer> {
  const { headers = {}, body, expected = [] } = question
  const response = await fetch(`${url}${path}`, {
    headers: { ...headers, ...(token !== null && { authorization: `Bearer ${token}` }) },
    signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MILLISECONDS_MAX)]),
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  })
  const answered = objectOf(JSON.parse(await response.text()))
  const receipt = response.headers.get(HEADER.receipt) ?? ''
  if (response.ok) return { receipt, body: answered, refused: '' }
  const { code, message } = objectOf(answered['error'])
  const refused = textOf(code)
  if (expected.includes(refused)) return { receipt, body: answered, refused }
  throw new Error(textOf(message) || `the service answered ${response.status}`)
}

export const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {})

export const objectsOf = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? value.map((item: Json) => objectOf(item)) : []

export const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')
