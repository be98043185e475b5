/** Responses streams of the usual kinds of items, each with the equivalent response. */
import { DONE, named, type StreamCase } from './frames.ts'

const response = {
  id: 'resp_7',
  object: 'response',
  created_at: 1_700_000_000,
  model: 'm-2',
  status: 'completed',
  error: null,
  incomplete_details: null,
  usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
}
const reasoning = { id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text: 'I looked' }] }
const text = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [
    { type: 'output_text', text: 'héllo 🌍', annotations: [] },
    { type: 'refusal', refusal: 'not that' },
  ],
}
const call = { id: 'fc_1', type: 'function_call', status: 'completed', call_id: 'call_1', name: 'look', arguments: '{"at":1}' }
const custom = { id: 'ct_1', type: 'custom_tool_call', status: 'completed', call_id: 'call_2', name: 'sh', input: 'ls -l' }
const output = [reasoning, text, call, custom]

/** Events get their numbers in order. */
function numbered(events: readonly { readonly type: string; readonly [key: string]: unknown }[]): readonly string[] {
  return events.map((event, sequence_number) => named({ ...event, sequence_number }))
}

const begun = { type: 'response.created', response: { ...response, status: 'in_progress', usage: null, output: [] } }

/** Every item opened, grown and, up to the last one, closed. */
const grown = [
  begun,
  { type: 'response.in_progress', response: begun.response },
  { type: 'response.output_item.added', output_index: 0, item: { ...reasoning, summary: [] } },
  { type: 'response.reasoning_summary_part.added', output_index: 0, summary_index: 0, part: { type: 'summary_text', text: '' } },
  { type: 'response.reasoning_summary_text.delta', output_index: 0, summary_index: 0, delta: 'I ' },
  { type: 'response.reasoning_summary_text.delta', output_index: 0, summary_index: 0, delta: 'looked' },
  { type: 'response.output_item.done', output_index: 0, item: reasoning },
  { type: 'response.output_item.added', output_index: 1, item: { ...text, content: [] } },
  { type: 'response.content_part.added', output_index: 1, content_index: 0, part: { type: 'output_text', text: '', annotations: [] } },
  { type: 'response.output_text.delta', output_index: 1, content_index: 0, delta: 'héllo' },
  { type: 'response.output_text.delta', output_index: 1, content_index: 0, delta: ' 🌍' },
  { type: 'response.content_part.done', output_index: 1, content_index: 0, part: text.content[0] },
  { type: 'response.content_part.added', output_index: 1, content_index: 1, part: { type: 'refusal', refusal: '' } },
  { type: 'response.refusal.delta', output_index: 1, content_index: 1, delta: 'not that' },
  { type: 'response.output_item.added', output_index: 2, item: { ...call, arguments: '' } },
  { type: 'response.function_call_arguments.delta', output_index: 2, delta: '{"at"' },
  { type: 'response.function_call_arguments.delta', output_index: 2, delta: ':1}' },
  { type: 'response.output_item.added', output_index: 3, item: { ...custom, input: '' } },
  { type: 'response.custom_tool_call_input.delta', output_index: 3, delta: 'ls ' },
  { type: 'response.custom_tool_call_input.delta', output_index: 3, delta: '-l' },
]

const ended = (type: string, whole: object): readonly string[] => numbered([...grown, { type, response: whole }])

const completed = { ...response, output }
const incomplete = { ...completed, status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }
const failed = { ...completed, status: 'failed', error: { code: 'server_error', message: 'it broke' } }

export const responseStreams: readonly StreamCase[] = [
  { name: 'items of every kind, completed', frames: ended('response.completed', completed), whole: completed },
  {
    name: 'items of every kind, completed, with a mark at the end',
    frames: [...ended('response.completed', completed), DONE],
    whole: completed,
  },
  { name: 'an incomplete response', frames: ended('response.incomplete', incomplete), whole: incomplete },
  { name: 'a failed response', frames: ended('response.failed', failed), whole: failed },
  { name: 'a last event without the items', frames: ended('response.completed', { ...response, output: [] }), whole: completed },
]

/** The response of a stream that breaks off before its last event. */
export const brokenResponse: StreamCase = {
  name: 'broken off before its last event',
  frames: numbered(grown),
  whole: { ...begun.response, output },
}
