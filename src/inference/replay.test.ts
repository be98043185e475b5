/** Recorded streams of the three formats, read again. */
import { describe, expect, it } from 'vitest'
import { replay } from './index.ts'

const frames = (...events: readonly object[]): string => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
const call = (part: object): object => ({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...part }] } }] })
const read = (text: string): ReturnType<typeof replay> => replay(Buffer.from(text))

describe('a recorded stream', () => {
  it('of chat completions is the answer with its tool calls', () => {
    const text = frames(
      call({ id: 'c', type: 'function', function: { name: 'f', arguments: '{"a"' } }),
      call({ function: { arguments: ':1}' } }),
    )
    const read1 = read(`: comment\r\n\r\n${text}data: [DONE]`)
    expect(read1).toMatchObject({
      isWhole: true,
      failure: null,
      answer: { choices: [{ message: { tool_calls: [{ id: 'c', function: { name: 'f', arguments: '{"a":1}' } }] } }] },
    })
  })

  it('of messages is the message', () => {
    const text = frames(
      { type: 'message_start', message: { id: 'm', role: 'assistant', content: [], usage: { input_tokens: 1 } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_stop' },
    )
    expect(read(text)).toMatchObject({ isWhole: true, answer: { id: 'm', content: [{ type: 'text', text: 'Hi' }] } })
  })

  it('of responses is the response', () => {
    const text = frames(
      { type: 'response.created', response: { id: 'r', output: [] } },
      { type: 'response.completed', response: { id: 'r', output: [{ type: 'message', content: [{ type: 'output_text', text: 'Hi' }] }] } },
    )
    expect(read(text)).toMatchObject({ isWhole: true, answer: { id: 'r', output: [{ content: [{ text: 'Hi' }] }] } })
  })

  it('that broke off is reported as not whole, and text of no format as nothing', () => {
    expect(read(frames({ object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'H' } }] }))).toMatchObject({
      isWhole: false,
    })
    expect(read('hello')).toBeNull()
    expect(read('')).toBeNull()
  })
})
