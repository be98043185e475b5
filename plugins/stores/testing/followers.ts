/** Random lives of a store and its followers, for the model tests of every store: whoever joins or dies meanwhile, every projection ends as the rows are. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { isDeepStrictEqual } from 'node:util'
import { Worker, type MessagePort } from 'node:worker_threads'
import * as fc from 'fast-check'
import { commit, counted, create, record, steps } from '../../../conformance/store-samples.ts'
import { isRefusal, type Store } from '../../../src/contract/index.ts'
import type { FollowedStore } from './follower.fixture.ts'
import { Projection, type ProjectedScenario } from './projection.ts'

/** `npm run test:followers` takes two thousand. */
const RUNS = Number(process.env['FOLLOWER_RUNS'] ?? 8)
export const TIME_LIMIT_MS = 60_000 + RUNS * 1000
/** A change is told a little later; one that was not by then was left out. */
const LOOKS_MAX = 2000
const NAMES = ['a', 'b', 'c'] as const
const FOLLOWERS_MAX = 4

type Views = Readonly<Record<string, ProjectedScenario>>
interface Act {
  readonly verb: 'append' | 'land' | 'configure' | 'create' | 'archive' | 'join' | 'join thread' | 'die'
  readonly name: (typeof NAMES)[number]
  /** Chooses the store that acts, and the follower that dies. */
  readonly pick: number
  readonly count: number
}

const act: fc.Arbitrary<Act> = fc.record({
  verb: fc.oneof(
    { weight: 8, arbitrary: fc.constant('append' as const) },
    { weight: 6, arbitrary: fc.constant('land' as const) },
    { weight: 2, arbitrary: fc.constantFrom('configure' as const, 'create' as const, 'join' as const, 'die' as const) },
    { weight: 1, arbitrary: fc.constantFrom('archive' as const, 'join thread' as const) },
  ),
  name: fc.constantFrom(...NAMES),
  pick: fc.nat(100),
  count: fc.integer({ min: 1, max: 9 }),
})
/** Those of one list run at once. */
const life = fc.array(fc.array(act, { maxLength: 6 }), { maxLength: 8 })

/** Which store it is: another thread joins it by its name. */
interface Followed {
  readonly name: FollowedStore | 'memory'
  readonly plugin: { join?(port: MessagePort): Promise<Store> }
  readonly open: () => Store | Promise<Store>
}

export async function liveAndFollow(followed: Followed): Promise<void> {
  await fc.assert(
    fc.asyncProperty(life, async (turns) => {
      const world = new World(await followed.open(), followed)
      try {
        await world.begin()
        for (const acts of turns) await Promise.all(acts.map((each) => world.take(each)))
        await world.check()
      } finally {
        await world.close()
      }
    }),
    { numRuns: RUNS, interruptAfterTimeLimit: 40_000 + RUNS * 1000 },
  )
}

interface Follower {
  /** Null for one in a thread, which only follows. */
  readonly store: Store | null
  shown(): Promise<Views>
  die(): Promise<unknown>
}

class World {
  readonly #store: Store
  readonly #followed: Followed
  readonly #followers: Follower[] = []
  readonly #first: Projection
  #ids = 0

  constructor(store: Store, followed: Followed) {
    this.#store = store
    this.#followed = followed
    this.#first = new Projection(store)
  }

  /** The last name comes into being by chance. */
  async begin(): Promise<void> {
    for (const name of NAMES.slice(0, -1)) await create(this.#store, name)
  }

  /** What the store refuses is no change: names that are not there, steps that another one took. */
  async take(each: Act): Promise<void> {
    try {
      await this.#do(each)
    } catch (error) {
      if (!isRefusal(error) || !['unknown_scenario', 'step_conflict', 'store_closed'].includes(error.code)) throw error
    }
  }

  async check(): Promise<void> {
    const rows = await viewsOf(this.#store)
    for (const follower of [this.#first, ...this.#followers]) {
      for (let looks = 0; looks < LOOKS_MAX && !isDeepStrictEqual(await follower.shown(), rows); looks += 1)
        await new Promise((resolve) => void setTimeout(resolve, 1))
      assert.deepEqual(await follower.shown(), rows)
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#followers.map((follower) => follower.die()))
    await this.#store.close()
  }

  async #do({ verb, name, pick, count }: Act): Promise<unknown> {
    if (verb === 'join' || verb === 'join thread') return this.#join(verb === 'join thread')
    const stores = [this.#store, ...this.#followers.flatMap(({ store }) => store ?? [])]
    const store = stores[pick % stores.length] ?? this.#store
    const scenario = store.scenario(name)
    switch (verb) {
      case 'append':
        return scenario.append(counted(count).map(() => record(`r${(this.#ids += 1)}`)))
      case 'land':
        return scenario.commit(commit((steps(await scenario.commits({ before: Number.MAX_SAFE_INTEGER, limit: 1 }))[0] ?? 0) + 1))
      case 'configure':
        return scenario.configure({ training_mode: count > 6 ? null : count > 3 ? 'manual' : 'hybrid' })
      case 'create':
        return create(store, name)
      case 'archive':
        return store.archive(name)
      default:
        return this.#followers.splice(pick % FOLLOWERS_MAX, 1)[0]?.die()
    }
  }

  async #join(inThread: boolean): Promise<void> {
    if (this.#followers.length < FOLLOWERS_MAX) this.#followers.push(await joined(this.#store, this.#followed, inThread))
  }
}

/** Another thread's where the store can be shared; else one that starts to follow later than the others. */
async function joined(store: Store, { name, plugin }: Followed, inThread: boolean): Promise<Follower> {
  if (store.share === undefined) {
    const late = new Projection(store)
    return { store, shown: () => late.shown(), die: () => late.stop() }
  }
  const port = store.share()
  if (!inThread) {
    const other = await plugin.join?.(port)
    assert.ok(other !== undefined)
    const projection = new Projection(other)
    return { store: other, shown: () => projection.shown(), die: () => other.close() }
  }
  const url = new URL('./follower.fixture.ts', import.meta.url)
  const worker = new Worker(url, { workerData: { port, name }, transferList: [port] })
  await once(worker, 'message')
  return { store: null, shown: () => shownBy(worker), die: () => worker.terminate() }
}

async function shownBy(worker: Worker): Promise<Views> {
  const answer = once(worker, 'message')
  worker.postMessage('show', [])
  const [views] = await answer
  return views
}

async function viewsOf(store: Store): Promise<Views> {
  const views: Record<string, ProjectedScenario> = {}
  for (const name of await store.scenarios()) {
    const scenario = store.scenario(name)
    const [step = -1] = steps(await scenario.commits({ before: Number.MAX_SAFE_INTEGER, limit: 1 }))
    const [newest] = await scenario.records({ before: Number.MAX_SAFE_INTEGER, limit: 1 })
    views[name] = { step, records: newest?.sequence ?? 0, mode: (await scenario.settings()).training_mode }
  }
  return views
}
