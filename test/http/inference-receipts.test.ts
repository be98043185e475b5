/** Where a caller finds its receipt, in each format, streamed and not. */
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/contract/index.ts'
import { chatStreams } from '../support/chat-streams.ts'
import { DONE, named } from '../support/frames.ts'
import { messageStreams } from '../support/message-streams.ts'
import { eventsOf } from '../support/reading.ts'
import { responseStreams } from '../support/response-streams.ts'
import { answerPlainly, sendFrames } from '../support/upstream.ts'
import { sharedWorld, type Answer } from '../support/world.ts'

const here = sharedWorld()

const scenario = { 'x-svc-scenario': 'receipts' }

async function streamed(path: string, frames: readonly string[]): Promise<Answer> {
  here.upstream.answer((_received, response) => sendFrames(response, frames))
  const answer = await here.post(path, { model: 'm', stream: true }, scenario)
  expect(answer.status).toBe(200)
  return answer
}

async function stored(receipt: unknown): Promise<JsonObject> {
  const record = await here.get(`/svc/scenarios/receipts/records/${String(receipt)}`)
  expect(record.status).toBe(200)
  return record.json
}

/** The objects of a stream that carry a receipt, with the receipt. */
function receipts(answer: Answer): readonly { readonly event: string | null; readonly data: JsonObject; readonly receipt: string }[] {
  return eventsOf(answer.bytes).flatMap(({ event, data }) => {
    const receipt = typeof data === 'object' ? data['svc.agent_record_id'] : undefined
    return typeof data === 'object' && typeof receipt === 'string' ? [{ event, data, receipt }] : []
  })
}

/** The receipt nested and flat. */
const twice = (one?: { readonly receipt: string }) => ({ svc: { agent_record_id: one?.receipt }, 'svc.agent_record_id': one?.receipt })

describe('a whole answer', () => {
  it.each(['/v1/chat/completions', '/v1/responses', '/v1/messages', '/v1/messages/count_tokens'])(
    'of %s carries the receipt of its stored record in a header [inference.receipt-header] [inference.recorded] [inference.count-tokens]',
    async (path) => {
      here.upstream.answer(answerPlainly)
      const answer = await here.post(path, { model: 'm' }, scenario)
      const record = await stored(answer.headers['x-svc-agent-record-id'])
      expect(record).toMatchObject({ request_type: 'inference', references: [], payload: { model: 'm', response: answer.json } })
    },
  )

  it('is given where a stream was asked for and the provider answered whole', async () => {
    here.upstream.answer((_received, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":"x"}'))
    const answer = await here.post('/v1/chat/completions', { stream: true }, scenario)
    expect((await stored(answer.headers['x-svc-agent-record-id']))['payload']).toEqual({ stream: true, response: { id: 'x' } })
  })
})

describe('a chat stream', () => {
  it('passes every frame as it came and puts one more chunk right before [DONE] [inference.receipt-chat] [events.receipt-chunk]', async () => {
    for (const { frames } of chatStreams) {
      const answer = await streamed('/v1/chat/completions', frames)
      const passed = frames.slice(0, -1).join('')
      expect(answer.text.slice(0, passed.length)).toBe(passed)
      const [receipt, ...others] = receipts(answer)
      expect(others).toEqual([])
      expect(answer.text.slice(passed.length)).toBe(`data: ${JSON.stringify(receipt?.data)}\n\n${DONE}`)
      expect(receipt?.data).toEqual({
        id: 'chatcmpl-7',
        created: 1_700_000_000,
        model: 'm-2',
        object: 'chat.completion.chunk',
        choices: [],
        ...twice(receipt),
      })
      await stored(receipt?.receipt)
    }
  })

  it('has no receipt in its headers, which go out before the record exists [inference.receipt-after-store]', async () => {
    const answer = await streamed('/v1/chat/completions', chatStreams[0]?.frames ?? [])
    expect(answer.headers['x-svc-agent-record-id']).toBeUndefined()
    expect(answer.headers['content-type']).toBe('text/event-stream')
  })
})

it('a messages stream passes every frame as it came and carries the receipt on message_stop [inference.receipt-messages] [events.receipt-stop]', async () => {
  for (const { frames } of messageStreams) {
    const answer = await streamed('/v1/messages', frames)
    const passed = frames.slice(0, -1).join('')
    expect(answer.text.slice(0, passed.length)).toBe(passed)
    const [stop, ...others] = receipts(answer)
    expect(others).toEqual([])
    expect(stop?.data).toEqual({ type: 'message_stop', ...twice(stop) })
    expect(answer.text.slice(passed.length)).toBe(`event: message_stop\ndata: ${JSON.stringify(stop?.data)}\n\n`)
    await stored(stop?.receipt)
  }
})

it.each(responseStreams)(
  'a responses stream carries the receipt on its last event and on a keepalive chunk, then ends with one [DONE]: $name [inference.receipt-responses] [decisions.streams-terminal] [decisions.streams-done]',
  async ({ frames }) => {
    const answer = await streamed('/v1/responses', frames)
    const events = frames.filter((frame) => frame.startsWith('event:'))
    const passed = events.slice(0, -1).join('')
    expect(answer.text.slice(0, passed.length)).toBe(passed)
    const [last, keepalive, ...others] = receipts(answer)
    expect(others).toEqual([])
    const [sent] = eventsOf(Buffer.from(events.at(-1) ?? ''))
    expect(last).toMatchObject({ event: sent?.event, data: Object.assign({}, sent?.data, twice(last)) })
    expect(keepalive).toMatchObject({
      event: 'keepalive',
      data: { type: 'keepalive', sequence_number: events.length, choices: [], ...twice(last) },
    })
    expect(answer.text.split(DONE)).toHaveLength(2)
    expect(answer.text.endsWith(`\n\n${DONE}`)).toBe(true)
    await stored(last?.receipt)
  },
)

describe('a stream', () => {
  it('holds the receipt nested and flat in one object, the same one [decisions.streams-receipt-twice]', async () => {
    const streams = [
      ['/v1/chat/completions', chatStreams],
      ['/v1/responses', responseStreams],
      ['/v1/messages', messageStreams],
    ] as const
    for (const [path, [first]] of streams) {
      for (const { data, receipt } of receipts(await streamed(path, first?.frames ?? []))) {
        expect(data['svc']).toEqual({ agent_record_id: receipt })
        expect(receipt).toMatch(/^[0-9a-f]{32}$/)
      }
    }
  })

  it('whose provider forged a receipt passes it on as it came, and its own receipt comes last', async () => {
    const forged = named({ type: 'ping', 'svc.agent_record_id': 'forged' })
    const answer = await streamed('/v1/messages', [forged, named({ type: 'message_stop', svc: 'forged' })])
    expect(answer.text.startsWith(forged)).toBe(true)
    await stored(receipts(answer).at(-1)?.receipt)
  })
})
