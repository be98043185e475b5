import { describe, expect, it, onTestFinished } from 'vitest'
import type { JsonObject } from '../contract/index.ts'
import type { OfferedEpisode } from './episodes.ts'
import { EpisodeQueue, type QueueOptions } from './queue.ts'

const PLAYS = 'the agent'
const forever = new AbortController().signal

function queueOf(options: Omit<QueueOptions, 'now'> = { checkEvery: Infinity }) {
  const time = { ms: 0 }
  const queue = new EpisodeQueue({ ...options, now: () => time.ms })
  onTestFinished(() => queue.close())
  return { queue, time }
}

const episode = (name: string, more: Partial<OfferedEpisode> = {}): OfferedEpisode => ({
  scenario: 'one',
  plays: PLAYS,
  priority: 'traffic',
  order: { name },
  ...more,
})

const worker = (name: string, more: Partial<Parameters<EpisodeQueue['take']>[0]> = {}) => ({
  name,
  plays: [PLAYS],
  slots: 1,
  scenarios: null,
  ...more,
})

/** What a worker is given, and the answer to it. */
async function taken(queue: EpisodeQueue, name: string, more?: Parameters<typeof worker>[1]) {
  const got = await queue.take(worker(name, more), forever)
  if (got === null) throw new Error('nothing came')
  return { ...got, finish: (result: JsonObject) => queue.finish(name, got.lease, result) }
}

describe('an episode', () => {
  it('goes to a worker, and its result comes back with the calls that were counted', async () => {
    const { queue } = queueOf()
    const playing = queue.play(episode('a'), forever)
    const got = await taken(queue, 'w')
    expect(got.order).toEqual({ name: 'a' })
    queue.called(got.lease, { model: 'm', input: 3, output: 4 })
    got.finish({ score: 1 })
    expect(await playing).toEqual({ worker: 'w', result: { score: 1 }, calls: [{ model: 'm', input: 3, output: 4 }] })
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
    got.finish({})
    expect((await playing).worker).toBe('right')
  })

  it('of a worker that falls silent goes to another, and only the second may answer', async () => {
    const { queue, time } = queueOf()
    const playing = queue.play(episode('a'), forever)
    const lost = await taken(queue, 'lost')
    time.ms += 9000
    expect(queue.beat('lost', lost.lease)).toBe(true)
    time.ms += 9000
    queue.tidy()
    expect(queue.status).toMatchObject({ running: 1 })
    time.ms += 2000
    queue.tidy()
    const again = await taken(queue, 'second')
    expect(queue.beat('lost', lost.lease)).toBe(false)
    expect(() => lost.finish({ score: 0 })).toThrow('another worker has it')
    expect(queue.leaseWith(lost.key)).toBeNull()
    again.finish({ score: 1 })
    expect(await playing).toMatchObject({ worker: 'second', result: { score: 1 } })
  })

  it('that three workers lost is given up', async () => {
    const { queue, time } = queueOf()
    const playing = queue.play(episode('a'), forever)
    const failed = expect(playing).rejects.toThrow('3 workers lost the episode, third last')
    for (const name of ['first', 'second', 'third']) {
      await taken(queue, name)
      time.ms += 60_000
      queue.tidy()
    }
    await failed
    expect(queue.status).toMatchObject({ waiting: 0, running: 0 })
  })

  it('that a worker gives back goes to another one', async () => {
    const { queue } = queueOf()
    const playing = queue.play(episode('a'), forever)
    const first = await taken(queue, 'first')
    queue.giveBack('first', first.lease)
    ;(await taken(queue, 'second')).finish({})
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
    expect(queue.beat('w', got.lease)).toBe(false)
    expect(() => got.finish({ score: 1 })).toThrow('it was cancelled')
    expect(queue.status).toMatchObject({ waiting: 0, running: 0 })
  })

  it('is answered by nobody but the worker that has it, and once', async () => {
    const { queue } = queueOf()
    const playing = queue.play(episode('a'), forever)
    const got = await taken(queue, 'honest')
    expect(() => queue.finish('liar', got.lease, { score: 1 })).toThrow('has no such episode')
    expect(() => queue.giveBack('liar', got.lease)).toThrow('has no such episode')
    expect(queue.beat('liar', got.lease)).toBe(false)
    got.finish({ score: 0 })
    expect(() => got.finish({ score: 1 })).toThrow('has no such episode')
    expect((await playing).result).toEqual({ score: 0 })
  })

  it.each(['', 'x', '0'.repeat(48), '\u{1F600}'.repeat(24), 'é'.repeat(48)])('opens the model for no key but its own: %j', async (key) => {
    const { queue } = queueOf()
    void queue.play(episode('a'), forever).catch(() => undefined)
    const got = await taken(queue, 'w')
    expect(queue.leaseWith(key)).toBeNull()
    expect(queue.leaseWith(got.key)).toEqual({ id: got.lease, scenario: 'one' })
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
      queue.finish(name, got.lease, { score: score() })
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
    const aside = queue.status.workers.filter(({ is_set_aside }) => is_set_aside).map(({ name }) => name)
    expect(aside).toEqual(['liar'])
    expect(() => queue.take(worker('liar'), forever)).toThrow('differ from those of other workers')
  })

  it('set nobody aside where plays differ by themselves', async () => {
    const { queue } = queueOf({ checkEvery: 1 })
    let at = 0
    const noisy = (): number => ((at += 7) % 10 < 5 ? 0 : 1)
    await playAll(queue, { a: noisy, b: noisy, c: noisy }, 200)
    expect(queue.status.workers.filter(({ is_set_aside }) => is_set_aside)).toEqual([])
    expect(queue.status.workers.every(({ checked }) => checked > 0)).toBe(true)
  })

  it('wait for nobody where there is one worker alone', async () => {
    const { queue } = queueOf({ checkEvery: 1 })
    const playing = queue.play(episode('a'), forever)
    ;(await taken(queue, 'alone')).finish({ score: 1 })
    expect((await playing).result).toEqual({ score: 1 })
    expect(queue.status.waiting).toBe(0)
  })

  it('count the calls of both plays', async () => {
    const { queue } = queueOf({ checkEvery: 1 })
    const playing = queue.play(episode('a'), forever)
    for (const name of ['a', 'b']) {
      const got = await taken(queue, name)
      queue.called(got.lease, { model: name, input: 1, output: 1 })
      got.finish({ score: 1 })
    }
    expect(new Set((await playing).calls.map(({ model }) => model))).toEqual(new Set(['a', 'b']))
  })
})

it('ends what waits when it closes', async () => {
  const { queue } = queueOf()
  const playing = expect(queue.play(episode('a', { plays: 'nobody plays it' }), forever)).rejects.toThrow('closing')
  const taking = queue.take(worker('w'), forever)
  queue.close()
  await playing
  expect(await taking).toBeNull()
  // And whoever comes after that does not wait.
  expect(await queue.take(worker('late'), forever)).toBeNull()
  await expect(queue.play(episode('late'), forever)).rejects.toThrow('closing')
})
