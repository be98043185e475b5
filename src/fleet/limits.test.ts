/** What episodes take: calls of the model that every step is told of, limits that hold whatever a worker says, and the memory of machines. */
import { describe, expect, it } from 'vitest'
import { called, episode, forever, queueOf, taken, worker } from './testing/queue.ts'

describe('what calls take', () => {
  const CALL = { model: 'm', input: 2, output: 1 }

  it('is told to the next step of the scenario where the episode was cancelled, also calls that end after that, and once', async () => {
    const { queue } = queueOf()
    const cancel = new AbortController()
    const cancelled = expect(queue.play(episode('a'), cancel.signal)).rejects.toThrow()
    const got = await taken(queue, 'w')
    const lease = await called(queue, got.key, CALL)
    cancel.abort()
    await cancelled
    queue.called(lease, { ...CALL, model: 'late' })
    const told: (string | null)[][] = []
    for (const name of ['b', 'c']) {
      const playing = queue.play(episode(name), forever)
      await (await taken(queue, 'w')).finish({})
      told.push((await playing).calls.map(({ model }) => model))
    }
    expect(told).toEqual([['m', 'late'], []])
  })

  it('is told where the gateway of the step was killed and nobody went on with it', async () => {
    const { queue, time, open } = queueOf()
    void queue.play(episode('a'), forever).catch(() => undefined)
    await called(queue, (await taken(queue, 'w')).key, CALL)
    await queue.close()
    const other = open()
    time.ms += 121_000
    await other.status()
    const playing = other.play(episode('b'), forever)
    await (await taken(other, 'w')).finish({})
    expect((await playing).calls).toEqual([CALL])
    expect((await other.status()).last_hour.model_calls).toBe(1)
  })

  it('is told to no step of another scenario', async () => {
    const { queue } = queueOf()
    const cancel = new AbortController()
    const cancelled = expect(queue.play(episode('a'), cancel.signal)).rejects.toThrow()
    await called(queue, (await taken(queue, 'w')).key, CALL)
    cancel.abort()
    await cancelled
    const playing = queue.play(episode('b', { scenario: 'two' }), forever)
    await (await taken(queue, 'w')).finish({})
    expect((await playing).calls).toEqual([])
  })

  it.each([
    ['calls', { callsMax: 2 }],
    ['tokens', { tokensMax: 6 }],
  ])('ends at the limit of %s of an episode, and another play has the same again', async (_what, limits) => {
    const { queue } = queueOf()
    const playing = queue.play(episode('a', limits), forever)
    for (const name of ['first', 'second']) {
      const got = await taken(queue, name)
      const lease = (await queue.leaseWith(got.key)) ?? { episode: '', scenario: '' }
      const ask = (): Promise<void> => queue.within(lease, async () => queue.called(lease, CALL))
      await ask()
      await ask()
      await expect(ask()).rejects.toThrow('as many calls of the model')
      if (name === 'first') await queue.giveBack(name, got.lease)
      else await got.finish({})
    }
    expect((await playing).calls).toHaveLength(4)
  })

  it('counts what is under way: a flood of calls at once gets no further than the limit', async () => {
    const { queue } = queueOf()
    void queue.play(episode('a', { callsMax: 3 }), forever).catch(() => undefined)
    const lease = (await queue.leaseWith((await taken(queue, 'w')).key)) ?? { episode: '', scenario: '' }
    const gate = Promise.withResolvers<void>()
    const asked = Array.from({ length: 50 }, () => queue.within(lease, () => gate.promise))
    const refused = asked.slice(3).map((one) => expect(one).rejects.toThrow('as many calls of the model'))
    await Promise.all(refused)
    gate.resolve()
    await Promise.all(asked.slice(0, 3))
  })
})

describe('what an episode needs', () => {
  const GIB = 1024 ** 3
  const needs = { adapter: 'native', memoryBytes: 2 * GIB }

  it('fits into the memory of a worker, with what that plays already', async () => {
    const { queue } = queueOf()
    for (const name of ['a', 'b']) void queue.play(episode(name, { needs }), forever).catch(() => undefined)
    expect(await queue.take(worker('small', { memoryBytes: GIB }), AbortSignal.timeout(1))).toBeNull()
    const large = worker('large', { slots: 4, memoryBytes: 3 * GIB })
    const first = await queue.take(large, forever)
    expect(first).not.toBeNull()
    expect(await queue.take(large, AbortSignal.timeout(1))).toBeNull()
    await queue.finish('large', first?.lease ?? '', {})
    expect(await queue.take(large, forever)).not.toBeNull()
  })

  it.each([
    ['no worker is there', null],
    ['no worker plays native with this version', { plays: ['another'] }],
    ['no worker that plays it has a token for this scenario', { scenarios: new Set(['two']) }],
    ['no worker that plays it has 2048 MiB of memory', { memoryBytes: GIB }],
  ])('is said in the status after a minute where nobody can play it: %s', async (reason, offer) => {
    const { queue, time } = queueOf()
    void queue.play(episode('a', { needs }), forever).catch(() => undefined)
    const look = async () => {
      if (offer !== null) await queue.take(worker('w', offer), AbortSignal.timeout(1))
      return (await queue.status()).unplayable
    }
    expect(await look()).toEqual([])
    time.ms += 61_000
    expect(await look()).toEqual([{ scenario: 'one', episodes: 1, reason: expect.stringContaining(reason) }])
    await queue.take(worker('right'), forever)
    expect((await queue.status()).unplayable).toEqual([])
  })
})
