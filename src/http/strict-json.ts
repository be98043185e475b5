/** Strict JSON for the service's own routes: what it lets through can be stored, compared and printed without surprise. */
import { invalid, isObject, JSON_DEPTH_MAX, type Json, type JsonObject } from '../contract/index.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * The object a body holds. Refuses, naming the place: anything but an object, a key given twice (one of the two would be lost), a lone
 * surrogate (it has no UTF-8), a number beyond a double's range (it would come back as null), and nesting nobody could walk.
 */
export function parseStrictObject(bytes: Uint8Array): JsonObject {
  const text = decodeUtf8(bytes)
  refuseDeepNesting(text)
  const value = parseObject(text)
  checkValue(value, '')
  refuseRepeatedKeys(text)
  return value
}

/** The object a provider's body holds. What the service does not read is the provider's to judge. */
export function parseLooseObject(bytes: Uint8Array): JsonObject {
  return parseObject(decodeUtf8(bytes))
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw invalid('malformed_json', 'the body is not valid UTF-8; send JSON encoded as UTF-8')
  }
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

function checkValue(value: Json, path: string): void {
  if (typeof value === 'string') checkText(value, path)
  else if (typeof value === 'number') checkNumber(value, path)
  else if (isObject(value)) {
    for (const [key, member] of Object.entries(value)) {
      checkText(key, path)
      checkValue(member, path === '' ? key : `${path}.${key}`)
    }
  } else if (value !== null && typeof value === 'object') {
    for (const [index, member] of value.entries()) checkValue(member, `${path}[${index}]`)
  }
}

function checkText(text: string, path: string): void {
  if (!text.isWellFormed()) throw invalid('lone_surrogate', `${path || 'a key'} holds half of a surrogate pair; send well-formed Unicode`)
}

function checkNumber(number: number, path: string): void {
  if (!Number.isFinite(number)) throw invalid('number_out_of_range', `${path} is beyond the range of a number; send a finite one`)
}

function refuseDeepNesting(text: string): void {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const mark = text[at]
    if (mark === '"') at = endOfString(text, at)
    else if (mark === '{' || mark === '[') depth += 1
    else if (mark === '}' || mark === ']') depth -= 1
    if (depth > JSON_DEPTH_MAX) throw invalid('nested_too_deep', `the body is nested deeper than ${JSON_DEPTH_MAX} levels; flatten it`)
  }
}

/** Finds a key that stands twice in one object, in text that JSON.parse accepted. */
function refuseRepeatedKeys(text: string): void {
  const open: (Set<string> | null)[] = []
  let isKey = false
  for (let at = 0; at < text.length; at++) {
    const mark = text[at]
    if (mark === '"') {
      const end = endOfString(text, at)
      if (isKey) noteKey(open.at(-1), text.slice(at, end + 1))
      isKey = false
      at = end
    } else if (mark === '{') {
      open.push(new Set())
      isKey = true
    } else if (mark === '[') {
      open.push(null)
      isKey = false
    } else if (mark === '}' || mark === ']') open.pop()
    else if (mark === ',') isKey = open.at(-1) !== null
  }
}

function endOfString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at
}

function noteKey(seen: Set<string> | null | undefined, quoted: string): void {
  const key = String(JSON.parse(quoted))
  if (seen?.has(key) === true) throw invalid('repeated_key', `the key ${quoted.slice(0, 80)} stands twice in one object; send it once`)
  seen?.add(key)
}
