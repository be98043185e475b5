/** The official Anthropic SDK, unmodified. */
import Anthropic from '@anthropic-ai/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Settings } from '../support/settings.ts'
import { breakOffAfter, messageFrames, sendJson } from '../support/upstream.ts'
import type { World } from '../support/world.ts'
import { all, answerOrCall, ERROR_CLASSES, errorOf, expectKept, HEADERS, receiptOf, RUNTIMES, serviceWith, TOKEN, TOOL } from './service.ts'

const asked = { model: 'm', max_tokens: 200, messages: [{ role: 'user' as const, content: 'Say hello.' }] }
const calling = {
  ...asked,
  tools: [{ name: TOOL.name, description: TOOL.description, input_schema: { ...TOOL.schema, required: ['at'] } }],
  tool_choice: { type: 'any' as const },
}

let here: World
let anthropic: Anthropic

async function open(settings: Settings): Promise<void> {
  here = await serviceWith(settings)
  anthropic = new Anthropic({ baseURL: here.address, apiKey: TOKEN, defaultHeaders: HEADERS, maxRetries: 0 })
}

describe.each(RUNTIMES)('messages over $runtime', ({ settings }) => {
  beforeAll(() => open(settings))
  afterAll(() => here.close())

  it('are answered whole, the receipt in a header [inference.formats] [inference.receipt-header]', async () => {
    const { data, response } = await anthropic.messages.create(asked).withResponse()
    expect(data.content[0]).toMatchObject({ type: 'text' })
    await expectKept(here, response.headers.get('x-svc-agent-record-id'))
  })

  it('are streamed, the receipt on message_stop [inference.receipt-messages]', async () => {
    const events = await all(await anthropic.messages.create({ ...asked, stream: true }))
    expect(events.filter((event) => receiptOf(event) !== null).map(({ type }) => type)).toEqual(['message_stop'])
    await expectKept(here, receiptOf(events.at(-1) ?? {}))
  })

  it('run through the stream helper, which sees the receipt too', async () => {
    const receipts: (string | null)[] = []
    const stream = anthropic.messages.stream(asked)
    stream.on('streamEvent', (event) => receipts.push(receiptOf(event)))
    const message = await stream.finalMessage()
    expect(message.stop_reason).toBe('end_turn')
    expect(await stream.finalText()).not.toBe('')
    await expectKept(here, receipts.at(-1))
  })

  it('call tools, whole and streamed', async () => {
    const whole = await anthropic.messages.create(calling)
    const streamed = await anthropic.messages.stream(calling).finalMessage()
    for (const { content, stop_reason } of [whole, streamed]) {
      expect(stop_reason).toBe('tool_use')
      const call = content.find(({ type }) => type === 'tool_use')
      expect(call).toMatchObject({ name: TOOL.name, input: { at: expect.anything() } })
    }
  })

  it('are served to the beta client as well [decisions.inference-query]', async () => {
    const { data, response } = await anthropic.beta.messages.create({ ...asked, betas: ['files-api-2025-04-14'] }).withResponse()
    expect(data.type).toBe('message')
    await expectKept(here, response.headers.get('x-svc-agent-record-id'))
  })

  it('are counted, and the count is recorded like any inference [inference.count-tokens] [decisions.count-tokens]', async () => {
    const { model, messages } = asked
    const { data, response } = await anthropic.messages.countTokens({ model, messages }).withResponse()
    expect(data).toEqual({ input_tokens: expect.toSatisfy((count) => count > 0) })
    await expectKept(here, response.headers.get('x-svc-agent-record-id'))
  })
})

describe('what goes wrong', () => {
  beforeAll(() => open({}))
  afterAll(() => here.close())

  it.each([
    ...Object.entries(ERROR_CLASSES).map(([status, name]) => [Number(status), name, Number(status)] as const),
    [413, 'BadRequestError', 400],
    [500, 'InternalServerError', 502],
    [529, 'InternalServerError', 529],
  ] as const)(
    "is the error class of its status, with the provider's words and request id: %i upstream",
    async (upstream, errorClass, status) => {
      const said = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' }, request_id: 'req_theirs' }
      here.upstream.answer((_received, response) => sendJson(response, upstream, said, { 'request-id': 'req_theirs' }))
      const error = await errorOf(anthropic.messages.create(asked))
      expect(error).toBeInstanceOf(Anthropic[errorClass])
      expect(error).toMatchObject({ status, error: said, requestID: 'req_theirs' })
      here.upstream.answer(answerOrCall)
    },
  )

  it('on our own account has the shape of the format: no scenario', async () => {
    const unnamed = new Anthropic({ baseURL: here.address, apiKey: TOKEN, maxRetries: 0 })
    await expect(unnamed.messages.create(asked)).rejects.toMatchObject({
      status: 400,
      error: { type: 'error', error: { type: 'invalid_request_error' } },
    })
  })

  it('in the middle of a stream is thrown to the reader', async () => {
    here.upstream.answer(breakOffAfter(messageFrames.slice(0, 3)))
    await expect(anthropic.messages.stream(asked).finalMessage()).rejects.toThrow()
    here.upstream.answer(answerOrCall)
  })
})
