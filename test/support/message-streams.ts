/** Messages streams of every kind of block, each with the equivalent message. */
import { named, type StreamCase } from './frames.ts'

const message = {
  id: 'msg_7',
  type: 'message',
  role: 'assistant',
  model: 'm-2',
  content: [],
  stop_reason: null,
  stop_sequence: null,
  usage: { input_tokens: 5, cache_read_input_tokens: 2, output_tokens: 1 },
}
const start = named({ type: 'message_start', message })
const ping = named({ type: 'ping' })
const open = (index: number, content_block: object): string => named({ type: 'content_block_start', index, content_block })
const grow = (index: number, delta: object): string => named({ type: 'content_block_delta', index, delta })
const close = (index: number): string => named({ type: 'content_block_stop', index })
const end = (stop_reason: string, output_tokens: number, more: object = {}): readonly string[] => [
  named({ type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens }, ...more }),
  named({ type: 'message_stop' }),
]
const whole = (content: readonly object[], stop_reason: string, output_tokens: number, more: object = {}): object => ({
  ...message,
  content,
  stop_reason,
  usage: { ...message.usage, output_tokens },
  ...more,
})

const citation = { type: 'char_location', cited_text: 'so', document_index: 0, start_char_index: 0, end_char_index: 2 }

export const messageStreams: readonly StreamCase[] = [
  {
    name: 'text with pings between',
    frames: [
      start,
      open(0, { type: 'text', text: '' }),
      ping,
      grow(0, { type: 'text_delta', text: 'héllo' }),
      ': a comment\n\n',
      grow(0, { type: 'text_delta', text: ' 🌍' }),
      close(0),
      ...end('end_turn', 9),
    ],
    whole: whole([{ type: 'text', text: 'héllo 🌍' }], 'end_turn', 9),
  },
  {
    name: 'thinking with its signature, redacted thinking, then text',
    frames: [
      start,
      open(0, { type: 'thinking', thinking: '', signature: '' }),
      grow(0, { type: 'thinking_delta', thinking: 'let me' }),
      grow(0, { type: 'thinking_delta', thinking: ' see' }),
      grow(0, { type: 'signature_delta', signature: 'c2ln' }),
      close(0),
      open(1, { type: 'redacted_thinking', data: 'xx' }),
      close(1),
      open(2, { type: 'text', text: '' }),
      grow(2, { type: 'text_delta', text: 'yes' }),
      close(2),
      ...end('end_turn', 12),
    ],
    whole: whole(
      [
        { type: 'thinking', thinking: 'let me see', signature: 'c2ln' },
        { type: 'redacted_thinking', data: 'xx' },
        { type: 'text', text: 'yes' },
      ],
      'end_turn',
      12,
    ),
  },
  {
    name: 'citations',
    frames: [
      start,
      open(0, { type: 'text', text: '', citations: [] }),
      grow(0, { type: 'citations_delta', citation }),
      grow(0, { type: 'text_delta', text: 'so' }),
      grow(0, { type: 'citations_delta', citation: { ...citation, document_index: 1 } }),
      close(0),
      ...end('end_turn', 3),
    ],
    whole: whole([{ type: 'text', text: 'so', citations: [citation, { ...citation, document_index: 1 }] }], 'end_turn', 3),
  },
  {
    name: 'tool calls whose input comes as JSON text, and one without any',
    frames: [
      start,
      open(0, { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }),
      grow(0, { type: 'input_json_delta', partial_json: '' }),
      grow(0, { type: 'input_json_delta', partial_json: '{"at": [1' }),
      grow(0, { type: 'input_json_delta', partial_json: ', "é"]}' }),
      close(0),
      open(1, { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }),
      close(1),
      ...end('tool_use', 20, { context_management: { applied_edits: [] } }),
    ],
    whole: whole(
      [
        { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: [1, 'é'] } },
        { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
      ],
      'tool_use',
      20,
      { context_management: { applied_edits: [] } },
    ),
  },
]
