/** A scripted model: it calls one tool of the agent, then says one sentence, in the three formats. */
import type { ServerResponse } from 'node:http'
import { data, DONE, named } from '../../support/frames.ts'
import { answerPlainly, sendFrames, type Received, type Script } from '../../support/upstream.ts'

export interface Call {
  readonly tool: string
  readonly input: object
}

/** The agent returns it with the tool's result, which marks the second turn. */
const CALL_ID = 'call_mark_1'
const IDENTITY = { id: 'answer-1', model: 'm' }

/** Calls the tool, then says the sentence. */
export function thenSay(call: Call, sentence: string): Script {
  return (received, response) => {
    if (!isTurn(received)) return answerPlainly(received, response)
    return sendFrames(response, isAnswered(received) ? textFrames(received.url, sentence) : callFrames(received.url, call))
  }
}

/** Calls the tools one after the other, then says the sentence. */
export function thenAllSay(calls: readonly Call[], sentence: string): Script {
  return (received, response) => {
    if (!isTurn(received)) return answerPlainly(received, response)
    const next = calls.findIndex((_, index) => !received.body.includes(idOf(index)))
    const call = calls[next]
    return sendFrames(response, call === undefined ? textFrames(received.url, sentence) : callFrames(received.url, call, idOf(next)))
  }
}

const idOf = (index: number): string => `call_turn_${index}_`

export function say(sentence: string): Script {
  return (received, response) =>
    isTurn(received) ? sendFrames(response, textFrames(received.url, sentence)) : answerPlainly(received, response)
}

/** Calls the tool, then starts an answer that never ends. */
export function thenHang(call: Call, onHang: () => void): Script {
  return (received, response) => {
    if (!isTurn(received) || !isAnswered(received)) return thenSay(call, '')(received, response)
    begin(response, textFrames(received.url, 'never said')[0] ?? '')
    onHang()
  }
}

function begin(response: ServerResponse, frame: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(frame)
}

/** Side requests of an agent, such as for a title, offer no tools. */
export const isTurn = ({ method, body }: Received): boolean => method === 'POST' && /"tools"\s*:\s*\[\s*\{/.test(body.toString())

const isAnswered = ({ body }: Received): boolean => body.includes(CALL_ID)

function textFrames(url: string, text: string): readonly string[] {
  if (url.includes('/messages')) return messageFrames({ type: 'text', text: '' }, { type: 'text_delta', text }, 'end_turn')
  if (!url.includes('/responses')) return chatFrames({ content: text }, 'stop')
  const content = [{ type: 'output_text', text, annotations: [] }]
  const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content }
  return responseFrames(item, { ...item, status: 'in_progress', content: [] }, [
    { type: 'response.content_part.added', content_index: 0, part: { type: 'output_text', text: '', annotations: [] } },
    { type: 'response.output_text.delta', content_index: 0, delta: text },
    { type: 'response.output_text.done', content_index: 0, text },
    { type: 'response.content_part.done', content_index: 0, part: content[0] },
  ])
}

function callFrames(url: string, { tool, input }: Call, id = CALL_ID): readonly string[] {
  const text = JSON.stringify(input)
  if (url.includes('/messages'))
    return messageFrames({ type: 'tool_use', id, name: tool, input: {} }, { type: 'input_json_delta', partial_json: text }, 'tool_use')
  if (!url.includes('/responses'))
    return chatFrames({ tool_calls: [{ index: 0, id, type: 'function', function: { name: tool, arguments: text } }] }, 'tool_calls')
  const item = { id: 'fc_1', type: 'function_call', status: 'completed', call_id: id, name: tool, arguments: text }
  return responseFrames(item, { ...item, status: 'in_progress', arguments: '' }, [
    { type: 'response.function_call_arguments.delta', delta: text },
    { type: 'response.function_call_arguments.done', arguments: text },
  ])
}

function chatFrames(delta: object, finish: string): readonly string[] {
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
  return [chunk({ delta: { role: 'assistant', content: null } }), chunk({ delta }), chunk({ finish_reason: finish }, { usage }), DONE]
}

const chunk = (choice: object, more: object = {}): string =>
  data({
    ...IDENTITY,
    object: 'chat.completion.chunk',
    created: 1,
    choices: [{ index: 0, delta: {}, finish_reason: null, ...choice }],
    ...more,
  })

function messageFrames(block: object, delta: object, stop: string): readonly string[] {
  const usage = { input_tokens: 1, output_tokens: 1 }
  const message = { ...IDENTITY, type: 'message', role: 'assistant', content: [], stop_reason: null, stop_sequence: null, usage }
  return [
    named({ type: 'message_start', message }),
    named({ type: 'content_block_start', index: 0, content_block: block }),
    named({ type: 'content_block_delta', index: 0, delta }),
    named({ type: 'content_block_stop', index: 0 }),
    named({ type: 'message_delta', delta: { stop_reason: stop, stop_sequence: null }, usage: { output_tokens: 1 } }),
    named({ type: 'message_stop' }),
  ]
}

/** The frames of a single item. */
function responseFrames(
  item: { readonly id: string; readonly [key: string]: unknown },
  opened: object,
  between: readonly { readonly type: string; readonly [key: string]: unknown }[],
): readonly string[] {
  const response = { ...IDENTITY, object: 'response', created_at: 1, status: 'in_progress', output: [] }
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
  const events = [
    { type: 'response.created', response },
    { type: 'response.output_item.added', output_index: 0, item: opened },
    ...between.map((event) => ({ ...event, output_index: 0, item_id: item.id })),
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { ...response, status: 'completed', output: [item], usage } },
  ]
  return events.map((event, sequence_number) => named({ ...event, sequence_number }))
}
