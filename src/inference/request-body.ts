/** A request's body as it goes upstream, and what serving knows of it: of a large one only what it reads, since building it all would block other requests. */
import { invalid, isObject, type Json, type JsonObject } from '../contract/index.ts'
import { factsOfAll } from '../dialects/index.ts'
import { cutOut, type Cut, type Member } from '../kit/index.ts'
import { replacedMembers, taggedMembers, type Remains, type Tags } from './payload.ts'

export interface RequestBody {
  readonly bytes: Buffer
  /** The members that are read on the way; all of them where the body was short enough to be parsed at once. */
  readonly facts: JsonObject
  /** Everything it says. Of a large body this is the long way: only what changes it needs it all. */
  readonly fields: () => JsonObject
  /** What a record has of it. */
  readonly remains: () => Remains
}

/** What is known of a large body without building it. Plain data: a thread makes it, since tagging a large member takes long. */
export interface Outline extends Remains {
  readonly facts: JsonObject
}

const OPEN = 0x7b
const CLOSE = 0x7d

export function parsedBody(bytes: Buffer, fields: JsonObject, tags: Tags): RequestBody {
  return {
    bytes,
    facts: fields,
    fields: () => fields,
    remains() {
      const replaced = replacedMembers(tags)
      const cut = replaced.some((key) => key in fields) ? cutOut(bytes, replaced) : wholeOf(bytes, fields)
      return { kept: cut.kept, tagged: taggedMembers(bytes, cut, tags) }
    },
  }
}

/** Usually the record is the request's own text with members added before its closing brace. */
function wholeOf(bytes: Buffer, fields: JsonObject): Cut {
  const isEmpty = Object.keys(fields).length === 0
  return { kept: isEmpty ? [] : [{ start: bytes.indexOf(OPEN) + 1, end: bytes.lastIndexOf(CLOSE) }], values: new Map() }
}

export function outlinedBody(bytes: Buffer, { facts, ...remains }: Outline): RequestBody {
  let fields: JsonObject | null = null
  return { bytes, facts, remains: () => remains, fields: () => (fields ??= parse(bytes)) }
}

function parse(bytes: Buffer): JsonObject {
  const value: Json = JSON.parse(bytes.toString())
  if (!isObject(value)) throw new Error('a body that is no object passed its check')
  return value
}

/** What the line, the record and the traces read of a request. */
const FACTS = new Set(['model', 'stream', 'lora_path', 'return_meta_info', ...factsOfAll])
const FACT_BYTES_MAX = 1024
/** A body that replaces its own members over and over would be cut into as many pieces. */
const PIECES_MAX = 64

/** Of a JSON object that was checked. */
export function outlineOf(bytes: Buffer, tags: Tags): Outline {
  const replaced = replacedMembers(tags)
  const facts: Record<string, Json> = {}
  const cut = cutOut(bytes, replaced, undefined, (member) => {
    if (FACTS.has(member.key)) facts[member.key] = factOf(bytes, member)
  })
  if (cut.kept.length > PIECES_MAX)
    throw invalid('repeated_key', `${replaced.join(', ')}: stands in the body too often; send each member once`)
  return { facts, kept: cut.kept, tagged: taggedMembers(bytes, cut, tags) }
}

/** What is too long to be a name or a number says no more than that it is there. */
function factOf(bytes: Buffer, { start, end }: Member): Json {
  if (end - start > FACT_BYTES_MAX) return ''
  const value: Json = JSON.parse(bytes.toString('utf8', start, end))
  return value
}
