/** Chat streams of every shape, each with the equivalent whole answer. */
import { data, DONE, type StreamCase } from './frames.ts'

const identity = { id: 'chatcmpl-7', created: 1_700_000_000, model: 'm-2', system_fingerprint: 'fp_1' }
const chunk = (choices: readonly object[], more: object = {}): string =>
  data({ ...identity, object: 'chat.completion.chunk', choices, ...more })
const part = (delta: object, more: object = {}): object => ({ index: 0, delta, finish_reason: null, ...more })
const whole = (choices: readonly object[], more: object = {}): object => ({ ...identity, object: 'chat.completion', choices, ...more })
const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7, completion_tokens_details: { reasoning_tokens: 1 } }

export const chatStreams: readonly StreamCase[] = [
  {
    name: 'text',
    frames: [
      chunk([part({ role: 'assistant', content: '', refusal: null })]),
      chunk([part({ content: 'héllo' })]),
      chunk([part({ content: ' 🌍' })]),
      chunk([part({}, { finish_reason: 'stop' })]),
      DONE,
    ],
    whole: whole([{ index: 0, message: { role: 'assistant', content: 'héllo 🌍', refusal: null }, finish_reason: 'stop' }]),
  },
  {
    name: 'several choices, mixed up',
    frames: [
      chunk([part({ role: 'assistant', content: 'b' }, { index: 1 })]),
      chunk([part({ role: 'assistant', content: 'a' }), part({ content: 'B' }, { index: 1 })]),
      chunk([part({ content: 'A' }, { finish_reason: 'length' }), part({}, { index: 1, finish_reason: 'stop' })]),
      DONE,
    ],
    whole: whole([
      { index: 0, message: { role: 'assistant', content: 'aA' }, finish_reason: 'length' },
      { index: 1, message: { role: 'assistant', content: 'bB' }, finish_reason: 'stop' },
    ]),
  },
  {
    name: 'tool calls in pieces',
    frames: [
      chunk([part({ role: 'assistant', content: null })]),
      chunk([part({ tool_calls: [{ index: 0, id: 'call_a', type: 'function', function: { name: 'look', arguments: '' } }] })]),
      chunk([part({ tool_calls: [{ index: 0, function: { arguments: '{"at"' } }] })]),
      chunk([part({ tool_calls: [{ index: 1, id: 'call_b', type: 'function', function: { name: 'go', arguments: '{}' } }] })]),
      chunk([part({ tool_calls: [{ index: 0, id: '', function: { name: '', arguments: ':1}' } }] })]),
      chunk([part({}, { finish_reason: 'tool_calls' })]),
      DONE,
    ],
    whole: whole([
      {
        index: 0,
        message: {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'call_a', type: 'function', function: { name: 'look', arguments: '{"at":1}' } },
            { id: 'call_b', type: 'function', function: { name: 'go', arguments: '{}' } },
          ],
        },
        finish_reason: 'tool_calls',
      },
    ]),
  },
  {
    name: 'a usage chunk with empty choices',
    frames: [
      chunk([part({ role: 'assistant', content: 'hi' })], { usage: null }),
      chunk([part({}, { finish_reason: 'stop' })], { usage: null }),
      chunk([], { usage }),
      DONE,
    ],
    whole: whole([{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }], { usage }),
  },
  {
    name: 'usage that grows from chunk to chunk, after a first chunk that knows nothing yet',
    frames: [
      data({ id: '', object: '', created: 0, model: '', choices: [], prompt_filter_results: [{ prompt_index: 0 }] }),
      chunk([part({ role: 'assistant', content: 'h' })], { usage: { total_tokens: 4 }, obfuscation: 'xY3' }),
      chunk([part({ content: 'i' }, { finish_reason: 'stop' })], { usage: { total_tokens: 5 }, obfuscation: 'a' }),
      DONE,
    ],
    whole: whole([{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }], {
      usage: { total_tokens: 5 },
      prompt_filter_results: [{ prompt_index: 0 }],
    }),
  },
  {
    name: 'logprobs',
    frames: [
      chunk([part({ role: 'assistant', content: 'a' }, { logprobs: { content: [{ token: 'a', logprob: -0.1 }], refusal: null } })]),
      chunk([part({ content: 'b' }, { logprobs: { content: [{ token: 'b', logprob: -0.2 }], refusal: null } })]),
      chunk([part({}, { finish_reason: 'stop', logprobs: null })]),
      DONE,
    ],
    whole: whole([
      {
        index: 0,
        message: { role: 'assistant', content: 'ab' },
        logprobs: {
          content: [
            { token: 'a', logprob: -0.1 },
            { token: 'b', logprob: -0.2 },
          ],
          refusal: null,
        },
        finish_reason: 'stop',
      },
    ]),
  },
  {
    name: 'a refusal',
    frames: [
      chunk([part({ role: 'assistant', content: null, refusal: '' })]),
      chunk([part({ refusal: 'I will' })]),
      chunk([part({ refusal: ' not' }, { finish_reason: 'stop' })]),
      DONE,
    ],
    whole: whole([{ index: 0, message: { role: 'assistant', content: null, refusal: 'I will not' }, finish_reason: 'stop' }]),
  },
  {
    name: 'reasoning beside the text, and the older function call',
    frames: [
      chunk([part({ role: 'assistant', content: null, reasoning_content: 'think' })]),
      chunk([part({ reasoning_content: 'ing', function_call: { name: 'f', arguments: '[' } })]),
      chunk([part({ function_call: { arguments: ']' } }, { finish_reason: 'function_call' })]),
      DONE,
    ],
    whole: whole([
      {
        index: 0,
        message: { role: 'assistant', content: null, reasoning_content: 'thinking', function_call: { name: 'f', arguments: '[]' } },
        finish_reason: 'function_call',
      },
    ]),
  },
]
