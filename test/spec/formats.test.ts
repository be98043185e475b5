/** The three formats: each in its own words, whole or as events. */
import { expect, it } from 'vitest'
import { sharedWorld } from '../support/world.ts'
import { named } from './support/helpers.ts'

const HERE = named('formats')

const here = sharedWorld()

it.each([
  ['/v1/chat/completions', { object: 'chat.completion' }, { messages: [] }],
  ['/v1/responses', { object: 'response' }, { input: 'hello' }],
  ['/v1/messages', { type: 'message', role: 'assistant' }, { messages: [], max_tokens: 9 }],
])(
  'the format of %s is served in its own words, and as events when stream is true [inference.formats] [inference.stream-flag]',
  async (path, words, fields) => {
    const body = { model: 'm', ...fields }
    expect((await here.post(path, body, HERE)).json).toMatchObject(words)
    expect((await here.post(path, { ...body, stream: false }, HERE)).json).toMatchObject(words)
    const stream = await here.post(path, { ...body, stream: true }, HERE)
    expect(stream.headers['content-type']).toMatch(/^text\/event-stream/)
    expect(stream.text).toContain('hello')
  },
)
