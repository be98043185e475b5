/** The official Gemini SDK, unmodified, which asks below /v1. */
import { GoogleGenAI } from '@google/genai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sendJson, type Received } from '../support/upstream.ts'
import { data } from '../support/frames.ts'
import type { World } from '../support/world.ts'
import { all, errorOf, expectKept, HEADERS, RUNTIMES, serviceWith, TOKEN } from './service.ts'

const asked = { model: 'm', contents: 'Say hello.' }
const chunk = {
  candidates: [{ content: { parts: [{ text: 'hello' }], role: 'model' }, finishReason: 'STOP', index: 0 }],
  modelVersion: 'm',
}

describe.each(RUNTIMES)('generateContent over $runtime', ({ settings }) => {
  let here: World
  let gemini: GoogleGenAI
  beforeAll(async () => {
    here = await serviceWith(settings)
    here.upstream.answer(({ url }: Received, response) => {
      if (url.includes(':stream')) response.writeHead(200, { 'content-type': 'text/event-stream' }).end(data(chunk))
      else sendJson(response, 200, url.includes(':count') ? { totalTokens: 3 } : chunk)
    })
    gemini = new GoogleGenAI({ apiKey: TOKEN, httpOptions: { baseUrl: here.address, headers: HEADERS } })
  })
  afterAll(() => here.close())

  it('is answered whole, the receipt in a header; tokens are counted', async () => {
    const { text, sdkHttpResponse } = await gemini.models.generateContent(asked)
    expect(text).not.toBe('')
    await expectKept(here, sdkHttpResponse?.headers?.['x-svc-agent-record-id'])
    expect((await gemini.models.countTokens(asked)).totalTokens).toBeGreaterThan(0)
  })

  it('is streamed; the receipt is the one that was chosen for the call', async () => {
    const chosen = 'c0ffee00'.repeat(4)
    const config = { httpOptions: { headers: { 'x-svc-agent-record-id': chosen } } }
    const chunks = await all(await gemini.models.generateContentStream({ ...asked, config }))
    expect(chunks.map(({ text }) => text ?? '').join('')).not.toBe('')
    await expectKept(here, chosen)
  })

  it('shows the words of a refusal', async () => {
    const open = new GoogleGenAI({ apiKey: TOKEN, httpOptions: { baseUrl: here.address } })
    expect(await errorOf(open.models.generateContent(asked))).toMatchObject({
      status: 400,
      message: expect.stringContaining('x-svc-scenario'),
    })
  })
})
