/** Any dialect's body to one neutral prompt, or the refusal its provider would have given. */
import type { Dialect, JsonObject } from '../../../src/contract/index.ts'
import { isObject, listOf, textOf } from './json.ts'
import type { Prompt } from './prompt.ts'
import { readChat } from './read/chat.ts'
import { readMessages } from './read/messages.ts'
import { readResponses } from './read/responses.ts'

/** What was wrong with a request, in the words of its provider. `param` names the field in the OpenAI formats. */
export interface Fault {
  readonly message: string
  readonly param: string | null
  readonly code: string | null
}

const READERS = { chat: readChat, responses: readResponses, messages: readMessages, count_tokens: readMessages } as const
const CHECKS = { chat: checkChat, responses: checkResponses, messages: checkMessages, count_tokens: checkConversation } as const

/** `fallbackModel` stands in for a request that names none. */
export function readPrompt(dialect: Dialect, body: JsonObject, fallbackModel: string | null): Prompt | Fault {
  const model = textOf(body['model']) || (fallbackModel ?? '')
  if (model === '') return missing(dialect, 'model')
  const fault = CHECKS[dialect](body)
  if (fault !== null) return fault
  const prompt = READERS[dialect](body, model)
  return checkChoice(dialect, prompt, listOf(body['tools']).length) ?? prompt
}

export const isFault = (read: Prompt | Fault): read is Fault => 'message' in read

const fault = (message: string, param: string | null = null, code: string | null = null): Fault => ({ message, param, code })

function missing(dialect: Dialect, field: string): Fault {
  if (dialect === 'messages' || dialect === 'count_tokens') return fault(`${field}: Field required`)
  if (dialect === 'chat' && field === 'model') return fault('you must provide a model parameter')
  return fault(`Missing required parameter: '${field}'.`, field, 'missing_required_parameter')
}

function checkChat(body: JsonObject): Fault | null {
  const messages = body['messages']
  if (messages === undefined) return missing('chat', 'messages')
  if (!Array.isArray(messages)) return wrongType('messages', 'an array of objects')
  if (messages.length === 0) {
    const message = "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead."
    return fault(message, 'messages', 'empty_array')
  }
  return checkElements(listOf(messages), 'messages') ?? checkLimit(body, 'max_completion_tokens') ?? checkLimit(body, 'max_tokens')
}

function checkResponses(body: JsonObject): Fault | null {
  const previous = body['previous_response_id']
  if (typeof previous === 'string') {
    // Nothing is kept between calls, so no earlier answer can be found.
    return fault(`Previous response with id '${previous}' not found.`, 'previous_response_id', 'previous_response_not_found')
  }
  const input = body['input']
  if (input === undefined) return missing('responses', 'input')
  if (typeof input !== 'string' && !Array.isArray(input)) return wrongType('input', 'a string or an array of input items')
  return checkElements(listOf(input), 'input') ?? checkLimit(body, 'max_output_tokens')
}

function checkElements(elements: readonly unknown[], field: string): Fault | null {
  const at = elements.findIndex((element) => typeof element !== 'object' || element === null || Array.isArray(element))
  return at === -1 ? null : wrongType(`${field}[${at}]`, 'an object')
}

function checkLimit(body: JsonObject, field: string): Fault | null {
  const limit = body[field]
  if (limit === undefined || limit === null) return null
  if (typeof limit !== 'number' || !Number.isInteger(limit)) return wrongType(field, 'an integer')
  if (limit >= 1) return null
  const message = `Invalid '${field}': integer below minimum value. Expected a value >= 1, but got ${limit} instead.`
  return fault(message, field, 'integer_below_min_value')
}

const wrongType = (param: string, expected: string): Fault =>
  fault(`Invalid type for '${param}': expected ${expected}.`, param, 'invalid_type')

function checkMessages(body: JsonObject): Fault | null {
  const limit = body['max_tokens']
  if (limit === undefined) return missing('messages', 'max_tokens')
  if (typeof limit !== 'number' || !Number.isInteger(limit)) return fault('max_tokens: Input should be a valid integer')
  if (limit < 1) return fault('max_tokens: must be greater than or equal to 1')
  return checkConversation(body)
}

function checkConversation(body: JsonObject): Fault | null {
  const messages = body['messages']
  if (messages === undefined) return missing('messages', 'messages')
  if (!Array.isArray(messages)) return fault('messages: Input should be a valid list')
  if (messages.length === 0) return fault('messages: at least one message is required')
  const at = listOf(messages).findIndex((message) => !isObject(message))
  return at === -1 ? null : fault(`messages.${at}: Input should be a valid dictionary`)
}

/** `offered` counts hosted tools too, which no call of ours can name. */
function checkChoice(dialect: Dialect, prompt: Prompt, offered: number): Fault | null {
  const { choice, tools } = prompt
  if (choice.kind === 'auto' || choice.kind === 'none') return null
  const isOpenAi = dialect === 'chat' || dialect === 'responses'
  if (offered === 0) {
    if (isOpenAi) return fault("Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.", 'tool_choice')
    return fault('tool_choice: tool_choice may only be specified while providing tools')
  }
  if (choice.kind !== 'named' || tools.some((tool) => tool.name === choice.name)) return null
  if (isOpenAi) return fault(`Tool choice '${choice.name}' not found in 'tools' parameter.`, 'tool_choice')
  return fault(`tool_choice: Tool '${choice.name}' not found in provided tools`)
}
