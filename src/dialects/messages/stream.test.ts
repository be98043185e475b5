import { describe, expect, it } from 'vitest'
import { named } from '../../../test/support/frames.ts'
import { messageStreams } from '../../../test/support/message-streams.ts'
import { bytesOf, eventsOf, read } from '../../../test/support/reading.ts'
import { messages } from './index.ts'

const start = named({ type: 'message_start', message: { id: 'msg_1', type: 'message', role: 'assistant', content: [] } })
const open = (content_block: object): string => named({ type: 'content_block_start', index: 0, content_block })
const grow = (delta: object): string => named({ type: 'content_block_delta', index: 0, delta })

describe('a messages stream', () => {
  it.each(messageStreams)('is put together into the whole message: $name [decisions.streams-assembled]', ({ frames, whole }) => {
    const { reader, terminal } = read(messages, bytesOf(frames))
    expect(reader.answer()).toEqual(whole)
    expect(terminal?.toString()).toBe(named({ type: 'message_stop' }))
    expect(reader.failure).toBeNull()
  })

  it('carries the receipt on message_stop, twice in the one object, beside what the provider said there [decisions.streams-messages]', () => {
    const { reader } = read(messages, bytesOf(messageStreams[0]?.frames ?? []))
    const terminal = Buffer.from(named({ type: 'message_stop', 'amazon-bedrock-invocationMetrics': { outputTokenCount: 2 } }))
    expect(eventsOf(reader.ending(terminal, 'r-1'))).toEqual([
      {
        event: 'message_stop',
        data: {
          type: 'message_stop',
          'amazon-bedrock-invocationMetrics': { outputTokenCount: 2 },
          svc: { agent_record_id: 'r-1' },
          'svc.agent_record_id': 'r-1',
        },
      },
    ])
  })

  it('ends with its own other lines and line ends', () => {
    const { reader } = read(messages, bytesOf([start]))
    const terminal = Buffer.from('event: message_stop\r\nid: 7\r\ndata: {"type":\r\ndata: "message_stop"}\r\n\r\n')
    expect(reader.ending(terminal, 'r').toString()).toBe(
      'event: message_stop\r\nid: 7\r\ndata: {"type": "message_stop","svc":{"agent_record_id":"r"},"svc.agent_record_id":"r"}\r\n\r\n',
    )
  })

  it('keeps the counts of its beginning where its end says nothing of them', () => {
    const begin = named({
      type: 'message_start',
      message: { usage: { input_tokens: 100_000, cache_read_input_tokens: 5, output_tokens: 1 } },
    })
    const end = named({ type: 'message_delta', delta: {}, usage: { input_tokens: null, output_tokens: 50 } })
    const { reader } = read(messages, bytesOf([begin, end]))
    expect(reader.answer()['usage']).toEqual({ input_tokens: 100_000, cache_read_input_tokens: 5, output_tokens: 50 })
  })

  it('keeps numbers as they were written', () => {
    const block =
      '{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","input":{"id":12345678901234567890,"far":1e400}}}'
    const { reader } = read(messages, Buffer.from(`data: ${block}\n\n`))
    expect(JSON.stringify(reader.answer())).toContain('{"id":12345678901234567890,"far":1e400}')
  })

  it('that breaks off inside a tool call keeps its input as far as it came', () => {
    const { reader } = read(
      messages,
      bytesOf([
        start,
        open({ type: 'tool_use', id: 't', name: 'n', input: {} }),
        grow({ type: 'input_json_delta', partial_json: '{"a":' }),
      ]),
    )
    expect(reader.answer()['content']).toEqual([{ type: 'tool_use', id: 't', name: 'n', input: '{"a":' }])
  })

  it('keeps a delta of an unknown kind', () => {
    const odd = { type: 'hologram_delta', hologram: 'x' }
    const { reader } = read(messages, bytesOf([start, open({ type: 'hologram' }), grow(odd)]))
    expect(reader.answer()['content']).toEqual([{ type: 'hologram', deltas: [odd] }])
  })

  it('that reports an error keeps it and reports it [decisions.streams-broken]', () => {
    const error = { type: 'overloaded_error', message: 'Overloaded' }
    const { reader, terminal } = read(messages, bytesOf([start, named({ type: 'error', error })]))
    expect(terminal).toBeNull()
    expect(reader.failure).toBe('Overloaded')
    expect(reader.answer()).toEqual({ id: 'msg_1', type: 'message', role: 'assistant', content: [], error })
  })

  it.each(['null', '{', '{"type":"content_block_delta"}', '{"type":"message_start"}', '{"type":"message_delta","delta":3}', '{"type":7}'])(
    'passes over data that is no event of the format: %s',
    (text) => {
      const { reader, terminal } = read(messages, Buffer.from(`data: ${text}\n\n`))
      expect(terminal).toBeNull()
      expect(reader.answer()).toMatchObject({ type: 'message', role: 'assistant', content: [] })
    },
  )
})
