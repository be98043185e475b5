/** A request's body as it goes upstream, and what serving knows of it: only what it reads, since building it all takes longer than everything else. */
import { INLINE_BODY_BYTES_MAX, invalid, isObject, type Json, type JsonObject } from '../contract/index.ts'
import { factsOfAll } from '../dialects/index.ts'
import { cutOut, Cutting, BytePieces, textOf, type Cut, type Member } from '../kit/index.ts'
import { replacedMembers, taggedMembers, type Remains, type Tags } from './payload.ts'

export interface RequestBody {
  /** Its text, as it came. */
  readonly pieces: BytePieces
  /** The members that are read on the way. */
  readonly facts: JsonObject
  /** Everything it says. This is the long way: only what changes it needs it all. */
  readonly fields: () => JsonObject
  /** What a record has of it. */
  readonly remains: () => Remains
}

/** What is known of a body without building it. Plain data: of a large one a thread makes it. */
export interface Outline extends Remains {
  readonly facts: JsonObject
}

const OPEN = 0x7b
const CLOSE = 0x7d

export function parsedBody(bytes: Buffer, fields: JsonObject, tags: Tags): RequestBody {
  return {
    pieces: new BytePieces([bytes]),
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

export function outlinedBody(pieces: BytePieces, outline: Outline): RequestBody {
  let fields: JsonObject | null = null
  return { pieces, facts: outline.facts, remains: () => outline, fields: () => (fields ??= parse(pieces)) }
}

function parse(pieces: BytePieces): JsonObject {
  const value: Json = JSON.parse(textOf(pieces.list))
  if (!isObject(value)) throw new Error('a body that is no object passed its check')
  return value
}

/** What the line, the record and the traces read of a request. */
const FACTS = new Set(['model', 'stream', 'lora_path', 'return_meta_info', ...factsOfAll])
/** Of a large body. */
const FACT_BYTES_MAX = 1024
/** A large body that replaces its own members over and over would be cut into as many pieces. */
const PIECES_MAX = 64

/** Outlines a JSON object while it is checked: its members pass by once, in order. */
export class Outlining {
  readonly #bytes: Buffer
  readonly #tags: Tags
  readonly #replaced: readonly string[]
  readonly #cutting: Cutting
  readonly #facts = new Map<string, Member>()

  constructor(bytes: Buffer, tags: Tags) {
    this.#bytes = bytes
    this.#tags = tags
    this.#replaced = replacedMembers(tags)
    this.#cutting = new Cutting(this.#replaced)
  }

  pass(member: Member): void {
    this.#cutting.pass(member)
    if (FACTS.has(member.key)) this.#facts.set(member.key, member)
  }

  end(): Outline {
    const cut = this.#cutting.end()
    if (isLarge(this.#bytes) && cut.kept.length > PIECES_MAX)
      throw invalid('repeated_key', `${this.#replaced.join(', ')}: stands in the body too often; send each member once`)
    const facts: Record<string, Json> = {}
    for (const [key, member] of this.#facts) facts[key] = factOf(this.#bytes, member)
    return { facts, kept: cut.kept, tagged: taggedMembers(this.#bytes, cut, this.#tags) }
  }
}

/** What is too long to be a name or a number says no more than that it is there. */
function factOf(bytes: Buffer, { start, end }: Member): Json {
  if (isLarge(bytes) && end - start > FACT_BYTES_MAX) return ''
  const value: Json = JSON.parse(bytes.toString('utf8', start, end))
  return value
}

const isLarge = (bytes: Buffer): boolean => bytes.length > INLINE_BODY_BYTES_MAX
