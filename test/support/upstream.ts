/** A scripted provider that records every request. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { data, DONE, named } from './frames.ts'
import { listenOnLoopback } from './listen.ts'

export interface Received {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** Answers one request. The default is a small whole answer in the path's format. */
export type Script = (received: Received, response: ServerResponse) => void | Promise<void>

export interface Upstream {
  readonly url: string
  readonly received: Received[]
  /** Sets the answer of later requests. */
  answer(script: Script): void
  /** Connections whose client went away before the answer was over. */
  readonly cancelled: number
  /** Requests being answered now. */
  readonly open: number
  close(): Promise<void>
}

export async function startUpstream(): Promise<Upstream> {
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
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    answer: (next) => {
      script = next
    },
    get cancelled() {
      return cancelled
    },
    get open() {
      return open
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
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
const RESPONSE = {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  model: 'm',
  status: 'completed',
  output: [
    {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'hello', annotations: [] }],
    },
  ],
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
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const frame of frames) response.write(frame)
  response.end()
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
const item = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'hello world', annotations: [] }],
}
const responseFrames = [
  named({ type: 'response.created', sequence_number: 0, response: { ...RESPONSE, status: 'in_progress', output: [] } }),
  named({
    type: 'response.output_item.added',
    sequence_number: 1,
    output_index: 0,
    item: { ...item, status: 'in_progress', content: [] },
  }),
  named({
    type: 'response.content_part.added',
    sequence_number: 2,
    output_index: 0,
    content_index: 0,
    item_id: 'msg_1',
    part: { type: 'output_text', text: '', annotations: [] },
  }),
  named({
    type: 'response.output_text.delta',
    sequence_number: 3,
    output_index: 0,
    content_index: 0,
    item_id: 'msg_1',
    delta: 'hello',
  }),
  named({
    type: 'response.output_text.delta',
    sequence_number: 4,
    output_index: 0,
    content_index: 0,
    item_id: 'msg_1',
    delta: ' world',
  }),
  named({
    type: 'response.output_text.done',
    sequence_number: 5,
    output_index: 0,
    content_index: 0,
    item_id: 'msg_1',
    text: 'hello world',
  }),
  named({
    type: 'response.content_part.done',
    sequence_number: 6,
    output_index: 0,
    content_index: 0,
    item_id: 'msg_1',
    part: { type: 'output_text', text: 'hello world', annotations: [] },
  }),
  named({ type: 'response.output_item.done', sequence_number: 7, output_index: 0, item }),
  named({ type: 'response.completed', sequence_number: 8, response: { ...RESPONSE, output: [item] } }),
]
