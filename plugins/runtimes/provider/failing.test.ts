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
