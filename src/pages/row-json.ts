/** The row of a version at the end of its page, as JSON for programs; of a very large one without its long texts. */
import { isObject, type Json, type JsonObject } from '../contract/index.ts'
import { markup, jsonMarkup, type Html } from './html.ts'
import type { PageRow } from './view.ts'

const ROW_CHARACTERS_MAX = 256 * 1024
const TEXT_CHARACTERS_MAX = 500
const NOTE = 'the row is larger than a page should be: long texts are left out here; GET /svc/harness/releases has all of it'

export function rowData(row: PageRow): Html {
  return markup`<script type="application/json" id="row">
    ${jsonMarkup(rowJson(row))}
  <\/script>`
}

function rowJson(row: PageRow): string {
  const plain: JsonObject = Object.fromEntries(Object.entries(row))
  // Looked at before it is printed: printing takes the longer the more there is.
  if (lengthOf(plain) <= ROW_CHARACTERS_MAX) return JSON.stringify(plain)
  const brief = { left_out: NOTE, ...shortened(plain) }
  const isFitting = lengthOf(brief) <= ROW_CHARACTERS_MAX
  return JSON.stringify(isFitting ? brief : Object.fromEntries(Object.entries(brief).filter(isPlain)))
}

/** About as long as it is when printed. */
function lengthOf(value: Json): number {
  if (typeof value === 'string') return value.length
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + lengthOf(item) + 1, 0)
  return isObject(value) ? Object.entries(value).reduce((sum, [name, item]) => sum + name.length + lengthOf(item) + 4, 0) : 8
}

const shortened = (object: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, shortenedValue(value)]))

function shortenedValue(value: Json): Json {
  if (typeof value === 'string') return value.length <= TEXT_CHARACTERS_MAX ? value : `[${value.length} characters left out]`
  if (isObject(value)) return shortened(value)
  return Array.isArray(value) ? value.map(shortenedValue) : value
}

const isPlain = ([, value]: readonly [string, Json]): boolean => typeof value !== 'object' || value === null
