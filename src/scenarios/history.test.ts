/** What a scenario keeps of its rows, what following them costs, and what reading it again reads. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import recordOnly from '../../plugins/recipes/record-only/index.ts'
import memoryStore from '../../plugins/stores/memory/index.ts'
import { commit } from '../../conformance/store-samples.ts'
import { wrapScenario, wrapStore } from '../../test/fixtures/wrap-store.ts'
import { keptChain } from '../../test/support/chain.ts'
import { temporaryFolder } from '../../test/support/folder.ts'
import { ROOM, servicesInMemory } from '../../test/support/services.ts'
import type { Commit, Release, ScenarioStore, Store } from '../contract/index.ts'
import { catalogOf, listedCatalog } from '../releases/index.ts'
import { SKIPPED } from '../training/index.ts'
import { catalogRows, listedRows } from './catalog.ts'
import { checkTotals } from './check-totals.ts'
import { ScenarioFiles } from './files.ts'
import { History } from './history.ts'
import { readHistory, withTotals } from './read-history.ts'
import { Registry } from './registry.ts'

const release = (id: string, parent: string | null, components?: Release['components']): Release => ({
  release_id: id,
  parent_release_id: parent,
  content_id: `content of ${id}`,
  ...(components && { components }),
})
const row = (step: number, more: Partial<Commit> = {}): Commit => ({
  ...commit(step, [`x${step}`]),
  recorded_at: step,
  outcome: 'rejected',
  metrics: { notes: 'x'.repeat(1000), wins: step },
  state: { trainer: { steps: step } },
  ...more,
})
const created = row(0, { outcome: 'published', release: release('r0', null, { harness: 'h0', weights: 'w0' }) })
/** Two components by turns, one held and promoted, one rolled back. */
const rows: readonly Commit[] = [
  created,
  row(1, { component: 'harness', outcome: 'published', release: release('r1', 'r0', { harness: 'h1', weights: 'w0' }) }),
  row(2, { component: 'weights', outcome: 'published', release: release('r2', 'r1', { harness: 'h1', weights: 'w1' }) }),
  row(3, { component: 'harness' }),
  row(4, { component: 'harness', outcome: 'pending', pending: true, release: release('r4', 'r2', { harness: 'h2', weights: 'w1' }) }),
  moved(5, 'promote', 'r4', release('r5', 'r2', { harness: 'h2', weights: 'w1' })),
  moved(6, 'rollback', 'r1', release('r6', 'r5', { harness: 'h1', weights: 'w0' })),
]

function moved(step: number, operation: 'promote' | 'rollback', target: string, made: Release): Commit {
  return row(step, { operation, outcome: 'published', release: made, rollback_target_release_id: target })
}

/** Those that are kept of a row that published with these. */
const metricsKept = async (metrics: Commit['metrics']): Promise<Commit['metrics']> => {
  const published = row(1, { outcome: 'published', metrics, release: release('r1', 'r0') })
  return (await keptChain([created, published])).history.head.row.metrics
}

describe('what a scenario keeps in memory', () => {
  it('is the served row, without what it consumed, measured or left behind, and the latest row of each trainer', async () => {
    const { history } = await keptChain(rows, 'harness')
    expect(history.head.row).toMatchObject({ step: 6, release: rows[6]?.release, consumed_ids: [], metrics: {}, state: {} })
    expect([history.latest('harness'), history.latest('weights'), history.lastTrained]).toMatchObject([rows[4], rows[2], rows[4]])
    expect(history.latest('')).toBeUndefined()
  })

  it('has what a release asks of a machine, and where weights lie that live in an engine', async () => {
    const requires = [{ name: 'KEY', kind: 'env' }]
    const asked = { training_request: { id: 'i', text: 'x'.repeat(4000), requires }, samples_kept: 2 }
    const live = { live_weights: 'weights/1', error: 'x'.repeat(4000) }
    expect(await metricsKept(asked)).toEqual({ training_request: { requires } })
    expect(await metricsKept(live)).toEqual({ live_weights: 'weights/1' })
  })

  it('has what the next step of each trainer is decided by', async () => {
    const failed = { component: 'weights', outcome: 'failed', metrics: { skipped: SKIPPED.step } } as const
    const { history } = await keptChain([...rows, row(7, failed), row(8, failed)])
    expect(history.trained('harness')).toEqual({ steps: 3, failures: 0, streak: 0, suspicions: 0, triedAt: 4 })
    expect(history.trained('weights')).toEqual({ steps: 3, failures: 2, streak: 2, suspicions: 0, triedAt: 8 })
    expect(history.trained('')).toEqual({ steps: 0, failures: 0, streak: 0, suspicions: 0, triedAt: 0 })
  })

  it('counts how often what is served of a component changed, also with a row that lands', async () => {
    const { history, store } = await keptChain(rows.slice(0, 6))
    const [last = created] = rows.slice(6)
    expect([history.publications('weights'), history.publications('harness'), history.publications('')]).toEqual([1, 2, 3])
    expect([history.publications('weights', last), history.publications('harness', last)]).toEqual([2, 3])
    history.follow(await withTotals(store, history, last))
    expect([history.publications('weights', last), history.publications('harness')]).toEqual([2, 3])
  })

  it('counts a row once', async () => {
    const { history, store } = await keptChain(rows)
    const before = history.totals
    for (const each of await store.commits({ after: -1, limit: 100 })) history.follow(each)
    expect([history.step, history.totals, history.count]).toEqual([6, before, 7])
  })
})

describe('rows in the store', () => {
  it('say each what all rows read together say, however far the history goes', async () => {
    for (const upTo of rows.keys()) {
      const known = rows.slice(0, upTo + 1)
      const chain = await keptChain(known, 'harness')
      const whole = await chain.wholeRows({ after: -1, limit: 100 })
      expect(await catalogRows(chain, whole)).toEqual(catalogOf(known))
      expect(await catalogRows(chain, whole.toReversed())).toEqual(catalogOf(known).toReversed())
      const listed = listedCatalog(known, 'harness')
      expect((await listedRows(chain, { step: 0 }, 100)).map((each) => each.row)).toEqual(listed)
      for (const { release_id, composed_release_id = release_id } of listed)
        expect((await chain.releases.find(composed_release_id))?.made.as).toBe(release_id)
    }
  })

  const OUTCOMES = ['rejected', 'skipped', 'failed'] as const
  const idle = (step: number): Commit =>
    row(step, { component: step % 3 === 0 ? 'weights' : 'harness', outcome: OUTCOMES[step % OUTCOMES.length] ?? 'failed' })
  /** A part of it is of the other component alone, and a few made a release. */
  const long: readonly Commit[] = Array.from({ length: 5000 }, (_, step) => {
    if (step < rows.length) return rows[step] ?? idle(step)
    if (step % 700 === 0) return row(step, { component: 'harness', outcome: 'published', release: releaseOf(step) })
    return step > 2000 && step < 4000 ? { ...idle(step), component: 'weights' } : idle(step)
  })

  it.each(['harness', undefined])('are found by their place in the catalog and by their step (component %s)', async (component) => {
    const { store, ...chain } = await keptChain(long, component)
    const counted = countedScenario(store)
    const scenario = { ...chain, wholeRows: (page: Parameters<typeof chain.wholeRows>[0]) => counted.store.commits(page) }
    const catalog = listedCatalog(long, component)
    expect(chain.history.count).toBe(catalog.length)
    const READS_MAX = 50
    const places = [...catalog.keys()].filter((place) => place % 97 === 0 || place > catalog.length - 3)
    for (const place of places) {
      counted.reset()
      const found = await listedRows(scenario, { place }, 5)
      expect(counted.rows()).toBeLessThanOrEqual(READS_MAX)
      expect(found).toEqual(catalog.slice(place, place + 5).map((each, at) => ({ row: each, place: place + at })))
    }
    for (const step of [0, 1, 699, 700, 2001, 3000, 3999, 4000, 4999, 5000, 1e15]) {
      const first = catalog.findIndex((each) => each.step >= step)
      const [found] = await listedRows(scenario, { step }, 1)
      expect(found).toEqual(first === -1 ? undefined : { row: catalog[first], place: first })
    }
    expect(await listedRows(scenario, { place: catalog.length }, 1)).toEqual([])
  })
})

/** Each changes the tree of the harness. */
const releaseOf = (step: number): Release =>
  release(`r${step}`, step === 700 ? 'r6' : `r${step - 700}`, { harness: `h${step}`, weights: 'w0' })

/** After everything unreachable was collected. */
function heapBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect === 'function') collect()
  return process.memoryUsage().heapUsed
}

/** By turns: published, held, rejected, published by the other component. */
const mixed = (at: number): Commit => {
  if (at === 0) return created
  const component = at % 4 === 3 ? 'weights' : 'harness'
  const made = release(`r${at}`, `r${at < 4 ? 0 : at - ((at % 4) + 1)}`, { harness: `h${at}`, weights: `w${at}` })
  const given = { component, metrics: {}, state: {}, consumed_ids: [], release: made } as const
  if (at % 4 === 1) return row(at, { ...given, outcome: 'pending', pending: true })
  return row(at, at % 4 === 2 ? { ...given, outcome: 'rejected', release: null } : { ...given, outcome: 'published' })
}

describe('a hundred thousand steps, half of them releases', () => {
  const STEPS = 100_000
  it('leave nothing in memory, and are loaded by reading a few rows', async () => {
    const history = new History('harness')
    let newest: Commit = created
    const followUpTo = async (end: number): Promise<void> => {
      for (let at = history.step + 1; at < end; at += 1) {
        newest = await withTotals(NO_RELEASES, history, mixed(at))
        history.follow(newest)
      }
    }
    await followUpTo(STEPS / 10)
    const before = heapBytes()
    await followUpTo(STEPS)
    expect(heapBytes() - before).toBeLessThan(STEPS)
    expect(JSON.stringify(newest.totals).length).toBeLessThan(700)

    const store = (await memoryStore.plugin.make({})).scenario('long')
    for (let at = 0; at < STEPS - 1; at += 1) await store.commit(mixed(at))
    await store.commit(newest)
    const counted = countedScenario(store)
    const again = await readHistory(counted.store, 'harness')
    expect(again.totals).toEqual(history.totals)
    expect([again.step, again.head.row.step]).toEqual([STEPS - 1, history.head.row.step])
    expect(counted.rows()).toBeLessThanOrEqual(5)
  })
})

/** No row names a release but the served one. */
const NO_RELEASES: Pick<ScenarioStore, 'release'> = { release: () => Promise.resolve(null) }

describe('rows without totals', () => {
  const HALF = 250
  const long = [...rows, ...Array.from({ length: 2 * HALF }, (_, at) => row(at + rows.length, { component: 'harness' }))]

  it('are followed once, and then have them', async () => {
    const { store, history } = await keptChain(long, 'harness')
    const counted = countedScenario(store)
    expect((await readHistory(counted.store, 'harness')).totals).toEqual(history.totals)
    expect(counted.rows()).toBeLessThanOrEqual(5)
  })

  it('after rows that have them are followed from there, as after a crash half-way', async () => {
    const { store } = await keptChain(long.slice(0, HALF), 'harness')
    for (const each of long.slice(HALF)) await store.commit(each)
    const counted = countedScenario(store)
    const history = await readHistory(counted.store, 'harness')
    expect(counted.rows()).toBeLessThanOrEqual(long.length - HALF + 30)
    expect(history.totals).toEqual((await keptChain(long, 'harness')).history.totals)
  })

  it('count as such when they are of another tree', async () => {
    const { store } = await keptChain(long, 'weights')
    expect((await readHistory(store, 'harness')).totals).toEqual((await keptChain(long, 'harness')).history.totals)
    expect((await readHistory(store, undefined)).totals).toEqual((await keptChain(long)).history.totals)
  })

  it('are believed against totals that contradict them', async () => {
    const { store, history } = await keptChain(long, 'harness')
    const [newest] = await store.commits({ before: 1e9, limit: 1 })
    const wrong = { ...newest?.totals, trained: [['weights', { ...history.trained('weights'), latest: 1 }]] }
    await store.keepTotals(new Map([[long.length - 1, wrong]]))
    expect((await readHistory(store, 'harness')).totals).toEqual(history.totals)
    expect(await store.commits({ before: 1e9, limit: 1 })).toEqual([newest])
  })
})

describe('a check of the totals', () => {
  it('finds nothing where they are what the rows say, and names each step where they are not', async () => {
    const store = await memoryStore.plugin.make({})
    const own = store.scenario('a')
    for (const each of rows) await own.commit(each)
    expect(await checkTotals(store)).toEqual([])
    await readHistory(own, 'harness')
    expect(await checkTotals(store)).toEqual([])
    const [second] = await own.commits({ after: 1, limit: 1 })
    await own.keepTotals(new Map([[2, { ...second?.totals, count: 7 }]]))
    expect(await checkTotals(store)).toEqual([
      { scenario: 'a', agent_record_id: '', problem: 'step 2: its totals are not what the rows say' },
    ])
    await own.commit(row(7))
    await own.commit({ ...row(8), totals: { ...second?.totals } })
    expect((await checkTotals(store)).map(({ problem }) => problem)).toContain('step 7 has no totals, and a later one has')
  })
})

describe('a long history', () => {
  const ROWS = 10_000

  it('is read once when its scenario is first loaded, then no more, and a move reads only the rows it names', async () => {
    const inner = await memoryStore.plugin.make({})
    const counted = countingStore(inner)
    const more = { store: counted.store, files: new ScenarioFiles(temporaryFolder()) }
    const services = await servicesInMemory({ plain: recordOnly.plugin }, more)
    const registry = await Registry.open(services, ROOM)
    await registry.create('long', { release: null, recipe: null }, () => null)
    const start = await registry.use('long', async (scenario) => scenario.head())
    await registry.close()
    const own = inner.scenario('long')
    const other = await services.contents.seal(start.content_id, start, { step: 1, operation: 'train', at: 1 })
    await own.commit(bare(1, { outcome: 'published', release: other }))
    for (let step = 2; step < ROWS; step += 1) await own.commit(bare(step))

    const reads: number[] = []
    for (let turn = 0; turn < 2; turn += 1) {
      counted.reset()
      const again = await Registry.open(services, ROOM)
      await again.use('long', async (scenario) => {
        expect(scenario.history.step).toBe(ROWS - 1)
        await scenario.lane.run(() => Promise.resolve())
      })
      reads.push(counted.rows())
      await again.close()
    }
    expect(reads[0]).toBeLessThanOrEqual(ROWS + 40)
    expect(reads[1]).toBeLessThanOrEqual(10)

    const again = await Registry.open(services, ROOM)
    await again.use('long', async (scenario) => scenario.lane.run(() => Promise.resolve()))
    counted.reset()
    for (let turn = 0; turn < 10; turn += 1) {
      const { head } = await again.move('long', start.release_id, 'rollback')
      await again.move('long', other.release_id, 'rollback')
      expect(head.content_id).toBe(start.content_id)
    }
    expect(counted.rows()).toBeLessThanOrEqual(20 * 3)
    await again.close()
  })
})

const bare = (step: number, more: Partial<Commit> = {}): Commit => row(step, { consumed_ids: [], metrics: {}, state: {}, ...more })

/** Counts the commit rows that a store hands out. */
function countingStore(inner: Store): { store: Store; rows: () => number; reset: () => void } {
  const scenarios: ReturnType<typeof countedScenario>[] = []
  const store = wrapStore(inner, {
    scenario(name) {
      const counted = countedScenario(inner.scenario(name))
      scenarios.push(counted)
      return counted.store
    },
  })
  const rowsOf = (): number => scenarios.reduce((sum, each) => sum + each.rows(), 0)
  return { store, rows: rowsOf, reset: () => scenarios.forEach((each) => each.reset()) }
}

function countedScenario(inner: ScenarioStore): { store: ScenarioStore; rows: () => number; reset: () => void } {
  let handed = 0
  const counted = <T extends readonly unknown[]>(found: T): T => {
    handed += found.length
    return found
  }
  const store = wrapScenario(inner, {
    commits: async (page) => counted(await inner.commits(page)),
    chain: async (page) => counted(await inner.chain(page)),
    async head() {
      handed += 2
      return inner.head()
    },
    async release(id) {
      const found = await inner.release(id)
      handed += found === null ? 0 : 1
      return found
    },
  })
  return { store, rows: () => handed, reset: () => (handed = 0) }
}
