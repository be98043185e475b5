/** The three formats: each in its own words, whole or as events, and counting beside them. */
import { describe, expect, it } from 'vitest'
import { ownWorld, sharedWorld } from '../support/world.ts'
import { named, recordIds } from './support/helpers.ts'

const HERE = named('formats')

const here = sharedWorld()

describe('a format', () => {
  it.each([
    ['/v1/chat/completions', { object: 'chat.completion' }, { messages: [] }],
    ['/v1/responses', { object: 'response' }, { input: 'hello' }],
    ['/v1/messages', { type: 'message', role: 'assistant' }, { messages: [], max_tokens: 9 }],
  ])(
    '%s is served in its own words, and as events when stream is true [inference.formats] [inference.stream-flag]',
    async (path, words, fields) => {
      const body = { model: 'm', ...fields }
      expect((await here.post(path, body, HERE)).json).toMatchObject(words)
      expect((await here.post(path, { ...body, stream: false }, HERE)).json).toMatchObject(words)
      const stream = await here.post(path, { ...body, stream: true }, HERE)
      expect(stream.headers['content-type']).toMatch(/^text\/event-stream/)
      expect(stream.text).toContain('hello')
    },
  )

  it('is asked for unencoded, so that its frames can be read [decisions.streams-identity]', async () => {
    await here.post('/v1/messages', { model: 'm' }, { ...HERE, 'accept-encoding': 'gzip, br' })
    expect(here.upstream.received.at(-1)?.headers['accept-encoding']).toBe('identity')
  })
})

describe('counting tokens', () => {
  it("answers in the provider's words and is recorded [decisions.count-tokens] [inference.count-tokens]", async () => {
    const answer = await here.post('/v1/messages/count_tokens', { model: 'm', messages: [] }, named('counted'))
    expect(answer.json).toEqual({ input_tokens: 42 })
    expect(await recordIds(here, 'counted')).toEqual([answer.headers['x-svc-agent-record-id']])
  })

  it('is answered by an embedded runtime in the same shape [decisions.count-tokens]', async () => {
    const there = await ownWorld({ settings: { 'inference.runtime': 'practice' } })
    const answer = await there.post('/v1/messages/count_tokens', { model: 'm', messages: [{ role: 'user', content: 'one two' }] }, HERE)
    expect(answer.json).toEqual({ input_tokens: expect.any(Number) })
  })
})
