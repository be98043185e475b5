import { describe, expect, it } from 'vitest'
import { chatStreams } from '../../../test/support/chat-streams.ts'
import { data, DONE } from '../../../test/support/frames.ts'
import { bytesOf, eventsOf, read } from '../../../test/support/reading.ts'
import { chat } from './index.ts'
import { ChatReader } from './stream.ts'

describe('a chat stream', () => {
  it.each(chatStreams)('is put together into the whole answer: $name [decisions.streams-assembled]', ({ frames, whole }) => {
    const { reader, terminal } = read(chat, bytesOf(frames))
    expect(reader.answer()).toEqual(whole)
    expect(terminal?.toString()).toBe(DONE)
    expect(reader.failure).toBeNull()
  })

  it('ends with a receipt chunk that copies id, created and model, right before its own last frame [decisions.streams-chat-chunk]', () => {
    const { reader } = read(chat, bytesOf(chatStreams[0]?.frames ?? []))
    const terminal = Buffer.from('data:  [DONE]\r\n\r\n')
    const ending = reader.ending(terminal, 'r-1')
    expect(ending.subarray(-terminal.length)).toEqual(terminal)
    expect(eventsOf(ending)[0]).toEqual({
      event: null,
      data: {
        id: 'chatcmpl-7',
        created: 1_700_000_000,
        model: 'm-2',
        object: 'chat.completion.chunk',
        choices: [],
        svc: { agent_record_id: 'r-1' },
        'svc.agent_record_id': 'r-1',
      },
    })
  })

  it('with a list as long as itself costs no more for each piece', { timeout: 15_000 }, () => {
    const pieces = 60_000
    const reader = new ChatReader()
    const frame = Buffer.from(data({ choices: [{ index: 0, delta: {}, logprobs: { content: [{ token: 'a' }] } }] }))
    for (let piece = 0; piece < pieces; piece++) reader.take(frame)
    const { choices } = reader.answer()
    expect(choices).toHaveProperty('[0].logprobs.content.length', pieces)
  })

  it('keeps numbers as they were written, and copies them so', () => {
    const frame =
      '{"created":12345678901234567890,"choices":[{"index":0,"delta":{"seed":98765432109876543210}},{"index":0,"delta":{"seed":98765432109876543211}}]}'
    const { reader } = read(chat, Buffer.from(`data: ${frame}\n\n`))
    expect(JSON.stringify(reader.answer())).toMatch(/"created":12345678901234567890,.*"seed":98765432109876543211/)
    expect(reader.ending(Buffer.from(DONE), 'r').toString()).toContain('"created":12345678901234567890,')
  })

  it('with a delta of any depth is put together', () => {
    const deep = `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`
    const { reader } = read(chat, Buffer.from(`data: {"choices":[{"index":0,"delta":{"deep":${deep}}}]}\n\n`))
    expect(reader.answer()).toHaveProperty('choices[0].message.deep.a.a.a')
  })

  it('that never named itself still gets a receipt chunk', () => {
    const { reader } = read(chat, Buffer.from(DONE))
    expect(eventsOf(reader.ending(Buffer.from(DONE), 'r-1'))[0]?.data).toEqual({
      object: 'chat.completion.chunk',
      choices: [],
      svc: { agent_record_id: 'r-1' },
      'svc.agent_record_id': 'r-1',
    })
  })

  it('is not ended by the mark inside a text', () => {
    expect(read(chat, Buffer.from(data({ choices: [{ index: 0, delta: { content: 'data: [DONE]\n\n' } }] }))).terminal).toBeNull()
  })

  it.each([
    ['an object with a message', { message: 'overloaded', code: 529 }, 'overloaded'],
    ['plain text', 'overloaded', 'overloaded'],
    ['an object without words', { code: 1 }, 'the upstream reported an error without saying which'],
  ])('that reports an error keeps it and reports it: %s [decisions.streams-broken]', (_shape, error, failure) => {
    const { reader } = read(chat, bytesOf([data({ id: 'x', choices: [] }), data({ error })]))
    expect(reader.failure).toBe(failure)
    expect(reader.answer()).toEqual({ id: 'x', object: 'chat.completion', choices: [], error })
  })

  it.each([
    ['tool calls without an index, each whole', [{ id: 'a' }, { id: 'b' }], [{ id: 'a' }, { id: 'b' }]],
    ['tool calls that are no objects', [null, 'x', 3], undefined],
  ])('takes loose shapes as they are: %s', (_shape, tool_calls, expected) => {
    const { reader } = read(chat, Buffer.from(data({ choices: [{ delta: { tool_calls } }] })))
    const message = { role: 'assistant', content: null, ...(expected !== undefined && { tool_calls: expected }) }
    expect(reader.answer()['choices']).toEqual([{ index: 0, message }])
  })

  it.each(['null', '[]', '"text"', '{', '{"choices":{}}', '{"choices":[null,1,{"delta":null},{"index":"x","delta":[]}]}'])(
    'passes over data that is no chunk of the format: %s',
    (text) => {
      const { reader, terminal } = read(chat, Buffer.from(`data: ${text}\n\n`))
      expect(terminal).toBeNull()
      expect(reader.answer()['object']).toBe('chat.completion')
    },
  )
})
