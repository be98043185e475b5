/** A worker that means harm, against the board: what it may do to episodes of others, and how its own lies are found. */
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../contract/index.ts'
import type { EpisodeQueue } from './queue.ts'
import { episode, forever, queueOf, taken, worker } from './testing/queue.ts'

const soon = (): AbortSignal => AbortSignal.timeout(1)
const asideIn = async (queue: EpisodeQueue): Promise<readonly string[]> => queue.setAside()

/** Workers that play until all episodes are over; each says its own name before each take, and its score of that episode. */
async function playAll(
  queue: EpisodeQueue,
  workers: readonly { readonly name: (turn: number) => string; readonly score: (at: number) => number }[],
  episodes: number,
) {
  const stop = new AbortController()
  const loops = workers.map(async ({ name, score }) => {
    for (let turn = 0; !stop.signal.aborted; turn += 1) {
      const own = name(turn)
      const got = await queue.take(worker(own), stop.signal).catch(() => null)
      if (got === null) return
      await queue.finish(own, got.lease, { score: score(Number(got.order['name'])) })
    }
  })
  const scores: unknown[] = []
  for (let at = 0; at < episodes; at += 1) scores.push((await queue.play(episode(`${at}`), forever)).result?.['score'])
  stop.abort()
  await Promise.all(loops)
  return scores
}
const honest = ['a/1', 'b/1', 'c/1'].map((name) => ({ name: () => name, score: (at: number) => at % 2 }))

describe('a hostile worker', () => {
  it('that answers for the episode of another has no effect, by lease, by name and by giving it back', async () => {
    const { queue } = queueOf()
    const playing = queue.play(episode('a'), forever)
    const got = await taken(queue, 'good/w')
    for (const name of ['bad/w', 'w', 'good', 'good/', 'good/w/', 'good/w '])
      await expect(queue.finish(name, got.lease, { score: 1 })).rejects.toThrow('has no such episode')
    await expect(queue.giveBack('bad/w', got.lease)).rejects.toThrow('has no such episode')
    await got.finish({ score: 0 })
    expect(await playing).toMatchObject({ worker: 'good/w', result: { score: 0 } })
  })

  it('that beats for the lease of another does not keep it alive', async () => {
    const { queue, time } = queueOf()
    void queue.play(episode('a'), forever).catch(() => undefined)
    const got = await taken(queue, 'good/w')
    for (let second = 0; second < 11; second += 1) {
      time.ms += 1000
      expect(await queue.beat('bad/w', got.lease)).toBe(false)
    }
    expect(await queue.status()).toMatchObject({ waiting: 1, running: 0 })
  })

  it('that answers twice at once, or replays a result under another lease, is heard once', async () => {
    const { queue } = queueOf()
    const playing = queue.play(episode('a'), forever)
    const got = await taken(queue, 'bad/w')
    const said = await Promise.allSettled([got.finish({ score: 0 }), got.finish({ score: 1 })])
    expect(said.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    expect((await playing).result).toEqual({ score: 0 })
    const next = queue.play(episode('b'), forever)
    await expect(queue.finish('bad/w', got.lease, { score: 1 })).rejects.toThrow('has no such episode')
    await (await taken(queue, 'good/w')).finish({ score: 0.5 })
    expect((await next).result).toEqual({ score: 0.5 })
  })

  it('that answers after its lease changes nothing, and its key opens nothing', async () => {
    const { queue, time } = queueOf()
    const playing = queue.play(episode('a'), forever)
    const late = await taken(queue, 'bad/w')
    time.ms += 11_000
    const again = await taken(queue, 'good/w')
    await expect(late.finish({ score: 1 })).rejects.toThrow('another worker has it')
    expect(await queue.leaseWith(late.key)).toBeNull()
    await again.finish({ score: 0 })
    expect(await playing).toMatchObject({ worker: 'good/w', result: { score: 0 } })
  })

  it('that takes everything and plays nothing holds 256 episodes at most, and loses them to the others', async () => {
    const { queue, time } = queueOf()
    const playing = Array.from({ length: 300 }, (_, at) => queue.play(episode(`${at}`), forever))
    for (let at = 0; at < 256; at += 1) expect(await queue.take(worker('bad/w'), forever)).not.toBeNull()
    await expect(queue.take(worker('bad/w'), forever)).rejects.toThrow('which is the most')
    time.ms += 11_000
    for (const _ of playing) await (await taken(queue, 'good/w')).finish({ score: 1 })
    expect(new Set((await Promise.all(playing)).map(({ worker: name }) => name))).toEqual(new Set(['good/w']))
  })

  it('under a thousand names is one token: it has 256 workers at most, and the workers of others come in', async () => {
    const { queue } = queueOf()
    for (let at = 0; at < 256; at += 1) await queue.take(worker(`bad/${at}`), soon())
    for (let at = 256; at < 1000; at += 1) await expect(queue.take(worker(`bad/${at}`), soon())).rejects.toThrow('as many workers')
    expect(await queue.take(worker('good/w'), soon())).toBeNull()
    expect((await queue.status()).workers.some(({ name }) => name === 'good/w')).toBe(true)
  })

  it('that takes the episodes of one scenario does not hold up those of another', async () => {
    const { queue } = queueOf()
    for (let at = 0; at < 20; at += 1) void queue.play(episode(`${at}`), forever).catch(() => undefined)
    void queue.play(episode('mine', { scenario: 'two' }), forever).catch(() => undefined)
    for (let at = 0; at < 5; at += 1) await queue.take(worker('bad/w', { scenarios: new Set(['one']) }), forever)
    expect((await taken(queue, 'good/w')).order).toEqual({ name: 'mine' })
  })

  it('that claims all scenarios in its name gets those of its token alone', async () => {
    const { queue } = queueOf()
    void queue.play(episode('a'), forever).catch(() => undefined)
    expect(await queue.take(worker('bad/*', { scenarios: new Set(['two', '*', 'one ']) }), soon())).toBeNull()
  })

  it('that lies about its own scores is found by episodes that are played twice, and nobody else is', async () => {
    const { queue } = queueOf({ checkEvery: 1 })
    await playAll(queue, [...honest, { name: () => 'bad/1', score: (at) => 1 - (at % 2) }], 120)
    expect(await asideIn(queue)).toEqual(['bad/1'])
  })

  it('that takes another name for every episode is found as one token, and gets nothing under a new name', async () => {
    const { queue } = queueOf({ checkEvery: 1 })
    await playAll(queue, [...honest, { name: (turn) => `bad/${turn}`, score: (at) => 1 - (at % 2) }], 160)
    const aside = await asideIn(queue)
    expect(aside.length).toBeGreaterThan(0)
    expect(aside.filter((name) => !name.startsWith('bad/'))).toEqual([])
    await expect(queue.take(worker('bad/new'), forever)).rejects.toThrow('the workers of token bad')
  })

  it('does not check the lies of another worker of its token while others are there', async () => {
    const { queue } = queueOf({ checkEvery: 1 })
    await queue.take(worker('good/w'), soon())
    const playing = queue.play(episode('a'), forever)
    const first = await taken(queue, 'bad/1')
    expect(await queue.take(worker('bad/2'), soon())).toBeNull()
    await (await taken(queue, 'good/w')).finish({ score: 0 })
    await first.finish({ score: 1 })
    await playing
    expect((await queue.status()).workers.find(({ name }) => name === 'bad/1')).toMatchObject({ checked: 1, differed: 1 })
  })

  it.each<[string, JsonObject]>([
    ['no score', {}],
    ['a text as a score', { score: '1' }],
    ['another object', { __proto__: null, constructor: { prototype: {} }, score: { valueOf: 1 } }],
  ])('that answers with %s is compared as any other, and breaks no check', async (_title, result) => {
    const { queue } = queueOf({ checkEvery: 1 })
    await queue.take(worker('good/w'), soon())
    const playing = queue.play(episode('a'), forever)
    const first = await taken(queue, 'bad/1')
    await (await taken(queue, 'good/w')).finish({ score: 1 })
    await first.finish(result)
    await playing
    expect((await queue.status()).workers.find(({ name }) => name === 'bad/1')).toMatchObject({ checked: 1, differed: 1 })
  })
})
