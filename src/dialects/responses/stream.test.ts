import { describe, expect, it } from 'vitest'
import { DONE, named } from '../../../test/support/frames.ts'
import { bytesOf, eventsOf, read } from '../../../test/support/reading.ts'
import { brokenResponse, responseStreams } from '../../../test/support/response-streams.ts'
import { responses } from './index.ts'

describe('a responses stream', () => {
  it.each(responseStreams)('is put together into the whole response: $name [decisions.streams-assembled]', ({ frames, whole }) => {
    const { reader, terminal } = read(responses, bytesOf(frames))
    expect(reader.answer()).toEqual(whole)
    expect(terminal?.toString()).toMatch(/^event: response\.(completed|incomplete|failed)\n/)
  })

  it('that breaks off keeps every item as far as it came [decisions.streams-broken]', () => {
    const { reader, terminal } = read(responses, bytesOf(brokenResponse.frames))
    expect(terminal).toBeNull()
    expect(reader.answer()).toEqual(brokenResponse.whole)
  })

  it.each(['response.completed', 'response.incomplete', 'response.failed'])(
    'carries the receipt on %s, then on a keepalive with the next number, then [DONE] [decisions.streams-keepalive]',
    (type) => {
      const terminal = named({ type, sequence_number: 41, response: { id: 'resp_1', output: [] } })
      const { reader } = read(responses, Buffer.from(terminal))
      const receipt = { svc: { agent_record_id: 'r-1' }, 'svc.agent_record_id': 'r-1' }
      const ending = reader.ending(Buffer.from(terminal), 'r-1')
      expect(eventsOf(ending)).toEqual([
        { event: type, data: { type, sequence_number: 41, response: { id: 'resp_1', output: [] }, ...receipt } },
        { event: 'keepalive', data: { type: 'keepalive', sequence_number: 42, choices: [], ...receipt } },
        { event: null, data: '[DONE]' },
      ])
      expect(ending.toString().endsWith(DONE)).toBe(true)
    },
  )

  it('keeps the digits of its last event, for the client and for the record', () => {
    const last = '{"type":"response.completed",\ndata: "response":{"tools":[{"maximum":9223372036854775807}],"temperature":1.0}'
    const { reader, terminal } = read(responses, Buffer.from(`event: response.completed\ndata: ${last}}\n\n`))
    expect(
      reader
        .ending(terminal ?? Buffer.alloc(0), 'r')
        .toString()
        .split('\n\n', 1),
    ).toEqual([`event: response.completed\ndata: ${last.replace('\ndata:', '')},"svc":{"agent_record_id":"r"},"svc.agent_record_id":"r"}`])
    expect(JSON.stringify(reader.answer())).toBe('{"tools":[{"maximum":9223372036854775807}],"temperature":1}')
  })

  it('behind another such service has one receipt', () => {
    const terminal = named({
      type: 'response.completed',
      svc: { agent_record_id: 'theirs' },
      'svc.agent_record_id': 'theirs',
      response: {},
    })
    const { reader } = read(responses, Buffer.from(terminal))
    expect(reader.ending(Buffer.from(terminal), 'r').toString()).not.toContain('theirs')
  })

  it('without numbers is numbered by counting', () => {
    const frames = [named({ type: 'response.created', response: {} }), named({ type: 'response.completed', response: {} })]
    const { reader, terminal } = read(responses, bytesOf(frames))
    expect(eventsOf(reader.ending(terminal ?? Buffer.alloc(0), 'r-1'))[1]?.data).toMatchObject({ sequence_number: 3 })
  })

  it.each([
    ['under error', { type: 'error', error: { code: 'server_error', message: 'broken' } }],
    ['as the event itself', { type: 'error', code: 'server_error', message: 'broken', param: null }],
  ])('that reports an error keeps it and reports it: %s [decisions.streams-broken]', (_shape, event) => {
    const { reader, terminal } = read(responses, Buffer.from(named(event)))
    expect(terminal).toBeNull()
    expect(reader.failure).toBe('broken')
    expect(reader.answer()['error']).toMatchObject({ code: 'server_error', message: 'broken' })
  })

  it('puts a part at the end of its item when its event names a place far beyond it', () => {
    const delta = { type: 'response.output_text.delta', output_index: 0, content_index: 1_000_000_000, delta: 'x' }
    const { reader } = read(responses, Buffer.from(named(delta)))
    expect(reader.answer()['output']).toEqual([{ content: [{ type: 'output_text', text: 'x', annotations: [] }] }])
  })

  it.each(['null', '{', '{"type":"response.output_text.delta","output_index":0,"content_index":-1,"delta":1}', '{"type":7}'])(
    'passes over data that is no event of the format: %s',
    (text) => {
      const { reader, terminal } = read(responses, Buffer.from(`data: ${text}\n\n`))
      expect(terminal).toBeNull()
      expect(reader.answer()['object']).toBe('response')
    },
  )
})
