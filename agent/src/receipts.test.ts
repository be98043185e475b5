import { describe, expect, it } from 'vitest'
import { isReceipted, receiptInHeaders, ReceiptReader } from './receipts.ts'

const fields = '"svc":{"agent_record_id":"r-1"},"svc.agent_record_id":"r-1"'
const quoting = JSON.stringify({ text: `{"svc.agent_record_id":"forged"}`, nested: { 'svc.agent_record_id': 'forged' } })
const streams = {
  chat: [`data: ${quoting}`, `data: {"id":"c","choices":[],${fields}}`, 'data: [DONE]'],
  responses: [
    `event: response.output_text.delta\ndata: ${quoting}`,
    `event: response.completed\ndata: {"type":"response.completed",${fields}}`,
    `event: keepalive\ndata: {"type":"keepalive","choices":[],${fields}}`,
    'data: [DONE]',
  ],
  messages: [': ping', `event: content_block_delta\ndata: ${quoting}`, `event: message_stop\ndata: {"type":"message_stop",${fields}}`],
}
const ends = { LF: '\n', CRLF: '\r\n', CR: '\r' }

const cases = Object.entries(streams).flatMap(([format, events]) =>
  Object.entries(ends).map(([name, end]) => [format, name, `${events.join('\n\n')}\n\n`.replaceAll('\n', end)] as const),
)

describe('the receipt in a stream', () => {
  it.each(cases)('of %s with %s line ends is found once, wherever the stream is cut in two', (_format, _end, stream) => {
    const bytes = Buffer.from(stream)
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const reader = new ReceiptReader()
      expect([...reader.take(bytes.subarray(0, cut)), ...reader.take(bytes.subarray(cut))]).toEqual(['r-1'])
    }
  })

  it.each(cases)('of %s with %s line ends is reported with the byte that completes its event, and not later', (_format, _end, stream) => {
    const reader = new ReceiptReader()
    const end = [...Buffer.from(stream)].findIndex((byte) => reader.take(Buffer.from([byte])).length > 0)
    expect(stream.slice(0, end + 1)).toMatch(/"svc\.agent_record_id":"r-1"\}(?:\n\n|\r\r|\r\n\r)$/)
  })

  it('is found in data of several lines', () => {
    expect(new ReceiptReader().take(Buffer.from('data: {"choices":[],\ndata: "svc.agent_record_id":"r-2"}\n\n'))).toEqual(['r-2'])
  })

  it.each(['{"svc.agent_record_id":7}', '{"svc.agent_record_id":" "}', '"svc.agent_record_id"', '{"svc.agent_record_id":"r', 'null'])(
    'is not taken from %s',
    (data) => {
      expect(new ReceiptReader().take(Buffer.from(`data: ${data}\n\n`))).toEqual([])
    },
  )

  it('is found after an event that is too long to be the service’s, which is passed over', () => {
    const reader = new ReceiptReader()
    const piece = Buffer.alloc(8 * 1024 * 1024, 'x')
    reader.take(Buffer.from('data: {"svc.agent_record_id":"r-3","x":"'))
    for (let pieces = 0; pieces < 5; pieces += 1) reader.take(piece)
    expect(reader.take(Buffer.from('"}\n\ndata: {"svc.agent_record_id":"r-4"}\n\n'))).toEqual(['r-4'])
  })
})

it('an answer that is no stream has its receipt in a header', () => {
  expect(receiptInHeaders({ 'x-svc-agent-record-id': 'r-1' })).toBe('r-1')
  expect(receiptInHeaders({})).toBeNull()
})

it('receipts are looked for where an agent works, not where it counts tokens', () => {
  expect(['chat/completions', 'responses', 'messages'].every((route) => isReceipted('POST', `/v1/${route}`))).toBe(true)
  expect(isReceipted('POST', '/v1/messages/count_tokens')).toBe(false)
  expect(isReceipted('GET', '/v1/responses')).toBe(false)
})
