/** The model behind the service under test: what it says depends on the request's mark alone, so every stored answer can be judged. */
import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { isObject, type Dialect, type Json, type JsonObject } from '../../../src/contract/index.ts'
import { dialects } from '../../../src/dialects/index.ts'
import { data, DONE, named } from '../../support/frames.ts'
import { sendJson, type Received, type Script } from '../../support/upstream.ts'
import { textIn } from '../http.ts'
import { randomOf } from '../random.ts'

/** Every body carries one, in a field that no format knows: it identifies the stored record. */
export const MARK = 'mark'

export const pathOf = (dialect: Dialect): string => (dialects[dialect].paths[0] ?? '').replace(':model', 'm')

export function requestOf(dialect: Dialect, stream: boolean, mark: string): JsonObject {
  const asked = { model: 'm', [MARK]: mark, ...(stream && { stream }) }
  if (dialect === 'responses') return { ...asked, input: mark }
  return { ...asked, max_tokens: 64, messages: [{ role: 'user', content: mark }] }
}

/** A few words, now and then some tens of kilobytes: bodies of one page and of many. */
function wordsOf(mark: string): readonly string[] {
  const random = randomOf(mark)
  const count = random.fraction() < 0.1 ? random.between(2000, 9000) : random.between(2, 12)
  return Array.from({ length: count }, (_, index) => `${mark}-${index}é `)
}

export const textOf = (mark: string): string => wordsOf(mark).join('')

export function answerOf(dialect: Dialect, mark: string): JsonObject {
  const text = textOf(mark)
  if (dialect === 'count_tokens') return { input_tokens: text.length, [MARK]: mark }
  if (dialect === 'messages') return { id: mark, type: 'message', role: 'assistant', model: 'm', content: [{ type: 'text', text }] }
  if (dialect === 'responses') return responseOf(mark, text)
  return {
    id: mark,
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
  }
}

function responseOf(mark: string, text: string): JsonObject {
  const content = [{ type: 'output_text', text, annotations: [] }]
  return { id: mark, object: 'response', created_at: 1, model: 'm', status: 'completed', output: [{ type: 'message', content }] }
}

/** What a stored answer says, wherever its format puts it. */
export function saidIn(dialect: Dialect, response: JsonObject): string {
  if (dialect === 'messages') return textIn(firstOf(response['content']), 'text')
  if (dialect === 'responses') return textIn(firstOf(firstOf(response['output'])['content']), 'text')
  return textIn(objectOf(firstOf(response['choices'])['message']), 'content')
}

const firstOf = (value: Json | undefined): JsonObject => (Array.isArray(value) ? objectOf(value[0]) : {})
const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {})

/** Answers every format, and says so whenever an answer left whole: the moment before the service stores it. */
export function scriptOf(onAnswered: () => void): Script {
  return async (received, response) => {
    const dialect = dialectOf(received)
    const asked: Json = JSON.parse(received.body.toString())
    const mark = isObject(asked) ? textIn(asked, MARK) : ''
    if (isObject(asked) && asked['stream'] === true) await sendStream(response, framesOf(dialect, mark))
    else sendJson(response, 200, answerOf(dialect, mark))
    onAnswered()
  }
}

function dialectOf({ url }: Received): Dialect {
  if (url.startsWith(pathOf('count_tokens'))) return 'count_tokens'
  if (url.startsWith(pathOf('messages'))) return 'messages'
  return url.startsWith(pathOf('responses')) ? 'responses' : 'chat'
}

/** A pause between frames, so that kills land inside streams. */
async function sendStream(response: ServerResponse, frames: readonly string[]): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const each = Math.ceil(frames.length / 6)
  for (let at = 0; at < frames.length; at += each) {
    response.write(frames.slice(at, at + each).join(''))
    await sleep(1)
  }
  response.end()
}

const event = (type: string, fields: object): string => named({ type, ...fields })

function framesOf(dialect: Dialect, mark: string): readonly string[] {
  const words = wordsOf(mark)
  if (dialect === 'messages')
    return [
      event('message_start', { message: { ...answerOf('messages', mark), content: [] } }),
      event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
      ...words.map((text) => event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } })),
      event('message_stop', {}),
    ]
  if (dialect === 'responses')
    return [
      event('response.created', { response: { ...responseOf(mark, ''), status: 'in_progress', output: [] } }),
      event('response.output_item.added', { output_index: 0, item: { type: 'message', content: [] } }),
      ...words.map((delta) => event('response.output_text.delta', { output_index: 0, delta })),
      event('response.completed', { response: responseOf(mark, words.join('')) }),
    ]
  const chunk = (delta: object) => data({ id: mark, object: 'chat.completion.chunk', choices: [{ index: 0, delta }] })
  return [...words.map((content) => chunk({ content })), DONE]
}
