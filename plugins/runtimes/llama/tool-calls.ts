/** Tool calls in a model's text, in the forms that models are trained on: between tags, or as bare JSON. */
import { isObject, type Json, type JsonObject } from '../../../src/contract/index.ts'
import { isList, objectOf, parsed } from '../../../src/dialects/index.ts'

export interface Said {
  /** The text outside calls; null when there is none. */
  readonly content: string | null
  readonly calls: readonly Call[]
}
interface Call {
  readonly name: string
  /** A text of JSON, as the wire has it. */
  readonly arguments: string
}

const OPEN = '<tool_call>'
const CLOSE = '</tool_call>'
/** Some models write these before bare JSON. */
const HERALDS = ['<|python_tag|>', '[TOOL_CALLS]']

/** Calls are read only where tools were offered. */
export function readCalls(text: string, tools: readonly JsonObject[]): Said {
  if (tools.length === 0) return { content: text, calls: [] }
  return betweenTags(text) ?? bareJson(text, new Set(tools.map(nameOf))) ?? { content: text, calls: [] }
}

const nameOf = (tool: JsonObject): Json | undefined => objectOf(tool['function'])['name'] ?? tool['name']

/** The last call may lack its closing tag. Text that is not the JSON of a call stays text. */
function betweenTags(text: string): Said | null {
  const [before = '', ...pieces] = text.split(OPEN)
  const calls: Call[] = []
  let content = before
  for (const piece of pieces) {
    const [inner = '', ...after] = piece.split(CLOSE)
    const call = callOf(parsed(inner))
    if (call !== null) calls.push(call)
    content += call === null ? OPEN + piece : after.join(CLOSE)
  }
  return calls.length === 0 ? null : { content: content.trim() === '' ? null : content.trim(), calls }
}

/** The whole answer, and only calls of offered tools: an answer may be JSON too. */
function bareJson(text: string, offered: ReadonlySet<Json | undefined>): Said | null {
  const trimmed = text.trim()
  const herald = HERALDS.find((one) => trimmed.startsWith(one)) ?? ''
  const value = parsed(trimmed.slice(herald.length))
  const calls = (isList(value) ? value : [value]).map(callOf)
  const known = calls.filter((call) => call !== null && offered.has(call.name)).filter((call) => call !== null)
  return known.length > 0 && known.length === calls.length ? { content: null, calls: known } : null
}

function callOf(value: Json | undefined): Call | null {
  if (value === undefined || !isObject(value)) return null
  const { name, arguments: given = value['parameters'] ?? {} } = value
  if (typeof name !== 'string' || name === '' || !(isObject(given) || typeof given === 'string')) return null
  return { name, arguments: typeof given === 'string' ? given : JSON.stringify(given) }
}
