/** What is kept of an exchange: the forwarded fields, the answer beside them, the tags where they can stand. */
import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/contract/index.ts'
import { chatStreams } from '../support/chat-streams.ts'
import { recordsOf } from '../support/kept.ts'
import { messageStreams } from '../support/message-streams.ts'
import { responseStreams } from '../support/response-streams.ts'
import { answerPlainly, sendFrames } from '../support/upstream.ts'
import { sharedWorld, type Answer } from '../support/world.ts'

const here = sharedWorld({ backend: 'sqlite' })

const RESPONSE = '{"id":"x",  "choices":[]}'

async function kept(body: string, headers: Readonly<Record<string, string>> = {}): Promise<Json | undefined> {
  return (await keptRecord(body, headers)).json['payload']
}

async function keptRecord(body: string, headers: Readonly<Record<string, string>>): Promise<Answer> {
  here.upstream.answer((_received, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(RESPONSE))
  const answer = await here.post('/v1/chat/completions', body, { 'x-svc-scenario': 'payload', ...headers })
  return here.get(`/svc/scenarios/payload/records/${String(answer.headers['x-svc-agent-record-id'])}`)
}

const newest = async (scenario: string): Promise<JsonObject | undefined> => (await recordsOf(here, scenario)).at(-1)

const response = { id: 'x', choices: [] }
const tag = { 'x-svc-tag-task': 'sums', 'x-svc-tag-Run': '7' }
const tags = { task: 'sums', run: '7' }

describe('the stored payload', () => {
  it('is the forwarded fields with the answer beside them [decisions.inference-payload]', async () => {
    const sent = { model: 'm', messages: [{ role: 'user', content: 'é' }], n: 1 }
    expect(await kept(JSON.stringify(sent))).toEqual({ ...sent, response })
    expect(await kept(' { } \n')).toEqual({ response })
  })

  it('holds the tags under metadata.tags [inference.tags]', async () => {
    expect(await kept('{}', tag)).toEqual({ metadata: { tags }, response })
    expect(await kept('{"a":1}', tag)).toEqual({ a: 1, metadata: { tags }, response })
    expect(await kept('{"metadata":{"user":"u"}}', tag)).toEqual({ metadata: { user: 'u', tags }, response })
    const both = { metadata: { tags: { ...tags, mine: '1' } }, response }
    expect(await kept('{"metadata":{"tags":{"task":"other","mine":"1"}}}', tag)).toEqual(both)
    expect(await kept('{"metadata":{"tags":"text"}}', tag)).toEqual({ metadata: { tags }, response })
  })

  it.each(['null', '"text"', '3', '[1]', 'true'])(
    'keeps metadata that is no object as it is and the tags beside it: %s [decisions.inference-tags-odd-metadata]',
    async (metadata) => {
      const own: Json = JSON.parse(metadata)
      expect(await kept(`{"metadata":${metadata}}`, tag)).toEqual({ metadata: own, metadata_tags: tags, response })
      expect(await kept(`{"metadata":${metadata},"metadata_tags":1}`, tag)).toEqual({ metadata: own, metadata_tags: tags, response })
      expect(await kept(`{"metadata":${metadata}}`)).toEqual({ metadata: own, response })
    },
  )

  it('holds the answer under response, also when the body has a member of that name', async () => {
    expect(await kept('{"response":{"mine":1},"a":1}')).toEqual({ a: 1, response })
    expect(await kept('{"response":1}', tag)).toEqual({ metadata: { tags }, response })
    expect(await kept('{"response":1}')).toEqual({ response })
  })

  it('never holds a key twice, whatever members the body brought', async () => {
    const { text } = await keptRecord('{"response":1,"metadata":2,"metadata_tags":3}', tag)
    for (const name of ['response', 'metadata', 'metadata_tags']) expect(text.split(`"${name}":`)).toHaveLength(2)
    const odd = await keptRecord('{"response":1}', {})
    expect(odd.text.endsWith(`"payload":{"response":${RESPONSE}}}`)).toBe(true)
  })

  it('decodes tags that were sent as UTF-8, and leaves blank ones out', async () => {
    const utf8 = Buffer.from('größe ☃').toString('latin1')
    const sent = { 'x-svc-tag-size': utf8, 'x-svc-tag-none': ' ', 'x-svc-tag-': 'x' }
    expect(await kept('{}', sent)).toEqual({ metadata: { tags: { size: 'größe ☃' } }, response })
  })

  it('keeps a member called __proto__ like any other', async () => {
    const payload = await kept('{"__proto__":{"a":1},"response":2}')
    expect(JSON.stringify(payload)).toBe('{"__proto__":{"a":1},"response":{"id":"x","choices":[]}}')
  })
})

describe('the stored response of a stream', () => {
  const STREAMS = (
    [
      ['/v1/chat/completions', chatStreams],
      ['/v1/responses', responseStreams],
      ['/v1/messages', messageStreams],
    ] as const
  ).flatMap(([path, streams]) => streams.map(({ name, frames, whole }) => ({ path, name, frames, whole })))

  it.each(STREAMS)(
    'equals the answer that is not streamed, plus stream and complete: $path, $name [decisions.streams-assembled]',
    async ({ path, frames, whole }) => {
      here.upstream.answer((_received, answer) => sendFrames(answer, frames))
      await here.post(path, '{"model":"m","stream":true}', { 'x-svc-scenario': 'streams', ...tag })
      expect((await newest('streams'))?.['payload']).toEqual({
        model: 'm',
        stream: true,
        metadata: { tags },
        response: { ...whole, stream: true, complete: true },
      })
    },
  )

  it('holds the raw frames too when storage.keep_raw_streams is on [decisions.streams-raw]', async () => {
    await here.restart({ 'storage.keep_raw_streams': true })
    const frames = chatStreams[0]?.frames ?? []
    here.upstream.answer((_received, answer) => sendFrames(answer, frames))
    await here.post('/v1/chat/completions', '{"stream":true}', { 'x-svc-scenario': 'raw' })
    expect((await newest('raw'))?.['payload']).toMatchObject({ response: { raw: frames.join('') } })
    here.upstream.answer(answerPlainly)
  })
})
