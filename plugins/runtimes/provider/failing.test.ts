import { describe, expect, it } from 'vitest'
import { answerPlainly, beginFrames, breakOffAfter, chatFrames } from '../../../test/support/upstream.ts'
import { until } from '../../../test/support/wait.ts'
import { byOf, open, provider, refuses, textOf, two } from '../../../test/support/several-upstreams.ts'

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

  it('passes its own answer on where there is no other that could be chosen, as often as it is asked', async () => {
    const one = await provider(refuses(529))
    const chat = await provider()
    const { ask, several } = open({
      upstreams: { one: { url: one.url, formats: ['messages'] }, chat: { url: chat.url, formats: ['chat'] } },
      retries: 0,
    })
    for (let turn = 0; turn < 5; turn++) expect(await ask({ dialect: 'messages' })).toMatchObject({ status: 529, by: { name: 'one' } })
    expect(several.status()[0]).toMatchObject({ breaker: 'closed', calls: 5, failures: 5 })
    expect(chat.received).toEqual([])
  })

  it('rests for the model that failed alone', async () => {
    const { one, ask, several } = await two(refuses(500))
    for (let turn = 0; turn < 3; turn++) await ask()
    one.answer(answerPlainly)
    expect([byOf(await ask()), byOf(await ask({ askedModel: 'another' }))]).toEqual(['other', 'one'])
    expect(several.status()[0]).toMatchObject({ breaker: 'open', resting_models: ['m'] })
  })

  it('counts a call once, also where it was sent there several times', async () => {
    const { other, ask, several } = await two(refuses(500), { retries: 6 })
    other.answer(refuses(500))
    await ask()
    expect(several.status()).toMatchObject([
      { breaker: 'closed', calls: 4 },
      { breaker: 'closed', calls: 3 },
    ])
    for (let turn = 0; turn < 2; turn++) await ask()
    expect(several.status()).toMatchObject([{ breaker: 'open' }, { breaker: 'open' }])
  })

  it.each([
    [529, { kind: 'upstream', detail: { upstreamStatus: 529, isOverload: true, retryAfterSeconds: 20 } }],
    [401, { kind: 'upstream', detail: { upstreamStatus: 401, isOverload: false, retryAfterSeconds: 20 } }],
    [500, { kind: 'unavailable', detail: { retryAfterSeconds: 20 } }],
  ] as const)('like every other, with status %s, is refused as what it was, with the time it rests', async (status, refusal) => {
    const { one, other, ask, time } = await two(refuses(status), { retries: 1 })
    other.answer(refuses(status))
    for (let turn = 0; turn < 3; turn++) await ask()
    time.now += 10
    await expect(ask()).rejects.toMatchObject({ code: 'upstreams_resting', ...refusal })
    expect([one.received.length, other.received.length]).toEqual([3, 3])
  })

  it('is not what a caller made fail', async () => {
    const one = await provider(refuses(400))
    const { ask, several } = open({ upstreams: { one: { url: one.url } } })
    for (let turn = 0; turn < 5; turn++) await ask()
    expect(several.status()[0]).toMatchObject({ breaker: 'closed', failures: 0 })
  })

  it.each([401, 402, 429])('is not one that refused a client’s own key with %s, and no other is asked instead', async (status) => {
    const [one, other] = [await provider(refuses(status, { 'retry-after': '60' })), await provider()]
    const upstreams = { one: { url: one.url, api_key: 'configured' }, other: { url: other.url, priority: 1 } }
    const { ask, several } = open({ upstreams, clientKeyOrigins: [one.url] })
    const clientKey = { header: 'authorization', value: 'Bearer theirs', secret: 'theirs' } as const
    for (let turn = 0; turn < 4; turn++) expect(await ask({ clientKey })).toMatchObject({ status, by: { name: 'one', apiKey: 'theirs' } })
    expect(several.status()[0]).toMatchObject({ breaker: 'closed', failures: 0 })
    expect([other.received, one.received[0]?.headers]).toMatchObject([[], { authorization: 'Bearer theirs' }])
    one.answer(answerPlainly)
    expect(byOf(await ask())).toBe('one')
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
