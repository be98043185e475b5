/** What a scenario keeps of its rows, and what following them costs. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import recordOnly from '../../plugins/recipes/record-only/index.ts'
import memoryStore from '../../plugins/stores/memory/index.ts'
import { commit } from '../../conformance/store-samples.ts'
import { wrapScenario, wrapStore } from '../../test/fixtures/wrap-store.ts'
import { temporaryFolder } from '../../test/support/folder.ts'
import { ROOM, servicesInMemory } from '../../test/support/services.ts'
import type { Commit, Release, Store } from '../contract/index.ts'
import { catalogOf, catalogRow, listedCatalog, MARKS_MAX } from '../releases/index.ts'
import { SKIPPED } from '../training/index.ts'
import { listedReleases, listedRows } from './catalog.ts'
import { ScenarioFiles } from './files.ts'
import { History } from './history.ts'
import { Registry } from './registry.ts'
import type { Scenario } from './scenario.ts'

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

function historyOf(followed: readonly Commit[], component?: string): History {
  const history = new History(component)
  for (const each of followed) history.follow(each)
  return history
}

describe('the rows a scenario keeps in memory', () => {
  it('are those that made a release, without what they consumed, measured or left behind, and the latest of each trainer', () => {
    const history = historyOf(rows, 'harness')
    expect(history.released).toEqual(
      rows.filter(({ step }) => step !== 3).map((each) => ({ ...each, consumed_ids: [], metrics: {}, state: {} })),
    )
    expect([history.latest('harness'), history.latest('weights'), history.lastTrained]).toEqual([rows[4], rows[2], rows[4]])
    expect(history.latest('')).toBeUndefined()
  })

  it('hold what a release asks of a machine, and where weights lie that live in an engine', () => {
    const requires = [{ name: 'KEY', kind: 'env' }]
    const asked = { training_request: { id: 'i', text: 'x'.repeat(4000), requires }, samples_kept: 2 }
    const live = { live_weights: 'weights/1', error: 'x'.repeat(4000) }
    const [first, second] = [release('r1', 'r0'), release('r2', 'r1')]
    const published = [row(1, { metrics: asked, release: first }), row(2, { metrics: live, release: second })]
    const history = historyOf([created, ...published])
    expect(history.released.slice(1).map(({ metrics }) => metrics)).toEqual([
      { training_request: { requires } },
      { live_weights: 'weights/1' },
    ])
  })

  it('leave behind what the next step of their trainer is decided by', () => {
    const failed = { component: 'weights', outcome: 'failed', metrics: { skipped: SKIPPED.step } } as const
    const history = historyOf([...rows, row(7, failed), row(8, failed)])
    expect(history.trained('harness')).toEqual({ steps: 3, failures: 0, streak: 0, suspicions: 0, triedAt: 4 })
    expect(history.trained('weights')).toEqual({ steps: 3, failures: 2, streak: 2, suspicions: 0, triedAt: 8 })
    expect(history.trained('')).toEqual({ steps: 0, failures: 0, streak: 0, suspicions: 0, triedAt: 0 })
  })

  it('say of every row what all rows read together say', () => {
    for (const upTo of rows.keys()) {
      const known = rows.slice(0, upTo + 1)
      const history = historyOf(known, 'harness')
      expect(known.map((each) => catalogRow(each, history))).toEqual(catalogOf(known))
      const listed = listedCatalog(known, 'harness')
      for (const { release_id, composed_release_id = release_id } of listed) expect(history.pulledId(composed_release_id)).toBe(release_id)
    }
  })

  it('count how often what is served of a component changed, also with a row that lands', () => {
    const history = historyOf(rows.slice(0, 6))
    expect([history.publications('weights'), history.publications('harness'), history.publications('')]).toEqual([1, 2, 3])
    expect([history.publications('weights', rows[6]), history.publications('harness', rows[6])]).toEqual([2, 3])
    for (const each of rows.slice(6)) history.follow(each)
    expect([history.publications('weights', rows[6]), history.publications('harness')]).toEqual([2, 3])
  })

  it('count a row once', () => {
    const history = historyOf([...rows, ...rows])
    expect(history.released.map(({ step }) => step)).toEqual([0, 1, 2, 4, 5, 6])
    expect([history.step, history.trained('harness').steps, history.places.count]).toEqual([6, 3, 7])
  })
})

describe('steps that publish nothing', () => {
  const OUTCOMES = ['rejected', 'skipped', 'failed'] as const
  const idle = (step: number): Commit =>
    row(step, { component: step % 3 === 0 ? 'weights' : 'harness', outcome: OUTCOMES[step % OUTCOMES.length] ?? 'failed' })

  it('leave nothing in memory, however many there are', () => {
    const STEPS = 100_000
    const BYTES_PER_STEP_MAX = 10
    const history = historyOf(rows, 'harness')
    const followUpTo = (end: number): void => {
      for (let step = history.step + 1; step < end; step += 1) history.follow(idle(step))
    }
    followUpTo(STEPS)
    const before = heapBytes()
    followUpTo(2 * STEPS)
    expect(heapBytes() - before).toBeLessThan(STEPS * BYTES_PER_STEP_MAX)
    expect(history.released).toHaveLength(rows.length - 1)
    expect(history.places.size).toBeLessThan(rows.length + MARKS_MAX)
    expect(history.trained('harness').steps + history.trained('weights').steps).toBe(2 * STEPS - 3)
    expect([history.step, history.lastTrained?.step, history.current]).toEqual([2 * STEPS - 1, 2 * STEPS - 1, 6])
  })

  /** Long enough for marks to go, twice; a part of it is of the other component alone, and a few made a release. */
  const long: readonly Commit[] = Array.from({ length: 5 * MARKS_MAX }, (_, step) => {
    if (step < rows.length) return rows[step] ?? idle(step)
    if (step % 700 === 0) return row(step, { component: 'harness', outcome: 'published', release: releaseOf(step) })
    return step > 2000 && step < 4000 ? { ...idle(step), component: 'weights' } : idle(step)
  })

  it.each(['harness', undefined])(
    'are found in the store by their place in the catalog and by their step (component %s)',
    async (component) => {
      const history = historyOf(long, component)
      const catalog = listedCatalog(long, component)
      const store = countedRows(long)
      const scenario = { history, wholeRows: store.wholeRows }
      expect(history.places.count).toBe(catalog.length)
      const READS_MAX = 50
      const places = [...catalog.keys()].filter((place) => place % 97 === 0 || place > catalog.length - 3)
      for (const place of places) {
        store.reset()
        const found = await listedRows(scenario, { place }, 5)
        expect(store.handed()).toBeLessThanOrEqual(READS_MAX)
        expect(found).toEqual(catalog.slice(place, place + 5).map((each, at) => ({ row: each, place: place + at })))
      }
      for (const step of [0, 1, 699, 700, 2001, 3000, 3999, 4000, 5 * MARKS_MAX - 1, 5 * MARKS_MAX, 1e15]) {
        const first = catalog.findIndex((each) => each.step >= step)
        const [found] = await listedRows(scenario, { step }, 1)
        expect(found).toEqual(first === -1 ? undefined : { row: catalog[first], place: first })
      }
      expect(await listedRows(scenario, { place: catalog.length }, 1)).toEqual([])
    },
  )

  it('are no part of what a page holds beside the row that it is about', () => {
    const history = historyOf(long, 'harness')
    const made = listedCatalog(long, 'harness').flatMap((each, place) => (each.result === 'published' || each.pending ? [place] : []))
    expect([...listedReleases({ history }).keys()]).toEqual(made)
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

/** Pages of those rows, and how many were handed out. */
function countedRows(all: readonly Commit[]): { wholeRows: Scenario['wholeRows']; handed: () => number; reset: () => void } {
  let handed = 0
  return {
    wholeRows(page) {
      const found = 'after' in page ? all.slice(page.after + 1, page.after + 1 + page.limit) : []
      handed += found.length
      return Promise.resolve(found)
    },
    handed: () => handed,
    reset: () => (handed = 0),
  }
}

describe('a long history', () => {
  const ROWS = 10_000
  const PER_ROW_MAX = 40

  it('is read once when its scenario is loaded, and neither read nor copied when a row lands', async () => {
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

    counted.reset()
    const again = await Registry.open(services, ROOM)
    await again.use('long', async (scenario) => expect(scenario.history.step).toBe(ROWS - 1))
    expect(counted.rows()).toBeLessThanOrEqual(ROWS + 1)
    expect(counted.reads()).toBeLessThanOrEqual(ROWS * PER_ROW_MAX)

    counted.reset()
    const { list, kept } = await again.use('long', async ({ released }) => ({ list: released, kept: [...released] }))
    for (let turn = 0; turn < 10; turn += 1) {
      const { head } = await again.move('long', start.release_id, 'rollback')
      await again.move('long', other.release_id, 'rollback')
      expect(head.content_id).toBe(start.content_id)
    }
    expect([counted.rows(), counted.reads()]).toEqual([0, 0])
    await again.use('long', async ({ released }) => {
      expect(released).toBe(list)
      expect(kept.every((each, at) => released[at] === each)).toBe(true)
    })
    await again.close()
  })
})

/** A row that holds as little as a row can: what is kept of it would be the very object. */
const bare = (step: number, more: Partial<Commit> = {}): Commit => row(step, { consumed_ids: [], metrics: {}, state: {}, ...more })

/** Counts the commit rows that a store hands out, and every look at a field of one. */
function countingStore(inner: Store): { store: Store; rows: () => number; reads: () => number; reset: () => void } {
  let [handed, looks] = [0, 0]
  const counted = (each: Commit): Commit =>
    new Proxy(each, {
      get(target, name): unknown {
        looks += 1
        return Reflect.get(target, name)
      },
    })
  const store = wrapStore(inner, {
    scenario(name) {
      const scenario = inner.scenario(name)
      return wrapScenario(scenario, {
        async commits(page) {
          const found = await scenario.commits(page)
          handed += found.length
          return found.map(counted)
        },
      })
    },
  })
  return { store, rows: () => handed, reads: () => looks, reset: () => ([handed, looks] = [0, 0]) }
}
