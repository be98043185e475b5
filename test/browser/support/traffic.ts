/** Conversations in the three formats: text, reasoning, tools, images, refusals, whole and streamed. */
import { named, recordIds } from '../../spec/support/helpers.ts'
import { data, DONE, named as event } from '../../support/frames.ts'
import { responseStreams } from '../../support/response-streams.ts'
import { sendFrames, sendJson } from '../../support/upstream.ts'
import type { World } from '../../support/world.ts'

interface Exchange {
  readonly path: string
  readonly body: object
  /** What the provider answers: a whole object, or the frames of a stream. */
  readonly answer: object | readonly string[]
}

/** A red point of five pixels. */
const PICTURE = 'iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg=='
/** A page that loaded it would leak that it was opened. */
const OUTSIDE_PICTURE = 'https://pictures.example/parcel.png'

const TOOL = { name: 'track', description: 'Where a parcel is', parameters: { type: 'object', properties: { number: { type: 'string' } } } }
const chat = (message: object, finish_reason: string): object => ({
  id: 'chatcmpl-9',
  object: 'chat.completion',
  created: 1_700_000_000,
  model: 'shop-large',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }],
  usage: { prompt_tokens: 212, completion_tokens: 38, total_tokens: 250 },
})
const chunk = (choices: readonly object[], more: object = {}): string =>
  data({ id: 'chatcmpl-9', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'shop-large', choices, ...more })
const delta = (part: object, finish_reason: string | null = null): object => ({ index: 0, delta: part, finish_reason })
const message = (content: readonly object[], stop_reason: string): object => ({
  id: 'msg_9',
  type: 'message',
  role: 'assistant',
  model: 'shop-thinking',
  content,
  stop_reason,
  stop_sequence: null,
  usage: { input_tokens: 640, output_tokens: 91 },
})

const CHAT: readonly Exchange[] = [
  {
    path: '/v1/chat/completions',
    body: {
      model: 'shop-large',
      messages: [
        { role: 'system', content: 'You answer for a shop. One friendly line.' },
        { role: 'user', content: 'Where is my parcel? The number is 20417733.' },
      ],
      tools: [{ type: 'function', function: TOOL }],
    },
    answer: chat(
      { content: null, tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'track', arguments: '{"number":"20417733"}' } }] },
      'tool_calls',
    ),
  },
  {
    path: '/v1/chat/completions',
    body: {
      model: 'shop-large',
      stream: true,
      messages: [
        { role: 'developer', content: 'One friendly line.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image_url', image_url: { url: `data:image/png;base64,${PICTURE}` } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'track', arguments: '{"number":"20417733"}' } }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: '{"place":"Hamburg","expected":"tomorrow"}' },
        { role: 'user', content: [{ type: 'image_url', image_url: { url: OUTSIDE_PICTURE } }] },
      ],
    },
    answer: [
      chunk([delta({ role: 'assistant', content: '' })]),
      chunk([delta({ content: 'It is in Hamburg ' })]),
      chunk([delta({ content: 'and comes tomorrow.' })]),
      chunk([delta({}, 'stop')]),
      chunk([], { usage: { prompt_tokens: 388, completion_tokens: 12, total_tokens: 400 } }),
      DONE,
    ],
  },
  {
    path: '/v1/chat/completions',
    body: { model: 'shop-large', messages: [{ role: 'user', content: 'Write a review in my name.' }] },
    answer: chat({ content: null, refusal: 'I cannot speak in your name.' }, 'stop'),
  },
]

const MESSAGES: readonly Exchange[] = [
  {
    path: '/v1/messages',
    body: {
      model: 'shop-thinking',
      max_tokens: 800,
      system: [{ type: 'text', text: 'You answer for a shop.' }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Is this the right size?' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PICTURE } },
          ],
        },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'sizes', input: { label: '42', country: 'IT' } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'one larger' }] }] },
      ],
    },
    answer: message(
      [
        { type: 'thinking', thinking: 'Shoes from Italy are small. One larger than the label.', signature: 'c2ln' },
        { type: 'text', text: 'Take one size larger: the label is Italian.' },
      ],
      'end_turn',
    ),
  },
  {
    path: '/v1/messages',
    body: { model: 'shop-thinking', max_tokens: 800, stream: true, messages: [{ role: 'user', content: 'Track 20417733, please.' }] },
    answer: [
      event({ type: 'message_start', message: { ...message([], ''), stop_reason: null } }),
      event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
      event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'I will look it up.' } }),
      event({ type: 'content_block_stop', index: 0 }),
      event({ type: 'content_block_start', index: 1, content_block: { type: 'tool_use', id: 'toolu_2', name: 'track', input: {} } }),
      event({ type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"number":"20417733"}' } }),
      event({ type: 'content_block_stop', index: 1 }),
      event({ type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 57 } }),
      event({ type: 'message_stop' }),
    ],
  },
]

const [RESPONSE] = responseStreams
const RESPONSES: readonly Exchange[] = [false, true].map((stream) => ({
  path: '/v1/responses',
  body: {
    model: 'shop-responses',
    stream,
    instructions: 'You answer for a shop.',
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'How do I exchange a coat?' },
          { type: 'input_image', image_url: `data:image/png;base64,${PICTURE}` },
        ],
      },
      { type: 'function_call_output', call_id: 'call_1', output: 'Free of charge within 14 days.' },
    ],
  },
  answer: stream ? (RESPONSE?.frames ?? []) : (RESPONSE?.whole ?? {}),
}))

/** The ids of the exchanges, in the order sent. */
export async function sendConversations(here: World, scenario: string): Promise<readonly string[]> {
  for (const { path, body, answer } of [...CHAT, ...MESSAGES, ...RESPONSES]) {
    here.upstream.answer((_received, response) => (Array.isArray(answer) ? sendFrames(response, answer) : sendJson(response, 200, answer)))
    await here.post(path, body, named(scenario))
  }
  return recordIds(here, scenario)
}
