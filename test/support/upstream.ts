/** A scripted provider that records every request. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { data, DONE, named } from './frames.ts'
import { closeServer, listenOnLoopback } from './listen.ts'

export interface Received {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** Answers one request. The default is a small whole answer in the path's format. */
export type Script = (received: Received, response: ServerResponse) => void | Promise<void>

export type Upstream = Awaited<ReturnType<typeof startUpstream>>

export async function startUpstream() {
  const received: Received[] = []
  let script: Script = answerPlainly
  let cancelled = 0
  let open = 0
  const server = createServer((request, response) => {
    open += 1
    response.on('close', () => {
      open -= 1
      if (!response.writableFinished) cancelled += 1
    })
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const one = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body: Buffer.concat(parts) }
      received.push(one)
      Promise.resolve(script(one, response)).catch(() => response.destroy())
    })
  })
  const port = await listenOnLoopback(server)
  /** Sets the answer of later requests. */
  const answer = (next: Script): void => {
    script = next
  }
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    answer,
    /** Holds the plain answers of later requests until it is called. */
    hold() {
      const gate = Promise.withResolvers<void>()
      answer((one, response) => gate.promise.then(() => answerPlainly(one, response)))
      return gate.resolve
    },
    /** Connections whose client went away before the answer was over. */
    get cancelled() {
      return cancelled
    },
    /** Requests being answered now. */
    get open() {
      return open
    },
    close: () => closeServer(server),
  }
}

const CHAT = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
}
const outputText = (text: string) => ({ type: 'output_text', text, annotations: [] })
const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [outputText('hello world')] }
const RESPONSE = {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  model: 'm',
  status: 'completed',
  output: [{ ...item, content: [outputText('hello')] }],
}
const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'hello' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
}

/** A whole answer, or its stream when the request asks for one. */
export function answerPlainly(received: Received, response: ServerResponse): void {
  const path = received.url.split('?')[0] ?? ''
  const isStream = received.method === 'POST' && /"stream"\s*:\s*true/.test(received.body.toString())
  if (isStream) sendFrames(response, framesOf(path))
  else sendJson(response, 200, wholeOf(path))
}

function wholeOf(path: string): object {
  if (path.endsWith('/count_tokens')) return { input_tokens: 42 }
  if (path.endsWith('/messages')) return MESSAGE
  if (path.endsWith('/responses')) return RESPONSE
  if (path.endsWith('/models')) return { object: 'list', data: [{ id: 'm', object: 'model' }] }
  return CHAT
}

export function sendJson(response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}

export function sendFrames(response: ServerResponse, frames: readonly string[]): void {
  beginFrames(response, frames).end()
}

/** The stream stays open. */
export function beginFrames(response: ServerResponse, frames: readonly string[]): ServerResponse {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const frame of frames) response.write(frame)
  return response
}

/** Cuts the connection after these frames. */
export const breakOffAfter =
  (frames: readonly string[]): Script =>
  (_received, response) => {
    beginFrames(response, frames)
    setImmediate(() => response.destroy())
  }

/** The stream of "hello world" in the format of that path. */
export function framesOf(path: string): readonly string[] {
  if (path.endsWith('/messages')) return messageFrames
  if (path.endsWith('/responses')) return responseFrames
  return chatFrames
}

const chunk = (delta: object, finish: string | null = null): object => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: finish }],
})

export const chatFrames = [
  data(chunk({ role: 'assistant', content: '' })),
  data(chunk({ content: 'hello' })),
  data(chunk({ content: ' world' })),
  data(chunk({}, 'stop')),
  DONE,
]
export const messageFrames = [
  named({ type: 'message_start', message: { ...MESSAGE, content: [], stop_reason: null } }),
  named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
  named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hello' } }),
  named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: ' world' } }),
  named({ type: 'content_block_stop', index: 0 }),
  named({ type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 2 } }),
  named({ type: 'message_stop' }),
]
const place = { output_index: 0, content_index: 0, item_id: 'msg_1' }
const responseFrames = [
  { type: 'response.created', response: { ...RESPONSE, status: 'in_progress', output: [] } },
  { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress', content: [] } },
  { type: 'response.content_part.added', ...place, part: outputText('') },
  { type: 'response.output_text.delta', ...place, delta: 'hello' },
  { type: 'response.output_text.delta', ...place, delta: ' world' },
  { type: 'response.output_text.done', ...place, text: 'hello world' },
  { type: 'response.content_part.done', ...place, part: outputText('hello world') },
  { type: 'response.output_item.done', output_index: 0, item },
  { type: 'response.completed', response: { ...RESPONSE, output: [item] } },
].map((event, sequence_number) => named({ ...event, sequence_number }))
