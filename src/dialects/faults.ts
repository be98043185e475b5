/** What is wrong with a request, in the words of its provider. */
import type { Json, JsonObject } from '../contract/index.ts'
import type { Conversation } from './conversation.ts'
import { listOf } from './values.ts'

export interface RequestFault {
  readonly message: string
  /** The field, in the formats that name it. */
  readonly param: string | null
  readonly code: string | null
}

export const fault = (message: string, param: string | null = null, code: string | null = null): RequestFault => ({ message, param, code })

/** In the formats of OpenAI. */
export const missing = (field: string): RequestFault =>
  fault(`Missing required parameter: '${field}'.`, field, 'missing_required_parameter')

export const wrongType = (param: string, expected: string): RequestFault =>
  fault(`Invalid type for '${param}': expected ${expected}.`, param, 'invalid_type')

export function elementsFault(elements: Json | undefined, field: string): RequestFault | null {
  const at = listOf(elements).findIndex((element) => typeof element !== 'object' || element === null || Array.isArray(element))
  return at === -1 ? null : wrongType(`${field}[${at}]`, 'an object')
}

export function limitFault(body: JsonObject, field: string): RequestFault | null {
  const limit = body[field]
  if (limit === undefined || limit === null) return null
  if (typeof limit !== 'number' || !Number.isInteger(limit)) return wrongType(field, 'an integer')
  if (limit >= 1) return null
  const message = `Invalid '${field}': integer below minimum value. Expected a value >= 1, but got ${limit} instead.`
  return fault(message, field, 'integer_below_min_value')
}

/** What a choice of tools asks for and was not offered; null where it is. Hosted tools are offered, and no model of ours can name them. */
export function choiceFault({
  choice,
  tools,
}: Conversation): { readonly missing: 'tools' } | { readonly missing: 'named'; readonly name: string } | null {
  if (choice.kind === 'auto' || choice.kind === 'none') return null
  if (tools.length === 0) return { missing: 'tools' }
  if (choice.kind !== 'named' || tools.some(({ name, shape }) => name === choice.name && shape !== 'hosted')) return null
  return { missing: 'named', name: choice.name }
}

export function openaiChoiceFault(conversation: Conversation): RequestFault | null {
  const found = choiceFault(conversation)
  if (found === null) return null
  if (found.missing === 'named') return fault(`Tool choice '${found.name}' not found in 'tools' parameter.`, 'tool_choice')
  return fault("Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.", 'tool_choice')
}
