import { describe, expect, it } from 'vitest'
import type { OfferedEpisode } from './episodes.ts'
import { BEAT_MS, type EpisodeQueue } from './queue.ts'
import { called, episode, forever, queueOf, taken, worker } from './testing/queue.ts'

describe('an episode', () => {
  it('goes to a worker, and its result comes back with the calls that were counted', async () => {
    const { queue } = queueOf()
    const playing = queue.play(episode('a'), forever)
    const got = await taken(queue, 'w')
    expect(got.order).toEqual({ name: 'a' })
    await called(queue, got.key, { model: 'm', input: 3, output: 4 })
    await got.finish({ score: 1 })
    expect(await playing).toEqual({
      worker: 'w',
      result: { score: 1 },
      problem: null,
      calls: [{ model: 'm', input: 3, output: 4 }],
      set_aside: [],
    })
  })

  it('waits for a worker that plays the same, for its scenario', async () => {
    const { queue } = queueOf()
    const playing = queue.play(episode('a'), forever)
    const left = new AbortController()
    const others = [
      queue.take(worker('other agent', { plays: ['another'] }), left.signal),
      queue.take(worker('other scenario', { scenarios: new Set(['two']) }), left.signal),
    ]
    const got = await taken(queue, 'right', { scenarios: new Set(['one']) })
    left.abort()
    expect(await Promise.all(others)).toEqual([null, null])
    await got.finish({})
    expect((await playing).worker).toBe('right')
  })

  it('of a worker that falls silent goes to another, and only the second may answer', async () => {
    const { queue, time } = queueOf()
    const playing = queue.play(episode('a'), forever)
    const lost = await taken(queue, 'lost')
    time.ms += 9000
    expect(await queue.beat('lost', lost.lease)).toBe(true)
    time.ms += 9000
    expect(await queue.status()).toMatchObject({ running: 1 })
    time.ms += 2000
    const again = await taken(queue, 'second')
    expect(await queue.beat('lost', lost.lease)).toBe(false)
    await expect(lost.finish({ score: 0 })).rejects.toThrow('another worker has it')
    expect(await queue.leaseWith(lost.key)).toBeNull()
    await again.finish({ score: 1 })
    expect(await playing).toMatchObject({ worker: 'second', result: { score: 1 } })
  })

  it('of which a call could pass a cap of its step ends at once, with both its plays, and its worker is told so', async () => {
    const { queue } = queueOf({ checkEvery: 1 })
    const playing = queue.play(episode('a'), forever)
    const got = await taken(queue, 'w')
    const lease = await queue.leaseWith(got.key)
    await queue.cut({ episode: lease?.episode ?? '' }, 'the cap is reached')
    expect(await playing).toMatchObject({ result: null, problem: 'the cap is reached', cap: 'the cap is reached' })
    expect(await queue.beat('w', got.lease)).toBe(false)
    expect(await queue.leaseWith(got.key)).toBeNull()
    await expect(got.finish({ score: 1 })).rejects.toThrow('it was cancelled')
    expect(await queue.status()).toMatchObject({ waiting: 0, running: 0 })
  })

  it('that three workers lost is given up, and what they spent is counted', async () => {
    const { queue, time } = queueOf()
    const playing = queue.play(episode('a'), forever)
    for (const name of ['first', 'second', 'third']) {
      const got = await taken(queue, name)
      await called(queue, got.key, { model: name, input: 1, output: 1 })
      time.ms += 11_000
      await queue.status()
    }
    expect(await playing).toMatchObject({ result: null, problem: '3 workers lost the episode, third last', calls: [{}, {}, {}] })
    expect(await queue.status()).toMatchObject({ waiting: 0, running: 0 })
  })

  it('of a worker that beats for ever goes to another one after its time', async () => {
    const { queue, time } = queueOf()
    const playing = queue.play(episode('a', { secondsMax: 30 }), forever)
    const slow = await taken(queue, 'slow')
    for (let at = 0; at < 31; at += 1) {
      time.ms += 1000
      await queue.beat('slow', slow.lease)
    }
    await (await taken(queue, 'other')).finish({})
    expect((await playing).worker).toBe('other')
  })

  it('that the workers of one token give back again and again is still played by those of another', async () => {
    const { queue } = queueOf()
    expect(await queue.take(worker('honest/1'), AbortSignal.timeout(1))).toBeNull()
    const playing = queue.play(episode('a'), forever)
    await queue.giveBack('bad/1', (await taken(queue, 'bad/1')).lease)
    for (const name of ['bad/1', 'bad/2']) expect(await queue.take(worker(name), AbortSignal.timeout(1))).toBeNull()
    await (await taken(queue, 'honest/1')).finish({ score: 1 })
    expect(await playing).toMatchObject({ worker: 'honest/1' })
  })

  it('that a worker gives back goes to another one', async () => {
    const { queue } = queueOf()
    const playing = queue.play(episode('a'), forever)
    const first = await taken(queue, 'first')
    await queue.giveBack('first', first.lease)
    await (await taken(queue, 'second')).finish({})
    expect((await playing).worker).toBe('second')
  })

  it('that is cancelled is taken from its worker', async () => {
    const { queue } = queueOf()
    const cancel = new AbortController()
    const playing = queue.play(episode('a'), cancel.signal)
    const got = await taken(queue, 'w')
    const gone = expect(playing).rejects.toThrow('not wanted')
    cancel.abort(new Error('not wanted'))
    await gone
    expect(await queue.beat('w', got.lease)).toBe(false)
    await expect(got.finish({ score: 1 })).rejects.toThrow('it was cancelled')
    expect(await queue.status()).toMatchObject({ waiting: 0, running: 0 })
  })

  it('that is cancelled ends at the worker with its next beat, which is due within two seconds, at whichever gateway it asks', async () => {
    const { queue, open } = queueOf()
    const other = open()
    const cancel = new AbortController()
    const playing = queue.play(episode('a'), cancel.signal)
    const got = await taken(other, 'w')
    expect(await other.beat('w', got.lease)).toBe(true)
    cancel.abort(new Error('not wanted'))
    await expect(playing).rejects.toThrow('not wanted')
    expect(await other.beat('w', got.lease)).toBe(false)
    expect(BEAT_MS).toBeLessThanOrEqual(2000)
  })

  it('of a worker that is lost waits for another one within 30 seconds, by the clock of the board', async () => {
    const { queue, time } = queueOf()
    const playing = queue.play(episode('a'), forever)
    await taken(queue, 'lost')
    const began = time.ms
    while ((await queue.status()).waiting === 0) time.ms += BEAT_MS
    expect(time.ms - began).toBeLessThanOrEqual(30_000)
    await (await taken(queue, 'second')).finish({ score: 1 })
    expect(await playing).toMatchObject({ worker: 'second' })
  })

  it('is answered by nobody but the worker that has it, and once', async () => {
    const { queue } = queueOf()
    const playing = queue.play(episode('a'), forever)
    const got = await taken(queue, 'honest')
    await expect(queue.finish('liar', got.lease, { score: 1 })).rejects.toThrow('has no such episode')
    await expect(queue.giveBack('liar', got.lease)).rejects.toThrow('has no such episode')
    expect(await queue.beat('liar', got.lease)).toBe(false)
    await got.finish({ score: 0 })
    await expect(got.finish({ score: 1 })).rejects.toThrow('has no such episode')
    expect((await playing).result).toEqual({ score: 0 })
  })

  it.each(['', 'x', '0'.repeat(48), '\u{1F600}'.repeat(24), 'é'.repeat(48)])('opens the model for no key but its own: %j', async (key) => {
    const { queue } = queueOf()
    void queue.play(episode('a'), forever).catch(() => undefined)
    const got = await taken(queue, 'w')
    expect(await queue.leaseWith(key)).toBeNull()
    expect(await queue.leaseWith(got.key)).toMatchObject({ scenario: 'one' })
  })
})

describe('a gateway that is gone', () => {
  it('leaves what it offered to the one that goes on: a worker that plays it plays on, and it is played once', async () => {
    const { queue, time, open } = queueOf()
    void queue.play(episode('a'), forever).catch(() => undefined)
    const got = await taken(queue, 'w')
    await queue.close()
    const other = open()
    const playing = other.play(episode('a'), forever)
    expect(await other.beat('w', got.lease)).toBe(true)
    await other.finish('w', got.lease, { score: 1 })
    expect(await playing).toMatchObject({ worker: 'w', result: { score: 1 } })
    time.ms += 300_000
    expect(await other.status()).toMatchObject({ waiting: 0, running: 0 })
  })

  it('leaves the result too, and what is offered twice is played twice', async () => {
    const { queue, open } = queueOf()
    for (const _ of [1, 2]) void queue.play(episode('a'), forever).catch(() => undefined)
    const got = await taken(queue, 'w')
    await queue.close()
    const other = open()
    await other.finish('w', got.lease, { score: 1 })
    const playing = [other.play(episode('a'), forever), other.play(episode('a'), forever)]
    const second = await taken(other, 'v')
    await other.finish('v', second.lease, { score: 0 })
    expect((await Promise.all(playing)).map(({ worker: name }) => name).sort()).toEqual(['v', 'w'])
  })

  it('and whose step nobody goes on with has its episodes dropped', async () => {
    const { queue, time, open } = queueOf()
    void queue.play(episode('a'), forever).catch(() => undefined)
    const got = await taken(queue, 'w')
    await queue.close()
    const other = open()
    time.ms += 121_000
    expect(await other.status()).toMatchObject({ waiting: 0, running: 0 })
    expect(await other.beat('w', got.lease)).toBe(false)
  })
})

describe('the order', () => {
  it('has requests first, then the scenario with fewest running, then the oldest', async () => {
    const { queue, time } = queueOf()
    const offers: readonly (readonly [string, Partial<OfferedEpisode>])[] = [
      ['busy 1', {}],
      ['busy 2', {}],
      ['quiet 1', { scenario: 'two' }],
      ['asked', { priority: 'request' }],
    ]
    for (const [name, more] of offers) {
      time.ms += 1
      void queue.play(episode(name, more), forever).catch(() => undefined)
      await Promise.resolve()
    }
    const order: unknown[] = []
    for (const _ of offers) order.push((await taken(queue, 'w')).order['name'])
    expect(order).toEqual(['asked', 'quiet 1', 'busy 1', 'busy 2'])
  })
})

/** Plays everything with the given workers until the queue is empty. */
async function playAll(queue: EpisodeQueue, workers: Readonly<Record<string, () => number>>, episodes: number): Promise<void> {
  const stop = new AbortController()
  const loops = Object.entries(workers).map(async ([name, score]) => {
    while (!stop.signal.aborted) {
      const got = await Promise.resolve()
        .then(() => queue.take(worker(name), stop.signal))
        .catch(() => null)
      if (got === null) return
      await queue.finish(name, got.lease, { score: score() })
    }
  })
  for (let at = 0; at < episodes; at += 1) await queue.play(episode(`${at}`), forever)
  stop.abort()
  await Promise.all(loops)
}

describe('checks', () => {
  it('set a worker aside that answers something else than the others, and nobody else', async () => {
    const { queue } = queueOf({ checkEvery: 1 })
    await playAll(queue, { liar: () => 0, a: () => 1, b: () => 1, c: () => 1 }, 120)
    const aside = (await queue.status()).workers.filter(({ is_set_aside }) => is_set_aside).map(({ name }) => name)
    expect(aside).toEqual(['liar'])
    await expect(queue.take(worker('liar'), forever)).rejects.toThrow('differ from those of other workers')
  })

  it('set nobody aside where plays differ by themselves', async () => {
    const { queue } = queueOf({ checkEvery: 1 })
    let at = 0
    const noisy = (): number => ((at += 7) % 10 < 5 ? 0 : 1)
    await playAll(queue, { a: noisy, b: noisy, c: noisy }, 200)
    const { workers } = await queue.status()
    expect(workers.filter(({ is_set_aside }) => is_set_aside)).toEqual([])
    expect(workers.every(({ checked }) => checked > 0)).toBe(true)
  })

  it('discard what a worker plays that is found out meanwhile, and have it played again', async () => {
    const { queue } = queueOf({ checkEvery: 1 })
    await playAll(queue, { liar: () => 0, a: () => 1, b: () => 1, c: () => 1 }, 60)
    const { queue: plain, board } = queueOf()
    const playing = plain.play(episode('late'), forever)
    const got = await taken(plain, 'liar')
    await board.change((rows) => Object.assign(rows.workers.get('liar') ?? {}, { isSetAside: true }))
    await got.finish({ score: 0 })
    await (await taken(plain, 'a')).finish({ score: 1 })
    expect(await playing).toMatchObject({ worker: 'a', result: { score: 1 }, set_aside: ['liar'] })
  })

  it('wait for nobody where there is one worker alone', async () => {
    const { queue } = queueOf({ checkEvery: 1 })
    const playing = queue.play(episode('a'), forever)
    await (await taken(queue, 'alone')).finish({ score: 1 })
    expect((await playing).result).toEqual({ score: 1 })
    expect((await queue.status()).waiting).toBe(0)
  })

  it('count the calls of both plays', async () => {
    const { queue } = queueOf({ checkEvery: 1 })
    const playing = queue.play(episode('a'), forever)
    for (const got of [await taken(queue, 'a'), await taken(queue, 'b')]) {
      await called(queue, got.key, { model: got.lease, input: 1, output: 1 })
      await got.finish({ score: 1 })
    }
    expect(new Set((await playing).calls.map(({ model }) => model)).size).toBe(2)
  })
})

it('ends what waits when it closes', async () => {
  const { queue } = queueOf()
  const playing = expect(queue.play(episode('a', { plays: 'nobody plays it' }), forever)).rejects.toThrow('closing')
  const taking = queue.take(worker('w'), forever)
  await queue.close()
  await playing
  expect(await taking).toBeNull()
  // And a worker that asks after that does not wait.
  expect(await queue.take(worker('late'), forever)).toBeNull()
  await expect(queue.play(episode('late'), forever)).rejects.toThrow('closing')
})
