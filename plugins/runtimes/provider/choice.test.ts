import { describe, expect, it } from 'vitest'
import { beginFrames, chatFrames, sendFrames, sendJson, type Script } from '../../../test/support/upstream.ts'
import { byOf, open, provider, refuses, textOf, two } from '../../../test/support/several-upstreams.ts'

describe('the choice of an upstream', () => {
  it('is among those that have the model, speak the format and are listed for the scenario', async () => {
    const one = await provider()
    const { ask } = open({
      upstreams: {
        other: { url: one.url, models: ['x'] },
        mute: { url: one.url, formats: ['messages'] },
        unlisted: { url: one.url },
        right: { url: one.url, models: ['m*'], priority: 9 },
      },
    })
    expect(byOf(await ask({ names: ['other', 'mute', 'right', 'gone'] }))).toBe('right')
  })

  it.each([
    ['no upstream of the scenario', { names: ['gone'] }, 'no_upstream'],
    ['no upstream has the model', { askedModel: 'unheard' }, 'model_not_found'],
    ['no upstream speaks the format', { dialect: 'responses' }, 'format_not_spoken'],
  ] as const)('is refused where there is %s', async (_what, more, code) => {
    const { ask } = open({ upstreams: { one: { url: 'http://127.0.0.1:9', models: ['m'], formats: ['chat', 'messages'] } } })
    await expect(ask(more)).rejects.toMatchObject({ code })
  })

  it('says which formats a model can be asked in, those of the first choice first', () => {
    const { several, call } = open({
      upstreams: {
        last: { url: 'http://127.0.0.1:9', formats: ['responses', 'chat'], priority: 1 },
        first: { url: 'http://127.0.0.1:9', formats: ['messages', 'chat'], models: ['m'] },
      },
    })
    expect(several.formats(call())).toEqual(['messages', 'chat', 'responses'])
    expect(several.formats(call({ askedModel: 'x' }))).toEqual(['responses', 'chat'])
  })

  it('sends each its own key and its own name of the model', async () => {
    const [one, other] = [await provider(refuses(500)), await provider()]
    const { ask } = open({
      upstreams: {
        one: { url: one.url, api_key: 'key-one', aliases: { fast: 'small-1' } },
        other: { url: other.url, api_key: 'key-other', aliases: { fast: 'vendor/"tiny"' }, priority: 1 },
      },
    })
    const body = Buffer.from('{"model":"fast", "messages":[{"role":"user","content":"the model: fast"}],"model":"fast"}')
    expect(await ask({ askedModel: 'fast', body })).toMatchObject({ by: { name: 'other', apiKey: 'key-other' } })
    const sent = [one, other].map(({ received: [request] }) => [request?.headers.authorization, JSON.parse(request?.body.toString() ?? '')])
    const messages = [{ role: 'user', content: 'the model: fast' }]
    expect(sent).toEqual([
      ['Bearer key-one', { model: 'small-1', messages }],
      ['Bearer key-other', { model: 'vendor/"tiny"', messages }],
    ])
  })

  it.each(['c\r\nx-injected: y', '../../other?key=1#', 'a"b\\', '\u0000\uD83D\uDE00'])(
    'sends a name of the model that looks like a header or a path as a name alone: %j',
    async (name) => {
      const one = await provider((_received, response) => sendJson(response, 200, {}))
      const { ask } = open({ upstreams: { one: { url: one.url, aliases: { fast: name } } } })
      await ask({ askedModel: 'fast', body: Buffer.from('{"model":"fast","messages":[]}') })
      const path = '/v1beta/models/fast:generateContent'
      await ask({ dialect: 'gemini', path, askedModel: 'fast', body: Buffer.from('{"contents":[]}') })
      expect(JSON.parse(one.received[0]?.body.toString() ?? '')).toEqual({ model: name, messages: [] })
      expect(one.received[1]?.url).toBe(`/v1beta/models/${encodeURIComponent(name)}:generateContent`)
      for (const { headers } of one.received) expect(headers).not.toHaveProperty('x-injected')
    },
  )

  it('renames the model in the path of formats that have it there', async () => {
    const one = await provider((_received, response) => sendJson(response, 200, {}))
    const { ask } = open({ upstreams: { one: { url: one.url, aliases: { fast: 'models x' } } } })
    const path = '/v1beta/models/fast:streamGenerateContent?alt=sse'
    await ask({ dialect: 'gemini', path, askedModel: 'fast', body: Buffer.from('{"contents":[]}') })
    expect(one.received[0]).toMatchObject({ url: '/v1beta/models/models%20x:streamGenerateContent?alt=sse' })
    expect(one.received[0]?.body.toString()).toBe('{"contents":[]}')
  })
})

const marked =
  (mark: string): Script =>
  async (_received, response) => {
    beginFrames(response, [])
    for (let index = 0; index < 50; index++) {
      response.write(`data: ${mark}${index}\n\n`)
      await new Promise((resolve) => setImmediate(resolve))
    }
    response.end()
  }

describe('streams', () => {
  it('pass as they come from one upstream', async () => {
    const { ask } = await two((_received, response) => sendFrames(response, chatFrames))
    const answer = await ask()
    expect(byOf(answer)).toBe('one')
    expect(await textOf(answer)).toBe(chatFrames.join(''))
  })

  it('of two calls at once are never mixed', async () => {
    const [one, other] = [await provider(marked('one')), await provider(marked('other'))]
    const { several, call } = open({ upstreams: { one: { url: one.url }, other: { url: other.url } } })
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, turn) => several.infer(call({ names: [turn % 2 === 0 ? 'one' : 'other'] }))),
    )
    for (const answer of answers) {
      const text = await textOf(answer)
      expect(text).toBe(Array.from({ length: 50 }, (_, index) => `data: ${byOf(answer)}${index}\n\n`).join(''))
    }
  })
})
