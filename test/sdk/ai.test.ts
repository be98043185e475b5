/** The AI SDK over each of its three providers, unmodified. */
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { APICallError, generateText, jsonSchema, streamText, tool, type LanguageModel, type ToolSet } from 'ai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { breakOffAfter, chatFrames, sendJson } from '../support/upstream.ts'
import { sharedWorld, type World } from '../support/world.ts'
import { all, errorOf, expectKept, HEADERS, receiptOf, RUNTIMES, serviceWith, TOKEN, TOOL } from './service.ts'

const tools: ToolSet = { [TOOL.name]: tool({ description: TOOL.description, inputSchema: jsonSchema<{ at: number }>(TOOL.schema) }) }

const LIMITS = { maxRetries: 0, maxOutputTokens: 500 }

/** Each provider package with the base address it wants. */
const MODELS: readonly { readonly name: string; readonly make: (address: string) => LanguageModel }[] = [
  {
    name: '@ai-sdk/openai-compatible',
    make: (address) =>
      createOpenAICompatible({ name: 'svc', baseURL: `${address}/v1`, apiKey: TOKEN, headers: HEADERS, includeUsage: true })('m'),
  },
  { name: '@ai-sdk/openai', make: (address) => createOpenAI({ baseURL: `${address}/v1`, apiKey: TOKEN, headers: HEADERS })('m') },
  { name: '@ai-sdk/openai chat', make: (address) => createOpenAI({ baseURL: `${address}/v1`, apiKey: TOKEN, headers: HEADERS }).chat('m') },
  { name: '@ai-sdk/anthropic', make: (address) => createAnthropic({ baseURL: `${address}/v1`, apiKey: TOKEN, headers: HEADERS })('m') },
]
const CASES = RUNTIMES.flatMap((over) => MODELS.map((model) => ({ ...over, ...model })))

describe.each(CASES)('$name over $runtime', ({ settings, make }) => {
  let here: World
  let model: LanguageModel
  beforeAll(async () => {
    here = await serviceWith(settings)
    model = make(here.address)
  })
  afterAll(() => here.close())

  it('generates text, the receipt among the headers [inference.formats] [inference.receipt-header]', async () => {
    const { text, finishReason, response } = await generateText({ model, prompt: 'Say hello.', ...LIMITS })
    expect(text).not.toBe('')
    expect(finishReason).toBe('stop')
    await expectKept(here, response.headers?.['x-svc-agent-record-id'])
  })

  it('streams text to its end, the receipt among the raw chunks [decisions.streams-keepalive]', async () => {
    const errors: unknown[] = []
    const onError = ({ error }: { error: unknown }): void => void errors.push(error)
    const result = streamText({ model, prompt: 'Say hello.', ...LIMITS, includeRawChunks: true, onError })
    const parts = await all(result.fullStream)
    expect(errors).toEqual([])
    expect(parts.filter(({ type }) => type === 'error')).toEqual([])
    expect(await result.text).not.toBe('')
    expect(await result.finishReason).toBe('stop')
    const raw = parts.flatMap((part) =>
      part.type === 'raw' && typeof part.rawValue === 'object' && part.rawValue !== null ? [part.rawValue] : [],
    )
    const receipts = raw.flatMap((value) => receiptOf(value) ?? [])
    expect(new Set(receipts).size).toBe(1)
    await expectKept(here, receipts[0])
  })

  it('calls tools, whole and streamed', async () => {
    const asked = { model, prompt: 'Look.', tools, toolChoice: 'required' as const, ...LIMITS }
    const whole = await generateText(asked)
    const streamed = streamText(asked)
    for (const calls of [whole.toolCalls, await streamed.toolCalls]) {
      expect(calls[0]).toMatchObject({ toolName: TOOL.name, input: { at: expect.anything() } })
    }
    expect(await streamed.finishReason).toBe('tool-calls')
  })
})

describe('what goes wrong', () => {
  const here = sharedWorld({ settings: { 'svc.token': TOKEN } })

  it.each(MODELS)('is an APICallError with the status and the words of the provider: $name [errors.upstream-relay]', async ({ make }) => {
    const said = { error: { message: 'slow down', type: 'x' } }
    here.upstream.answer((_received, response) => sendJson(response, 429, said, { 'retry-after': '3' }))
    const error = await errorOf(generateText({ model: make(here.address), prompt: 'x', ...LIMITS }))
    expect(error).toBeInstanceOf(APICallError)
    expect(error).toMatchObject({ statusCode: 429, message: 'slow down', isRetryable: true, responseHeaders: { 'retry-after': '3' } })
  })

  it.each(MODELS)('in the middle of a stream reaches the reader: $name', async ({ make }) => {
    here.upstream.answer(breakOffAfter(chatFrames.slice(0, 1)))
    const { fullStream } = streamText({ model: make(here.address), prompt: 'x', ...LIMITS, onError: () => undefined })
    // Some providers throw while the stream is read, some report it in a part.
    const isReported = await all(fullStream).then(
      (parts) => parts.some(({ type }) => type === 'error'),
      () => true,
    )
    expect(isReported).toBe(true)
  })
})
