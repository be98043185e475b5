/** The official OpenAI SDK, unmodified. */
import OpenAI, { AuthenticationError } from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { named } from '../support/frames.ts'
import type { Settings } from '../support/settings.ts'
import { breakOffAfter, chatFrames, sendFrames, sendJson } from '../support/upstream.ts'
import type { World } from '../support/world.ts'
import { all, answerOrCall, ERROR_CLASSES, errorOf, expectKept, HEADERS, receiptOf, RUNTIMES, serviceWith, TOKEN, TOOL } from './service.ts'

const messages = [{ role: 'user' as const, content: 'Say hello.' }]
const chatTools = [{ type: 'function' as const, function: { name: TOOL.name, description: TOOL.description, parameters: TOOL.schema } }]
const tools = [{ type: 'function' as const, name: TOOL.name, description: TOOL.description, parameters: TOOL.schema, strict: true }]
const model = 'm'

let here: World
let openai: OpenAI

async function open(settings: Settings): Promise<void> {
  here = await serviceWith(settings)
  openai = new OpenAI({ baseURL: `${here.address}/v1`, apiKey: TOKEN, defaultHeaders: HEADERS, maxRetries: 0 })
}

describe.each(RUNTIMES)('chat completions over $runtime', ({ settings }) => {
  beforeAll(() => open(settings))
  afterAll(() => here.close())

  it('are answered whole, the receipt in a header [inference.formats] [inference.receipt-header]', async () => {
    const { data, response } = await openai.chat.completions.create({ model, messages }).withResponse()
    expect(data.choices[0]?.message.content).not.toBe('')
    await expectKept(here, response.headers.get('x-svc-agent-record-id'))
  })

  it('are streamed, the receipt in the last chunk [inference.receipt-chat]', async () => {
    const stream = await openai.chat.completions.create({ model, messages, stream: true, stream_options: { include_usage: true } })
    const chunks = await all(stream)
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).not.toBe('')
    const last = chunks.at(-1)
    expect(last).toMatchObject({ object: 'chat.completion.chunk', choices: [], id: chunks[0]?.id, model: chunks[0]?.model })
    await expectKept(here, receiptOf(last ?? {}))
  })

  it('run through the stream helper, which sees the receipt too', async () => {
    const receipts: (string | null)[] = []
    const stream = openai.chat.completions.stream({ model, messages })
    stream.on('chunk', (chunk) => receipts.push(receiptOf(chunk)))
    const { choices } = await stream.finalChatCompletion()
    expect(choices[0]?.message.content).not.toBe('')
    expect(choices[0]?.finish_reason).toBe('stop')
    await expectKept(here, receipts.at(-1))
  })

  it('call tools, whole and streamed', async () => {
    const asked = { model, messages, tools: chatTools, tool_choice: 'required' as const }
    const whole = await openai.chat.completions.create(asked)
    const streamed = await openai.chat.completions.stream(asked).finalChatCompletion()
    for (const { choices } of [whole, streamed]) {
      const [call] = choices[0]?.message.tool_calls ?? []
      expect(call).toMatchObject({ type: 'function', function: { name: TOOL.name } })
      expect(JSON.parse(call?.type === 'function' ? call.function.arguments : '')).toHaveProperty('at')
    }
  })

  it('know which models there are [decisions.inference-models]', async () => {
    const { data } = await openai.models.list()
    expect(data.length).toBeGreaterThan(0)
  })
})

describe.each(RUNTIMES)('responses over $runtime', ({ settings }) => {
  beforeAll(() => open(settings))
  afterAll(() => here.close())

  it('are answered whole, the receipt in a header [inference.formats] [inference.receipt-header]', async () => {
    const { data, response } = await openai.responses.create({ model, input: 'Say hello.' }).withResponse()
    expect(data.output_text).not.toBe('')
    await expectKept(here, response.headers.get('x-svc-agent-record-id'))
  })

  it('are streamed, the receipt on the last event and on the keepalive after it [inference.receipt-responses]', async () => {
    const events = await all(await openai.responses.create({ model, input: 'Say hello.', stream: true }))
    const [completed, keepalive] = events.slice(-2)
    expect(completed?.type).toBe('response.completed')
    expect(new Map(Object.entries(keepalive ?? {})).get('type')).toBe('keepalive')
    expect(receiptOf(completed ?? {})).toBe(receiptOf(keepalive ?? {}))
    await expectKept(here, receiptOf(completed ?? {}))
  })

  it('run through the stream helper, which sees the receipt too [decisions.streams-keepalive]', async () => {
    const receipts: string[] = []
    const stream = openai.responses.stream({ model, input: 'Say hello.' })
    stream.on('event', (event) => receipts.push(...[receiptOf(event)].filter((receipt) => receipt !== null)))
    const final = await stream.finalResponse()
    expect(final.output_text).not.toBe('')
    expect(receipts).toHaveLength(2)
    await expectKept(here, receipts[0])
  })

  it('call tools, whole and streamed', async () => {
    const asked = { model, input: 'Look.', tools, tool_choice: 'required' as const }
    const whole = await openai.responses.create(asked)
    const streamed = await openai.responses.stream(asked).finalResponse()
    for (const { output } of [whole, streamed]) {
      const call = output.find(({ type }) => type === 'function_call')
      expect(call).toMatchObject({ name: TOOL.name })
    }
  })
})

describe('what goes wrong', () => {
  beforeAll(() => open({}))
  afterAll(() => here.close())

  it.each([
    ...Object.entries(ERROR_CLASSES).map(([status, name]) => [Number(status), name, Number(status)] as const),
    [418, 'BadRequestError', 400],
    [500, 'InternalServerError', 502],
  ] as const)('is the error class of its status: %i upstream [errors.upstream-relay]', async (upstream, errorClass, status) => {
    const said = { error: { message: 'not now', code: 'its_code' } }
    here.upstream.answer((_received, response) => sendJson(response, upstream, said, { 'retry-after': '3' }))
    const error = await errorOf(openai.chat.completions.create({ model, messages, stream: true }))
    expect(error).toBeInstanceOf(OpenAI[errorClass])
    expect(error).toMatchObject({ status, code: 'its_code', message: `${status} not now` })
    here.upstream.answer(answerOrCall)
  })

  it('on our own account has its code and words: no scenario, no token', async () => {
    const unnamed = new OpenAI({ baseURL: `${here.address}/v1`, apiKey: TOKEN, maxRetries: 0 })
    await expect(unnamed.responses.create({ model, input: 'x' })).rejects.toMatchObject({ status: 400, code: 'scenario_missing' })
    const stranger = new OpenAI({ baseURL: `${here.address}/v1`, apiKey: 'wrong', defaultHeaders: HEADERS, maxRetries: 0 })
    await expect(stranger.responses.create({ model, input: 'x' })).rejects.toBeInstanceOf(AuthenticationError)
  })

  it('in the middle of a stream is thrown to the reader', async () => {
    here.upstream.answer(breakOffAfter(chatFrames.slice(0, 1)))
    const cut = await openai.chat.completions.create({ model, messages, stream: true })
    await expect(all(cut)).rejects.toThrow()
    const error = { code: 'server_error', message: 'it broke' }
    const failed = { id: 'resp_1', object: 'response', status: 'failed', error, output: [] }
    const frames = [named({ type: 'response.failed', sequence_number: 0, response: failed })]
    here.upstream.answer((_received, response) => sendFrames(response, frames))
    const events = await all(await openai.responses.create({ model, input: 'x', stream: true }))
    expect(events[0]).toMatchObject({ type: 'response.failed', response: { error: { message: 'it broke' } } })
    here.upstream.answer(answerOrCall)
  })
})
