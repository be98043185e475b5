/** The JSON of request bodies: which objects each kind of route accepts, and the refusal of every other text. */
import { invalid, isObject, JSON_DEPTH_MAX, type Json, type JsonObject } from '../../contract/index.ts'
import {
  faultInDocument,
  firstOf,
  isObjectAt,
  openDocument,
  type JsonFault,
  type JsonRules,
  type Member,
  type OpenDocument,
} from '../../kit/index.ts'

export const OWN: JsonRules = { depthMax: JSON_DEPTH_MAX, uniqueKeys: true }

/**
 * The object a body holds, which can be stored, compared and printed without surprise. Refuses, naming the place: anything but an object,
 * a key given twice (one of the two would be lost), a lone surrogate (it has no UTF-8), a number that a double cannot keep, and deep nesting.
 */
export function parseStrictObject(bytes: Buffer): JsonObject {
  requireObject(openDocument([bytes]), { ...OWN, exactIntegers: true })
  const value = parseChecked(bytes)
  checkValues(value)
  return value
}

/** On the way `see` is told each of its members. */
export function requireObject(document: OpenDocument, rules: JsonRules, see?: (member: Member) => void): void {
  const fault = faultInDocument(document, rules, see)
  if (fault !== null) throw refusalOf(fault, rules)
  if (!isObjectAt(document.text, firstOf(document.text))) throw notAnObject()
}

/** The object that checked bytes hold. */
export function parseChecked(bytes: Buffer): JsonObject {
  const value: Json = JSON.parse(bytes.toString())
  if (!isObject(value)) throw notAnObject()
  return value
}

const notAnObject = (): Error => invalid('malformed_json', 'the body must be a JSON object')

const KEY_CHARACTERS_SHOWN = 80

function refusalOf(fault: JsonFault, { depthMax }: JsonRules): Error {
  switch (fault.kind) {
    case 'not_utf8':
      return invalid('malformed_json', 'the body is not valid UTF-8; send JSON encoded as UTF-8')
    case 'malformed':
      return invalid('malformed_json', `the body is not valid JSON (at position ${fault.at}); send one JSON object`)
    case 'too_deep':
      return invalid('nested_too_deep', `the body is nested deeper than ${depthMax} levels; flatten it`)
    case 'inexact_integer':
      return invalid('number_out_of_range', `the whole number at position ${fault.at} has more digits than a number keeps; send it as text`)
    default: {
      const shown = fault.key.slice(0, KEY_CHARACTERS_SHOWN).toWellFormed()
      return invalid('repeated_key', `the key ${JSON.stringify(shown)} stands twice in one object; send it once`)
    }
  }
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
 * The first text or number that could not be kept as it is. The path is put together on the way back, only when there is a fault.
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
