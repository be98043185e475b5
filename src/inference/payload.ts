/** The payload an exchange is kept as: the forwarded request's fields, the answer under `response`, the tags under `metadata.tags`. */
import { invalid, upstream, type ClientKey, type JsonObject, type Refusal } from '../contract/index.ts'
import { cutOut, isObjectAt, joined, piecesOf, withoutKnownSecrets, type Cut, type Members, type BytePieces } from '../kit/index.ts'

export type Tags = Readonly<Record<string, string>>

/** A request's text as a record keeps it. */
export interface Remains {
  /** The stretches of its text without the members that a record has of its own. */
  readonly kept: Cut['kept']
  /** Those of its members that the tags are in. */
  readonly tagged: Members
}

/** What a record has members of its own for. They are cut out of the request's text, and everything else stays as it was sent. */
export function replacedMembers(tags: Tags): readonly string[] {
  return hasTags(tags) ? ['response', ...TAGGED] : ['response']
}

const TAGGED = ['metadata', 'metadata_tags']
const hasTags = (tags: Tags): boolean => Object.keys(tags).length > 0

/** In pieces: they are joined where they are written, and so copied once. */
export function exchangePayload(
  request: { readonly pieces: BytePieces; readonly remains: () => Remains },
  response: readonly Uint8Array[],
): readonly Uint8Array[] {
  const { kept, tagged } = request.remains()
  return piecesOf(request.pieces, { kept }, tagged, { key: 'response', value: response })
}

/** A payload that exists already, tagged the way live traffic is. */
export function taggedPayload(payload: Buffer, tags: Tags): Buffer {
  if (!hasTags(tags)) return payload
  const cut = cutOut(payload, TAGGED)
  return joined(payload, cut, taggedMembers(payload, cut, tags))
}

/**
 * A body whose own `metadata` is not an object is kept as it is; the tags then stand beside it. A header wins over a tag in the body. The
 * members are bytes of their own, since those of the body may lie in memory that is used again.
 */
export function taggedMembers(bytes: Buffer, { values }: Cut, tags: Tags): Members {
  const members = new Map<string, Uint8Array | string>()
  if (!hasTags(tags)) return members
  for (const [key, { start, end }] of values) if (TAGGED.includes(key)) members.set(key, Buffer.from(bytes.subarray(start, end)))
  const metadata = values.get('metadata')
  if (metadata === undefined) return members.set('metadata', JSON.stringify({ tags }))
  if (!isObjectAt(bytes, metadata.start)) return members.set('metadata_tags', JSON.stringify(tags))
  const own = cutOut(bytes, ['tags'], metadata.start)
  const before = own.values.get('tags')
  const isTagged = before !== undefined && isObjectAt(bytes, before.start)
  const left = isTagged ? cutOut(bytes, Object.keys(tags), before.start) : { kept: [] }
  const all = joined(bytes, left, new Map(Object.entries(tags).map(([name, tag]) => [name, JSON.stringify(tag)])))
  return members.set('metadata', joined(bytes, own, new Map([['tags', all]])))
}

export function print(fields: JsonObject): string {
  try {
    return JSON.stringify(fields)
  } catch {
    throw invalid('nested_too_deep', 'the body is nested too deep to be kept; flatten it')
  }
}

const ANSWER_TOO_LARGE = 'answer_too_large'

export function answerTooLarge(bytesMax: number): Refusal {
  return upstream(ANSWER_TOO_LARGE, `the answer is longer than ${bytesMax} bytes (inference.max_answer_bytes); raise that, or ask for less`)
}

export const isAnswerTooLarge = (error: unknown): error is Refusal =>
  error instanceof Error && 'code' in error && error.code === ANSWER_TOO_LARGE

/** Only an upstream that echoes it into a good answer brings it here. */
export function withoutClientKey(response: readonly Uint8Array[], key: ClientKey | undefined): readonly Uint8Array[] {
  if (key === undefined) return response
  const whole = Buffer.concat(response)
  return whole.includes(key.secret) ? [Buffer.from(withoutKnownSecrets(whole.toString()))] : response
}
