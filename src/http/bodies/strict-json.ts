/** Strict JSON for the service's own routes: what it lets through can be stored, compared and printed without surprise. */
import { isUtf8 } from 'node:buffer'
import { invalid, isObject, JSON_DEPTH_MAX, type Json, type JsonObject } from '../../contract/index.ts'

/**
 * The object a body holds. Refuses, naming the place: anything but an object, a key given twice (one of the two would be lost), a lone
 * surrogate (it has no UTF-8), a number beyond a double's range (it would come back as null), and nesting nobody could walk.
 */
export function parseStrictObject(bytes: Buffer): JsonObject {
  const text = decodeUtf8(bytes)
  const value = parseObject(text)
  checkStructure(text)
  checkValues(value)
  return value
}

/** The object a provider's body holds. What the service does not read is the provider's to judge. */
export function parseLooseObject(bytes: Buffer): JsonObject {
  return parseObject(decodeUtf8(bytes))
}

function decodeUtf8(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw invalid('malformed_json', 'the body is not valid UTF-8; send JSON encoded as UTF-8')
  return bytes.toString()
}

function parseObject(text: string): JsonObject {
  const value = parse(text)
  if (!isObject(value)) throw invalid('malformed_json', 'the body must be a JSON object')
  return value
}

function parse(text: string): Json {
  try {
    const value: Json = JSON.parse(text)
    return value
  } catch (error) {
    throw invalid('malformed_json', `the body is not valid JSON${placeOf(error)}; send one JSON object`)
  }
}

/** V8's message quotes the body, which may hold a secret; the position alone is safe to repeat. */
function placeOf(error: unknown): string {
  const position = /position (\d+)/.exec(String(error))?.[1]
  return position === undefined ? '' : ` (at position ${position})`
}

const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const COMMA = 0x2c
const QUOTE = 0x22
const BACKSLASH = 0x5c
/** Whole numbers of so many digits are always kept. */
const SAFE_DIGITS = 15
const DIGIT_ZERO = 0x30
const DIGIT_NINE = 0x39

/** One walk over text that JSON.parse accepted: how deep it nests, whether a key stands twice in one object, whether numbers keep their digits. */
function checkStructure(text: string): void {
  /** The keys of each object that is open, null for a list. */
  const open: (Set<string> | null)[] = []
  let isKey = false
  for (let at = 0; at < text.length; at++) {
    const mark = text.charCodeAt(at)
    if (mark === QUOTE) {
      const end = endOfString(text, at)
      if (isKey) noteKey(open.at(-1), text, at, end)
      isKey = false
      at = end
    } else if (mark === OPEN_OBJECT || mark === OPEN_LIST) {
      isKey = mark === OPEN_OBJECT
      open.push(isKey ? new Set() : null)
      if (open.length > JSON_DEPTH_MAX)
        throw invalid('nested_too_deep', `the body is nested deeper than ${JSON_DEPTH_MAX} levels; flatten it`)
    } else if (mark === CLOSE_OBJECT || mark === CLOSE_LIST) open.pop()
    else if (mark === COMMA) isKey = open.at(-1) !== null
    else if (mark >= DIGIT_ZERO && mark <= DIGIT_NINE) at = endOfNumber(text, at)
  }
}

const NUMBER_REST = /[0-9.eE+-]*/y

/** A whole number beyond 2^53 would come back as a neighbour of itself; fractions are the doubles that they are everywhere. */
function endOfNumber(text: string, start: number): number {
  NUMBER_REST.lastIndex = start
  const [written = ''] = NUMBER_REST.exec(text) ?? []
  if (written.length > SAFE_DIGITS && /^\d+$/.test(written) && !isKept(written))
    throw invalid('number_out_of_range', `the whole number at position ${start} has more digits than a number keeps; send it as text`)
  return start + written.length - 1
}

/** Beyond a double's range the value itself is refused, with its place. */
function isKept(written: string): boolean {
  const value = Number(written)
  return !Number.isFinite(value) || BigInt(value) === BigInt(written)
}

/** The next quote that no odd run of backslashes stands before. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end
}

function isEscaped(text: string, at: number): boolean {
  let before = at - 1
  while (text.charCodeAt(before) === BACKSLASH) before -= 1
  return (at - before) % 2 === 0
}

function noteKey(seen: Set<string> | null | undefined, text: string, start: number, end: number): void {
  const written = text.slice(start + 1, end)
  const key = written.includes('\\') ? String(JSON.parse(`"${written}"`)) : written
  if (seen?.has(key) === true) throw invalid('repeated_key', `the key "${written.slice(0, 80)}" stands twice in one object; send it once`)
  seen?.add(key)
}

function checkValues(value: JsonObject): void {
  const fault = faultIn(value)
  if (fault === null) return
  const place = fault.path.replace(/^\./, '') || 'a key'
  if (fault.isText) throw invalid('lone_surrogate', `${place} holds half of a surrogate pair; send well-formed Unicode`)
  throw invalid('number_out_of_range', `${place} is beyond the range of a number; send a finite one`)
}

interface Fault {
  readonly path: string
  readonly isText: boolean
}

/**
 * The first text or number that could not be kept as it is. The path is put together on the way back, by whoever has a fault to tell.
 * A list is walked by index: millions of small values as pairs of place and value would take many times the memory of the body.
 */
function faultIn(value: Json): Fault | null {
  if (typeof value === 'string') return value.isWellFormed() ? null : { path: '', isText: true }
  if (typeof value === 'number') return Number.isFinite(value) ? null : { path: '', isText: false }
  if (typeof value !== 'object' || value === null) return null
  return isObject(value) ? faultInObject(value) : faultInList(value)
}

function faultInList(list: readonly Json[]): Fault | null {
  for (let at = 0; at < list.length; at++) {
    const fault = faultIn(list[at] ?? null)
    if (fault !== null) return { ...fault, path: `[${at}]${fault.path}` }
  }
  return null
}

function faultInObject(object: JsonObject): Fault | null {
  for (const key of Object.keys(object)) {
    if (!key.isWellFormed()) return { path: '', isText: true }
    const fault = faultIn(object[key] ?? null)
    if (fault !== null) return { ...fault, path: `.${key}${fault.path}` }
  }
  return null
}
