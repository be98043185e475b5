/** Conversations in each of the formats, for tests: what the person and the agent said, and what tools were called and answered. */
import type { JsonObject } from '../../contract/index.ts'

export type TalkTurn =
  | { readonly person: string }
  | { readonly agent: string }
  | { readonly call: string; readonly input: JsonObject; readonly result?: string; readonly isError?: boolean }

export type TalkFormat = 'chat' | 'responses' | 'messages' | 'gemini'
export const TALK_FORMATS: readonly TalkFormat[] = ['chat', 'responses', 'messages', 'gemini']

/** The request that holds all of them but the last, which is its answer. */
export function exchangeOf(said: readonly TalkTurn[], format: TalkFormat = 'chat', tags: JsonObject = {}): JsonObject {
  const last = said.at(-1)
  const asked = last !== undefined && 'person' in last ? said : said.slice(0, -1)
  const answer = asked === said ? undefined : last
  return { ...FORMATS[format](asked, answer), ...(Object.keys(tags).length > 0 && { metadata: { tags } }) }
}

const SYSTEM = 'You are a coding agent.'

const FORMATS: Readonly<Record<TalkFormat, (asked: readonly TalkTurn[], answer: TalkTurn | undefined) => JsonObject>> = {
  chat: (asked, answer) => ({
    messages: [{ role: 'system', content: SYSTEM }, ...asked.flatMap(chatMessages)],
    response: { choices: answer === undefined ? [] : [{ message: chatMessages(answer)[0] ?? {} }] },
  }),
  responses: (asked, answer) => ({
    instructions: SYSTEM,
    input: asked.flatMap(responseItems),
    response: { object: 'response', output: answer === undefined ? [] : responseItems(answer).slice(0, 1) },
  }),
  messages: (asked, answer) => ({
    system: SYSTEM,
    messages: asked.flatMap(blockMessages),
    response: { type: 'message', role: 'assistant', content: answer === undefined ? [] : (blockMessages(answer)[0]?.['content'] ?? []) },
  }),
  gemini: (asked, answer) => ({
    systemInstruction: { parts: [{ text: SYSTEM }] },
    contents: asked.flatMap(geminiContents),
    response: { candidates: answer === undefined ? [] : [{ content: geminiContents(answer)[0] ?? {} }] },
  }),
}

const idOf = (input: JsonObject): string => `call-${JSON.stringify(input).length}`

function chatMessages(said: TalkTurn): readonly JsonObject[] {
  if ('person' in said) return [{ role: 'user', content: said.person }]
  if ('agent' in said) return [{ role: 'assistant', content: said.agent }]
  const call = { id: idOf(said.input), type: 'function', function: { name: said.call, arguments: JSON.stringify(said.input) } }
  return [
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: call.id, content: said.result ?? '' },
  ]
}

function responseItems(said: TalkTurn): readonly JsonObject[] {
  if ('person' in said) return [{ role: 'user', content: [{ type: 'input_text', text: said.person }] }]
  if ('agent' in said) return [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: said.agent }] }]
  const call_id = idOf(said.input)
  return [
    { type: 'function_call', call_id, name: said.call, arguments: JSON.stringify(said.input) },
    { type: 'function_call_output', call_id, output: said.result ?? '' },
  ]
}

function blockMessages(said: TalkTurn): readonly JsonObject[] {
  if ('person' in said) return [{ role: 'user', content: [{ type: 'text', text: said.person }] }]
  if ('agent' in said) return [{ role: 'assistant', content: [{ type: 'text', text: said.agent }] }]
  const id = idOf(said.input)
  const content = said.result ?? ''
  return [
    { role: 'assistant', content: [{ type: 'tool_use', id, name: said.call, input: said.input }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content, ...(said.isError === true && { is_error: true }) }] },
  ]
}

function geminiContents(said: TalkTurn): readonly JsonObject[] {
  if ('person' in said) return [{ role: 'user', parts: [{ text: said.person }] }]
  if ('agent' in said) return [{ role: 'model', parts: [{ text: said.agent }] }]
  return [
    { role: 'model', parts: [{ functionCall: { name: said.call, args: said.input } }] },
    { role: 'user', parts: [{ functionResponse: { name: said.call, response: { output: said.result ?? '' } } }] },
  ]
}
