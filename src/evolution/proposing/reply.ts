/** What a model answered when it was asked for entries: one JSON array, whatever prose and code fences stand around it. */
import { isObject, JSON_DEPTH_MAX, PROPOSAL_MUTATIONS_MAX, type Json, type JsonObject } from '../../contract/index.ts'

/** A longer reply is no list of a few entries, and is not searched. */
const REPLY_CHARACTERS_MAX = 4 * 1024 * 1024
const REQUIRES_READ_MAX = 64
/** Of a text full of brackets no more is tried. */
const VALUES_TRIED_MAX = 100

/** A reply taken apart; what its entries hold is for `mutationsOf` to judge. */
export interface Reply {
  /** '' when it says nothing of it. */
  readonly design: string
  /** To create or to update. */
  readonly entries: readonly JsonObject[]
  /** Ids to remove. */
  readonly removes: readonly string[]
  readonly requires: readonly Json[]
}

/** The reply in the text, or why there is none, as a sentence that can be said to who wrote it. */
export function replyIn(text: string): Reply | string {
  const found = jsonIn(text)
  if (typeof found === 'string') return found
  const reply = sorted(found)
  const changes = reply.entries.length + reply.removes.length
  if (changes === 0) return 'the array holds no entry {"id", "name", "config"}'
  return changes > PROPOSAL_MUTATIONS_MAX ? `the array must hold at most ${PROPOSAL_MUTATIONS_MAX} entries` : reply
}

/** The first object of the text that reads as JSON, or why there is none. For replies that are one object. */
export function objectIn(text: string): JsonObject | string {
  const found = valuesIn(text)
  if (typeof found === 'string') return found
  const object = found.find(isObject)
  return object ?? 'the reply must hold one JSON object'
}

/** The first array, else the first object as an array of one. */
function jsonIn(text: string): readonly Json[] | string {
  const found = valuesIn(text)
  if (typeof found === 'string') return found
  const list = found.find((value): value is readonly Json[] => Array.isArray(value))
  return list ?? found.slice(0, 1)
}

/** An array of objects, or an object: other brackets are those of the prose. */
const BEGINNINGS = /\[\s*\{|\{\s*"/g

/**
 * The outermost values that read as JSON. A value within one that does not is never taken: it would be a part of what was meant. Each character
 * is looked at once or twice, whatever the text is.
 */
function valuesIn(text: string): readonly Json[] | string {
  if (text.length > REPLY_CHARACTERS_MAX) return `the reply must be at most ${REPLY_CHARACTERS_MAX} characters`
  const found: Json[] = []
  let problem = 'the reply must hold one JSON array of entries'
  const beginnings = new RegExp(BEGINNINGS)
  for (let tried = 0; tried < VALUES_TRIED_MAX; tried += 1) {
    const match = beginnings.exec(text)
    if (match === null) break
    const end = endOf(text, match.index)
    if (typeof end === 'string') return found.length > 0 ? found : end
    const value = parsed(text.slice(match.index, end))
    if (value === undefined) problem = 'the JSON of the reply does not parse; check its quotes, commas and escapes'
    else found.push(value)
    beginnings.lastIndex = end
  }
  return found.length > 0 ? found : problem
}

/** Just past the bracket that closes the one at `start`. Brackets within strings are text. */
function endOf(text: string, start: number): number | string {
  const marks = /["[\]{}]/g
  marks.lastIndex = start
  let depth = 0
  for (let mark = marks.exec(text); mark !== null; mark = marks.exec(text)) {
    const [sign] = mark
    if (sign === '"') {
      const end = stringEnd(text, marks.lastIndex)
      if (end === -1) break
      marks.lastIndex = end
      continue
    }
    depth += sign === '[' || sign === '{' ? 1 : -1
    if (depth === 0) return marks.lastIndex
    if (depth > JSON_DEPTH_MAX) return `the JSON of the reply must not be nested more than ${JSON_DEPTH_MAX} levels deep`
  }
  return 'the JSON of the reply breaks off before its end; write a shorter one'
}

/** Just past the quote that ends the string which begins at `start`; -1 when there is none. */
function stringEnd(text: string, start: number): number {
  for (let at = start; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1
    else if (text[at] === '"') return at + 1
  }
  return -1
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function sorted(found: readonly Json[]): Reply {
  const objects = found.filter(isObject)
  const removes = objects.filter(isRemove)
  const entries = objects.filter((each) => !isRemove(each) && ('config' in each || 'name' in each))
  return {
    design: objects.map(({ design }) => design).find((design) => typeof design === 'string') ?? '',
    entries,
    removes: removes.flatMap(({ id }) => (typeof id === 'string' ? [id] : [])),
    requires: objects.flatMap(({ requires }) => (Array.isArray(requires) ? requires : [])).slice(0, REQUIRES_READ_MAX),
  }
}

const isRemove = (each: JsonObject): boolean => each['remove'] === true
