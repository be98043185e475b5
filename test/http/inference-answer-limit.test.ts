/** An endless answer is cut at the configured length, reported in its format, and stored up to there. */
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { responsesOf } from '../support/kept.ts'
import { sendJson } from '../support/upstream.ts'
import { sharedWorld } from '../support/world.ts'

const LIMIT = 200_000
const here = sharedWorld({ settings: { 'inference.max_answer_bytes': String(LIMIT) } })

const TEXT = 'x'.repeat(1000)
const event = (type: string, fields: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`

const FORMATS = [
  ['/v1/chat/completions', `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: TEXT } }] })}\n\n`, 'choices'],
  ['/v1/responses', event('response.output_text.delta', { output_index: 0, content_index: 0, delta: TEXT }), 'output'],
  ['/v1/messages', event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: TEXT } }), 'content'],
] as const

/** Sends endlessly; resolves when the other side disconnects. */
async function sendEndlessly(response: ServerResponse, frame: string): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }))
  const closed = once(response, 'close')
  while (!response.destroyed) if (!response.write(frame)) await Promise.race([once(response, 'drain'), closed])
}

describe('a stream without end', () => {
  it.each(FORMATS)('on %s is cut with an error of its format, kept as incomplete, and asked for no longer', async (path, frame, member) => {
    const left = Promise.withResolvers<void>()
    here.upstream.answer((_received, response) => void sendEndlessly(response, frame).then(left.resolve))
    const answer = await here.post(path, { model: 'm', stream: true }, { 'x-svc-scenario': member })
    await left.promise
    const last = answer.text.trimEnd().split('\n\n').at(-1) ?? ''
    const said: unknown = JSON.parse(last.slice(last.indexOf('{')))
    const message = expect.stringContaining('inference.max_answer_bytes') as unknown
    if (path === '/v1/chat/completions') expect(said).toEqual({ error: { message, type: 'api_error', code: 'answer_too_large' } })
    else if (path === '/v1/messages') expect(said).toEqual({ type: 'error', error: { type: 'api_error', message } })
    else expect(said).toMatchObject({ type: 'error', code: 'answer_too_large', message })
    expect(last.startsWith('event: error\n')).toBe(path !== '/v1/chat/completions')
    expect(answer.bytes.length).toBeLessThan(LIMIT + 1000)
    const [response = {}] = await responsesOf(here, member)
    expect(response).toMatchObject({ stream: true, complete: false, cause: message })
    expect(JSON.stringify(response[member]).length).toBeGreaterThan(LIMIT / 2)
  })

  it('is cut on the evaluation routes too', async () => {
    here.upstream.answer((_received, response) => sendJson(response, 200, { id: 'x' }))
    await here.exchange('evaluated')
    here.upstream.answer((_received, response) => void sendEndlessly(response, FORMATS[0][1]))
    const path = '/svc/scenarios/evaluated/evaluation/v1/chat/completions'
    const answer = await here.post(path, { model: 'm', stream: true })
    expect(answer.text).toContain('answer_too_large')
  })
})

it('a whole answer longer than the limit is a 502 that names the setting, and is not kept', async () => {
  here.upstream.answer((_received, response) => sendJson(response, 200, { id: 'x', text: 'x'.repeat(LIMIT) }))
  for (const [path] of FORMATS) {
    const answer = await here.post(path, { model: 'm' }, { 'x-svc-scenario': 'whole' })
    expect([answer.status, answer.text]).toEqual([502, expect.stringContaining('inference.max_answer_bytes')])
  }
  expect(await responsesOf(here, 'whole')).toEqual([])
})
