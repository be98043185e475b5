import { describe, expect, it, onTestFinished } from 'vitest'
import { freePort } from '../../../test/support/listen.ts'
import {
  answerPlainly,
  beginFrames,
  breakOffAfter,
  chatFrames,
  sendFrames,
  sendJson,
  startUpstream,
  type Script,
} from '../../../test/support/upstream.ts'
import { until } from '../../../test/support/wait.ts'
import { startWire } from '../../../test/support/wire.ts'
import { type JsonObject, type RuntimeAnswer, type RuntimeCall } from '../../../src/contract/index.ts'
import { SeveralUpstreams } from './several.ts'

const MODEL = { url: 'http://unused', model: null, api: 'openai', apiKey: null } as const

interface Wanted {
  readonly upstreams: Readonly<Record<string, JsonObject>>
  readonly retries?: number
  readonly failures?: number
}

/** Time passes only in pauses, and by hand. */
function open({ upstreams, retries = 2, failures = 3 }: Wanted) {
  const time = { now: 1000 }
  const pauses: number[] = []
  const settings = Object.entries(upstreams).map(([name, own]) => [name, { formats: ['chat', 'responses', 'messages', 'gemini'], ...own }])
  const config = { timeout_s: 600, upstream_retries: retries, breaker: { failures, rest_s: 30 }, upstreams: Object.fromEntries(settings) }
  const several = new SeveralUpstreams(config, {
    clock: () => time.now,
    random: () => 0.5,
    sleep(seconds) {
      pauses.push(seconds)
      time.now += seconds
      return Promise.resolve()
    },
  })
  onTestFinished(() => several.close())
  const names = Object.keys(upstreams)
  const call = (more: Partial<RuntimeCall> & { readonly names?: readonly string[] } = {}): RuntimeCall => ({
    dialect: 'chat',
    path: '/v1/chat/completions',
    headers: {},
    body: Buffer.from('{"model":"m","messages":[]}'),
    askedModel: 'm',
    model: { ...MODEL, upstreams: more.names ?? names },
    purpose: 'traffic',
    release: { release_id: 'r1', parent_release_id: null, content_id: 'c1' },
    signal: new AbortController().signal,
    ...more,
  })
  return { several, time, pauses, call, ask: (more?: Parameters<typeof call>[0]) => several.infer(call(more)) }
}

async function provider(script: Script = answerPlainly) {
  const upstream = await startUpstream()
  upstream.answer(script)
  onTestFinished(() => upstream.close())
  return upstream
}

/** A first choice that does as it is told, and a second that answers. */
async function two(first: Script, settings: Partial<Wanted> = {}) {
  const [one, other] = [await provider(first), await provider()]
  const opened = open({ upstreams: { one: { url: one.url }, other: { url: other.url, priority: 1 } }, ...settings })
  return { one, other, ...opened }
}

const byOf = (answer: RuntimeAnswer): string | undefined => (answer.kind === 'interrupted' ? undefined : answer.by?.name)

async function textOf(answer: RuntimeAnswer): Promise<string> {
  if (answer.kind !== 'stream') throw new Error('a stream was expected')
  const parts: Uint8Array[] = []
  for await (const chunk of answer.chunks) parts.push(chunk)
  return Buffer.concat(parts).toString()
}

const refuses =
  (status: number, headers: Record<string, string> = {}): Script =>
  (_received, response) =>
    sendJson(response, status, { error: { message: 'no' } }, headers)

describe('a call that gets no answer goes to the next upstream', () => {
  it.each([401, 402, 408, 429, 500, 502, 503, 504, 529])('after status %s', async (status) => {
    const { one, other, ask } = await two(refuses(status))
    expect(byOf(await ask())).toBe('other')
    expect([one.received.length, other.received.length]).toEqual([1, 1])
    expect(other.received[0]?.body.toString()).toBe('{"model":"m","messages":[]}')
  })

  it.each<[string, Script]>([
    ['a connection that is closed', (_received, response) => response.destroy()],
    ['a connection that is reset', (_received, response) => void response.socket?.resetAndDestroy()],
    [
      'an error that breaks off',
      (_received, response) => {
        response.writeHead(500, { 'content-length': 100 })
        response.write('some', () => response.destroy())
      },
    ],
  ])('after %s', async (_what, script) => {
    const { ask } = await two(script)
    expect(byOf(await ask())).toBe('other')
  })

  it('where nothing listens, and where nobody answers the TLS handshake', async () => {
    const other = await provider()
    const wire = await startWire()
    onTestFinished(() => wire.close())
    wire.answer(() => undefined)
    const { ask, several } = open({
      upstreams: {
        nothing: { url: `http://127.0.0.1:${await freePort()}` },
        slow: { url: wire.url.replace('http:', 'https:'), priority: 1, connect_timeout_s: 0.05 },
        other: { url: other.url, priority: 2 },
      },
    })
    expect(byOf(await ask())).toBe('other')
    expect(several.status()).toMatchObject([{ failures: 1, last_failure: { reason: 'no answer' } }, { failures: 1 }, { failures: 0 }])
  })

  it('after a time limit without a status', async () => {
    const other = await provider()
    const hangs = await provider(() => undefined)
    const { ask } = open({ upstreams: { hangs: { url: hangs.url, timeout_s: 0.05 }, other: { url: other.url, priority: 1 } } })
    expect(byOf(await ask())).toBe('other')
  })

  it('whole, also when its body came in pieces', async () => {
    const { other, ask } = await two(refuses(500))
    const pieces = ['{"model":"m",', '"messages":[]}'].map((text) => Buffer.from(text))
    const answer = await ask({ pieces })
    expect(other.received[0]?.body.toString()).toBe('{"model":"m","messages":[]}')
    // An earlier connection may hold the body still.
    expect(answer).not.toHaveProperty('isBodySent')
  })
})

describe('what was answered is never sent again', () => {
  it.each([400, 403, 404, 413, 422, 301, 200])('after status %s', async (status) => {
    const { other, ask } = await two(refuses(status))
    expect(await ask()).toMatchObject({ kind: 'whole', status, by: { name: 'one' } })
    expect(other.received).toEqual([])
  })

  it('where a success breaks off before its first byte, and in the middle', async () => {
    for (const text of ['', '{"id":']) {
      const { one, other, ask } = await two((_received, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 })
        response.flushHeaders()
        response.write(text)
        setImmediate(() => response.destroy())
      })
      await expect(ask()).rejects.toMatchObject({ code: 'upstream_unreachable' })
      expect([one.received.length, other.received.length]).toEqual([1, 0])
    }
  })

  it('where a success hangs in the middle', async () => {
    const other = await provider()
    const hangs = await provider((_received, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write('{"id":')
    })
    const { ask } = open({ upstreams: { hangs: { url: hangs.url, timeout_s: 0.05 }, other: { url: other.url, priority: 1 } } })
    await expect(ask()).rejects.toMatchObject({ code: 'upstream_timeout' })
    expect(other.received).toEqual([])
  })

  it('where a stream breaks off: nothing of another upstream follows', async () => {
    const { other, ask, several } = await two(breakOffAfter(chatFrames.slice(0, 2)))
    const answer = await ask()
    expect(byOf(answer)).toBe('one')
    await expect(textOf(answer)).rejects.toMatchObject({ code: 'upstream_unreachable' })
    expect(other.received).toEqual([])
    expect(several.status()).toMatchObject([{ failures: 1, last_failure: { reason: 'the answer broke off' } }, { calls: 0 }])
  })

  it('where the caller left', async () => {
    const { one, other, several, call } = await two(() => undefined)
    const gone = new AbortController()
    const asked = several.infer(call({ signal: gone.signal }))
    await until(() => one.received.length === 1)
    gone.abort()
    await expect(asked).rejects.toMatchObject({ kind: 'upstream' })
    expect(other.received).toEqual([])
    expect(several.status()).toMatchObject([{ failures: 0 }, { calls: 0 }])
  })
})

describe('retries', () => {
  it('end with what the last upstream said', async () => {
    const [one, other] = [await provider(refuses(500)), await provider(refuses(503))]
    const { ask } = open({ upstreams: { one: { url: one.url }, other: { url: other.url, priority: 1 } }, retries: 1 })
    expect(await ask()).toMatchObject({ status: 503, by: { name: 'other' } })
  })

  it('go round again after a pause, as often as configured', async () => {
    const [one, other] = [await provider(refuses(500)), await provider(refuses(503))]
    const { ask, pauses } = open({ upstreams: { one: { url: one.url }, other: { url: other.url, priority: 1 } }, retries: 4, failures: 0 })
    await ask()
    expect([one.received.length, other.received.length]).toEqual([3, 2])
    expect(pauses).toEqual([0.1875, 0.375])
  })

  it('wait as long as the upstream asks, and not beyond ten seconds', async () => {
    let answered = 0
    const limited: Script = (received, response) =>
      answered++ === 0 ? refuses(429, { 'retry-after': '3' })(received, response) : answerPlainly(received, response)
    const one = await provider(limited)
    const short = open({ upstreams: { one: { url: one.url } } })
    expect(await short.ask()).toMatchObject({ status: 200 })
    expect(short.pauses).toEqual([3])
    one.answer(refuses(429, { 'retry-after': '11' }))
    const long = open({ upstreams: { one: { url: one.url } } })
    expect(await long.ask()).toMatchObject({ status: 429, headers: { 'retry-after': '11' } })
    expect(long.pauses).toEqual([])
  })

  it('are none where they are switched off', async () => {
    const { other, ask } = await two(refuses(500), { retries: 0 })
    expect(await ask()).toMatchObject({ status: 500 })
    expect(other.received).toEqual([])
  })
})

describe('an upstream that is limited', () => {
  it('is passed over for that model until the time it asked for is over', async () => {
    const { one, ask, time } = await two(refuses(429, { 'retry-after': '20' }))
    await ask()
    one.answer(answerPlainly)
    expect(byOf(await ask())).toBe('other')
    expect(byOf(await ask({ askedModel: 'another' }))).toBe('one')
    time.now += 20
    expect(byOf(await ask())).toBe('one')
  })
})

describe('an upstream that fails again and again', () => {
  it('is left alone, tried after its rest, and used again when it answers', async () => {
    const { one, ask, time, several } = await two(refuses(500))
    for (let turn = 0; turn < 3; turn++) await ask()
    expect(several.status()).toMatchObject([{ breaker: 'open', rests_until: 1030, calls: 3, failures: 3 }, { breaker: 'closed' }])
    await ask()
    expect(one.received).toHaveLength(3)
    time.now += 30
    expect(byOf(await ask())).toBe('other')
    expect(one.received).toHaveLength(4)
    time.now += 30
    one.answer(answerPlainly)
    expect(byOf(await ask())).toBe('one')
    expect(several.status()[0]).toMatchObject({ breaker: 'closed', rests_until: null })
  })

  it('counts where its streams break off', async () => {
    const { one, ask } = await two(breakOffAfter(chatFrames.slice(0, 2)))
    for (let turn = 0; turn < 3; turn++) await textOf(await ask()).catch(() => undefined)
    expect(byOf(await ask())).toBe('other')
    expect(one.received).toHaveLength(3)
  })

  it('is refused with the time it rests, where there is no other', async () => {
    const one = await provider(refuses(500))
    const { ask, time } = open({ upstreams: { one: { url: one.url } }, retries: 0 })
    for (let turn = 0; turn < 3; turn++) await ask()
    time.now += 10
    await expect(ask()).rejects.toMatchObject({ kind: 'unavailable', code: 'upstreams_resting', detail: { retryAfterSeconds: 20 } })
    expect(one.received).toHaveLength(3)
  })

  it('is not what a caller made fail', async () => {
    const one = await provider(refuses(400))
    const { ask, several } = open({ upstreams: { one: { url: one.url } } })
    for (let turn = 0; turn < 5; turn++) await ask()
    expect(several.status()[0]).toMatchObject({ breaker: 'closed', failures: 0 })
  })

  it('is used by all as soon as it answers the one that tried, also while that stream goes on', async () => {
    const { one, ask, time, several } = await two(refuses(500))
    for (let turn = 0; turn < 3; turn++) await ask()
    time.now += 30
    one.answer((_received, response) => void beginFrames(response, chatFrames.slice(0, 1)))
    const answer = await ask()
    expect(several.status()[0]).toMatchObject({ breaker: 'closed' })
    one.answer(answerPlainly)
    expect(byOf(await ask())).toBe('one')
    if (answer.kind === 'stream') await answer.chunks[Symbol.asyncIterator]().return?.()
  })

  it('is not one whose streams were read to the end, though it kept their connections open', async () => {
    const { one, ask, several } = await two(refuses(500), { retries: 0 })
    for (let turn = 0; turn < 2; turn++) await ask()
    let isClosed = false
    one.answer((_received, response) => {
      beginFrames(response, chatFrames)
      response.on('close', () => (isClosed = true))
    })
    const answer = await ask()
    if (answer.kind !== 'stream') throw new Error('a stream was expected')
    let text = ''
    for await (const chunk of answer.chunks) if ((text += Buffer.from(chunk).toString()).includes('[DONE]')) break
    await until(() => isClosed)
    one.answer(refuses(500))
    await ask()
    expect(several.status()[0]).toMatchObject({ breaker: 'closed', failures: 3 })
  })

  it('lets another call try when the one that tried left', async () => {
    const { one, several, call, ask, time } = await two(refuses(500))
    for (let turn = 0; turn < 3; turn++) await ask()
    time.now += 30
    one.answer(() => undefined)
    const gone = new AbortController()
    const asked = several.infer(call({ signal: gone.signal }))
    await until(() => one.received.length === 4)
    expect(several.status()[0]).toMatchObject({ breaker: 'trying' })
    gone.abort()
    await expect(asked).rejects.toThrow()
    await until(() => several.status()[0]?.['breaker'] === 'open')
    one.answer(answerPlainly)
    expect(byOf(await ask())).toBe('one')
  })
})

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

const lists =
  (...ids: readonly string[]): Script =>
  (_received, response) =>
    sendJson(response, 200, { object: 'list', data: ids.map((id) => ({ id, object: 'model', owned_by: 'vendor' })) })
const listOf = async (several: SeveralUpstreams, { model, headers, signal }: RuntimeCall) => {
  const { body, status } = await several.models({ path: '/v1/models', headers, model, signal })
  expect(status).toBe(200)
  const { data }: { data: readonly { readonly id: string; readonly owned_by: string }[] } = JSON.parse(Buffer.from(body).toString())
  return data.map(({ id, owned_by }) => `${id} ${owned_by}`)
}

describe('the list of models', () => {
  it('is theirs together: each name once, with aliases, without what they may not be asked for', async () => {
    const [one, other] = [await provider(lists('a', 'b', 'secret')), await provider(lists('b', 'c'))]
    const { several, call } = open({
      upstreams: {
        one: { url: one.url, models: ['a', 'b'], aliases: { fast: 'a', odd: 'unlisted' } },
        other: { url: other.url, priority: 1 },
      },
    })
    expect(await listOf(several, call())).toEqual(['a vendor', 'b vendor', 'fast vendor', 'odd one', 'c vendor'])
    expect(await listOf(several, call({ names: ['other'] }))).toEqual(['b vendor', 'c vendor'])
  })

  it('leaves out an upstream that does not answer, but for what the configuration names', async () => {
    const [one, other] = [await provider(refuses(500)), await provider(lists('c'))]
    const { several, call } = open({ upstreams: { one: { url: one.url, models: ['a', 'x-*'] }, other: { url: other.url } } })
    expect(await listOf(several, call())).toEqual(['a one', 'c vendor'])
  })

  it('may be very long', async () => {
    const data = Array.from({ length: 150_000 }, (_, at) => ({ id: `m${at}` }))
    const one = await provider((_received, response) => sendJson(response, 200, { data }))
    const { several, call } = open({ upstreams: { one: { url: one.url } } })
    expect(await listOf(several, call())).toHaveLength(150_000)
  })

  it('is refused where nothing is known of any', async () => {
    const one = await provider(refuses(401))
    const { several, call } = open({ upstreams: { one: { url: one.url } } })
    await expect(several.models(call())).rejects.toMatchObject({ code: 'upstream_refused' })
  })

  it('is read to its last page, and in the words of another vendor', async () => {
    const paged = await provider(({ url }, response) =>
      url.includes('after_id=p1')
        ? sendJson(response, 200, { data: [{ id: 'p2' }], has_more: false, last_id: 'p2' })
        : sendJson(response, 200, { data: [{ id: 'p1' }], has_more: true, last_id: 'p1' }),
    )
    const named = await provider((_received, response) => sendJson(response, 200, { models: [{ name: 'models/g-1' }] }))
    const { several, call } = open({ upstreams: { paged: { url: paged.url }, named: { url: named.url } } })
    expect(await listOf(several, call())).toEqual(['p1 undefined', 'p2 undefined', 'g-1 google'])
  })
})
