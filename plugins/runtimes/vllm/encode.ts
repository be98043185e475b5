/** A chat as token ids by the engine's own template, and the answer as what the template makes of the next turn. */
import type { Encoded, JsonObject } from '../../../src/contract/index.ts'
import type { EngineHttp } from '../common/http.ts'
import { listOf } from '../common/json.ts'
import { idsOf } from '../common/numbers.ts'
import { failed, wholeOf } from '../common/replies.ts'

/** Null where the engine has no such route, takes no such chat, or writes the conversation otherwise once it goes on. */
export async function encodeChat(
  http: EngineHttp,
  model: string,
  body: JsonObject,
  answer: JsonObject | null,
  signal: AbortSignal,
): Promise<Encoded | null> {
  const messages = listOf(body['messages'])
  const { tools, chat_template_kwargs } = body
  const common = { model, ...(tools !== undefined && { tools }), ...(chat_template_kwargs !== undefined && { chat_template_kwargs }) }
  const prompt = await tokenized(http, { ...common, messages, add_generation_prompt: true }, signal)
  if (prompt === null || answer === null) return prompt === null ? null : { prompt, answer: [] }
  const turn = { ...answer, role: 'assistant' }
  const whole = await tokenized(http, { ...common, messages: [...messages, turn], add_generation_prompt: false }, signal)
  if (whole === null || prompt.some((id, at) => id !== whole[at])) return null
  return { prompt, answer: whole.slice(prompt.length) }
}

async function tokenized(http: EngineHttp, request: JsonObject, signal: AbortSignal): Promise<readonly number[] | null> {
  const reply = await http.post('/tokenize', request, signal)
  if (reply.status >= 500) throw failed(reply)
  return reply.status >= 400 ? null : idsOf(wholeOf(reply)['tokens'], 'token ids')
}
