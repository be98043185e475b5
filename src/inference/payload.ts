/** The payload an exchange is kept as: the forwarded request's fields, the answer under `response`, the tags under `metadata.tags`. */
import { invalid, isObject, type Json, type JsonObject } from '../contract/index.ts'

/** A request body as it goes upstream, and as it reads. */
export interface RequestBody {
  readonly bytes: Buffer
  readonly fields: JsonObject
}

export type Tags = Readonly<Record<string, string>>

const CLOSING_BRACE = 0x7d
const COMMA = Buffer.from(',')
const RESPONSE = Buffer.from('"response":')
const END = Buffer.from('}')

/**
 * Usually the request's own bytes with two members spliced in before the closing brace: large contexts are not printed again to be kept.
 * A body that already has such a member is put together as an object instead, so that no key stands twice.
 */
export function exchangePayload(request: RequestBody, tags: Tags, response: Uint8Array): Buffer {
  const { fields, bytes } = request
  const isTagged = Object.keys(tags).length > 0
  if ('response' in fields || (isTagged && 'metadata' in fields)) return assemble(fields, tags, response)

  const brace = bytes.lastIndexOf(CLOSING_BRACE)
  const head = bytes.subarray(0, brace)
  const metadata = isTagged ? [Buffer.from(`"metadata":${JSON.stringify({ tags })},`)] : []
  const separator = Object.keys(fields).length > 0 ? [COMMA] : []
  return Buffer.concat([head, ...separator, ...metadata, RESPONSE, response, END])
}

function assemble(fields: JsonObject, tags: Tags, response: Uint8Array): Buffer {
  const members: Record<string, Json> = { ...fields, ...taggedMember(fields['metadata'], tags) }
  delete members['response']
  const head = print(members).slice(0, -1)
  return Buffer.concat([Buffer.from(head === '{' ? head : `${head},`), RESPONSE, response, END])
}

/** A body whose own `metadata` is not an object is kept as it is; the tags then stand beside it. A header wins over a tag in the body. */
export function taggedMember(metadata: Json | undefined, tags: Tags): JsonObject {
  if (Object.keys(tags).length === 0) return {}
  if (metadata === undefined) return { metadata: { tags } }
  if (!isObject(metadata)) return { metadata_tags: tags }
  return { metadata: { ...metadata, tags: isObject(metadata['tags']) ? { ...metadata['tags'], ...tags } : tags } }
}

export function print(fields: JsonObject): string {
  try {
    return JSON.stringify(fields)
  } catch {
    throw invalid('nested_too_deep', 'the body is nested too deep to be kept; flatten it')
  }
}
