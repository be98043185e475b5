/** The smallest runtime: echoes the last message, in the three formats, whole or streamed. */
import { define, upstream, type Json, type JsonObject, type Runtime, type RuntimeCall, type WholeAnswer } from '../../src/contract/index.ts'

export default define('runtime', { make: () => echo })

const echo: Runtime = {
  async infer(call) {
    if (call.signal.aborted) throw upstream('call_aborted', 'the call was given up before it was answered')
    const body: JsonObject = JSON.parse(Buffer.from(call.body).toString())
    const text = toldIn(call, body)
    // A refusal is an answer too: the service relays its status and body.
    if (text === null) return whole(400, { error: { message: 'there is nothing to say back', type: 'invalid_request_error' } })
    if (call.dialect === 'count_tokens') return whole(200, { input_tokens: countWords(text) })
    const { model } = body
    const said = { text, model: typeof model === 'string' ? model : (call.model.model ?? 'echo'), words: countWords(text) }
    const format = FORMATS[call.dialect]
    if (format === undefined)
      return whole(400, { error: { code: 400, message: 'this runtime speaks three formats', status: 'INVALID_ARGUMENT' } })
    if (body['stream'] !== true) return whole(200, format.whole(said))
    return {
      kind: 'stream',
      status: 200,
      headers: { 'content-type': 'text/event-stream' },
      chunks: chunks(format.events(said), call.signal),
    }
  },
  models: async () => whole(200, { object: 'list', data: [{ id: 'echo', object: 'model', created: 0, owned_by: 'examples' }] }),
  status: async () => ({ runtime: 'echo' }),
  close: async () => undefined,
}

interface Said {
  readonly text: string
  readonly model: string
  readonly words: number
}

/** Prints an answer whole, and as the events of a stream. */
interface Format {
  whole(said: Said): JsonObject
  events(said: Said): readonly (JsonObject | '[DONE]')[]
}

const chatHead = ({ model }: Said): JsonObject => ({ id: 'chatcmpl-echo', created: 0, model })
const response = ({ text, model, words }: Said): JsonObject => ({
  id: 'resp_echo',
  object: 'response',
  status: 'completed',
  model,
  output: [
    { type: 'message', id: 'msg_echo', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text, annotations: [] }] },
  ],
  usage: { input_tokens: words, output_tokens: words, total_tokens: 2 * words },
})
const message = ({ model, words }: Said, content: readonly Json[], stop_reason: string | null): JsonObject => ({
  id: 'msg_echo',
  type: 'message',
  role: 'assistant',
  model,
  content,
  stop_reason,
  stop_sequence: null,
  usage: { input_tokens: words, output_tokens: words },
})

const FORMATS: Readonly<Partial<Record<RuntimeCall['dialect'], Format>>> = {
  chat: {
    whole: (said) => ({
      ...chatHead(said),
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content: said.text }, finish_reason: 'stop' }],
      usage: { prompt_tokens: said.words, completion_tokens: said.words, total_tokens: 2 * said.words },
    }),
    events: (said) => {
      const chunk = (delta: JsonObject, finish_reason: string | null): JsonObject => ({
        ...chatHead(said),
        object: 'chat.completion.chunk',
        choices: [{ index: 0, delta, finish_reason }],
      })
      return [chunk({ role: 'assistant', content: said.text }, null), chunk({}, 'stop'), '[DONE]']
    },
  },
  responses: {
    whole: response,
    events: (said) => [
      { type: 'response.created', sequence_number: 0, response: { ...response(said), status: 'in_progress', output: [] } },
      { type: 'response.output_text.delta', sequence_number: 1, output_index: 0, content_index: 0, delta: said.text },
      { type: 'response.completed', sequence_number: 2, response: response(said) },
    ],
  },
  messages: {
    whole: (said) => message(said, [{ type: 'text', text: said.text }], 'end_turn'),
    events: (said) => [
      { type: 'message_start', message: message(said, [], null) },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: said.text } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: said.words } },
      { type: 'message_stop' },
    ],
  },
}

/** The last message in this format, or null. */
function toldIn({ dialect }: RuntimeCall, body: JsonObject): string | null {
  const said = dialect === 'responses' ? body['input'] : lastOf(body['messages'])
  if (said === undefined || said === null) return null
  return typeof said === 'string' ? said : JSON.stringify(said)
}

function lastOf(messages: Json | undefined): Json | undefined {
  const last: Json | undefined = Array.isArray(messages) ? messages.at(-1) : undefined
  return typeof last === 'object' && last !== null && 'content' in last ? last['content'] : undefined
}

/** One event at a time, and none after an abort. */
async function* chunks(events: readonly (JsonObject | '[DONE]')[], signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for (const event of events) {
    if (signal.aborted) return
    const name = typeof event === 'object' && typeof event['type'] === 'string' ? `event: ${event['type']}\n` : ''
    yield Buffer.from(`${name}data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`)
  }
}

function whole(status: number, body: JsonObject): WholeAnswer {
  return { kind: 'whole', status, headers: { 'content-type': 'application/json' }, body: Buffer.from(JSON.stringify(body)) }
}

const countWords = (text: string): number => text.split(/\s+/).filter(Boolean).length
