/** Finds the JSON array of entries in a model's reply, with any prose or code fences around it. */
import { isObject, JSON_DEPTH_MAX, PROPOSAL_MUTATIONS_MAX, type Json, type JsonObject } from '../../contract/index.ts'
import { parsed } from '../../dialects/index.ts'

/** A longer reply is refused without searching it. */
const REPLY_CHARACTERS_MAX = 4 * 1024 * 1024
const REQUIRES_READ_MAX = 64
/** Limits the work on text full of brackets. */
const VALUES_TRIED_MAX = 100

/** A parsed reply; `mutationsOf` checks the entries. */
export interface ProposalReply {
  /** '' when there is none. */
  readonly design: string
  /** To create or to update. */
  readonly entries: readonly JsonObject[]
  /** Ids to remove. */
  readonly removes: readonly string[]
  readonly requires: readonly Json[]
}

/** The reply, or why there is none, in words that can be sent back to the model. */
export function replyIn(text: string): ProposalReply | string {
  const found = jsonIn(text)
  if (typeof found === 'string') return found
  const reply = sorted(found)
  const changes = reply.entries.length + reply.removes.length
  if (changes === 0) return 'the array holds no entry {"id", "name", "config"}'
  return changes > PROPOSAL_MUTATIONS_MAX ? `the array must hold at most ${PROPOSAL_MUTATIONS_MAX} entries` : reply
}

/** The first JSON object in the text, or why there is none. */
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

/** The start of an array of objects or of an object; other brackets belong to prose. */
const BEGINNINGS = /\[\s*\{|\{\s*"/g

/**
 * The outermost JSON values. A value inside one that does not parse is skipped: it is only a part of what was meant. Each character is read at
 * most twice.
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

/** The index after the closing bracket of the one at `start`, ignoring brackets in strings. */
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

/** The index after the closing quote, or -1. */
function stringEnd(text: string, start: number): number {
  for (let at = start; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1
    else if (text[at] === '"') return at + 1
  }
  return -1
}

function sorted(found: readonly Json[]): ProposalReply {
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
