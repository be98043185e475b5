/** Whatever a chain was made of, the totals beside its rows say what all its rows read together say. */
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { commit } from '../../conformance/store-samples.ts'
import { keptChain, storeOf, type KeptChain } from '../../test/support/chain.ts'
import { isObject, type Commit, type Json, type ListedRow, type Release, type ScenarioStore } from '../contract/index.ts'
import { madeRelease, promotionOf, rejectionOf } from '../presentation/index.ts'
import { catalogOf, isPublished, isReleased, listedCatalog, pulledRelease, releaseWithoutRequires } from '../releases/index.ts'
import { catalogRows, listedRows } from './catalog.ts'
import { History } from './history.ts'
import { followRows, readHistory, withTotals } from './read-history.ts'
import { relatedRows } from './related.ts'
import { ScenarioReleases } from './releases.ts'
import { SKIPPED } from '../training/index.ts'

const COMPONENTS = ['harness', 'weights'] as const
const component = fc.constantFrom(...COMPONENTS)
const seed = fc.nat({ max: 1000 })
/** What the next row is: which row it names is chosen by a number, among those there are. */
const act = fc.oneof(
  fc.record({ verb: fc.constant('publish' as const), component, asks: fc.option(fc.constantFrom('mail', 'disk')) }),
  fc.record({ verb: fc.constant('hold' as const), component, asks: fc.option(fc.constantFrom('mail', 'key')) }),
  fc.record({ verb: fc.constant('reject' as const), component }),
  fc.record({ verb: fc.constant('fail' as const), component }),
  fc.record({ verb: fc.constant('promote' as const), at: seed }),
  fc.record({ verb: fc.constant('rollback' as const), at: seed }),
  fc.record({ verb: fc.constant('turn down' as const), at: seed }),
  fc.record({ verb: fc.constant('ship' as const) }),
  fc.record({ verb: fc.constant('offer' as const), component, asks: fc.constant(null) }),
  /** Of any release that was ever provisional: one that ended already does not end again. */
  fc.record({ verb: fc.constant('refute' as const), at: seed, component }),
  fc.record({ verb: fc.constant('withdraw' as const), at: seed }),
  /** Rows of an import name any release as parent, and may have made none. */
  fc.record({ verb: fc.constant('import' as const), at: seed, component, isMade: fc.boolean() }),
)
type Act = typeof act extends fc.Arbitrary<infer T> ? T : never

const life = fc.record({
  acts: fc.array(act, { maxLength: 40, size: 'max' }),
  isComposed: fc.boolean(),
  /** From this row on they lie in the store without totals. */
  bareFrom: fc.nat({ max: 45 }),
})

it('is the same from the totals and from all rows', async () => {
  await fc.assert(
    fc.asyncProperty(life, async ({ acts, isComposed, bareFrom }) => {
      const rows = chainOf(acts, isComposed)
      for (const listed of isComposed ? ['harness', 'weights'] : [undefined]) {
        const landed = await landedChain(rows, listed, bareFrom)
        const anew = new History(listed)
        await followRows(await storeOf(rows), anew, true)
        const { history } = landed
        expect(history.totals).toEqual(anew.totals)
        expect([history.step, history.lastTrained?.step]).toEqual([anew.step, anew.lastTrained?.step])
        for (const name of COMPONENTS) expect(history.latest(name)?.step).toBe(anew.latest(name)?.step)
        const { offered, withdrawn } = provisionalIn(rows)
        for (const read of [history, anew]) {
          expect(read.provisional?.row.release).toEqual(offered?.release)
          expect(read.totals?.provisional.withdrawn).toEqual(withdrawn)
          expect(read.totals?.rejected).toEqual(rejectedIn(rows))
          expect(read.head.row.release).toEqual(rows.findLast(isPublished)?.release)
        }
        await expectCatalog(landed, rows, listed)
        for (const name of ['', ...COMPONENTS]) expect(history.publications(name)).toBe(publications(rows, name))
        await expectRequires(landed, rows, listed)
      }
    }),
    { numRuns: 100 },
  )
})

/** Each row lands as it does in a service; what is bare is followed when the chain is read again. */
async function landedChain(rows: readonly Commit[], listed: string | undefined, bareFrom: number): Promise<KeptChain> {
  const { store } = await keptChain(rows.slice(0, 1), listed)
  const history = await readHistory(store, listed)
  for (const row of rows.slice(1)) {
    if (row.step >= bareFrom) await store.commit(row)
    else {
      const whole = await withTotals(store, history, row)
      await store.commit(whole)
      history.follow(whole)
    }
  }
  return chainIn(store, listed)
}

async function chainIn(store: ScenarioStore, listed: string | undefined): Promise<KeptChain> {
  const history = await readHistory(store, listed)
  return { store, history, releases: new ScenarioReleases(history, () => store), wholeRows: (page) => store.commits(page) }
}

async function expectCatalog(chain: KeptChain, rows: readonly Commit[], listed: string | undefined): Promise<void> {
  const whole = await chain.wholeRows({ after: -1, limit: 100 })
  expect(await catalogRows(chain, whole)).toEqual(catalogOf(rows))
  const catalog = listedCatalog(rows, listed)
  expect(chain.history.count).toBe(catalog.length)
  expect(await listedRows(chain, { step: 0 }, 100)).toEqual(catalog.map((row, place) => ({ row, place })))
  const last = catalog.length - 1
  const [placed] = await listedRows(chain, { place: last }, 1)
  expect(placed).toEqual({ row: catalog[last], place: last })
  // What is served as a page about the newest row shows it.
  const served = catalog.findLastIndex(({ result, pending }) => result === 'published' && !pending)
  expect((await relatedRows(chain, placed?.row ?? null)).get(served)?.step).toBe(catalog[served]?.step)
}

it('gives a page the rows that it would find among all of them', async () => {
  const own = life.map(({ acts, ...more }) => ({ ...more, acts: acts.filter(({ verb }) => verb !== 'import') }))
  await fc.assert(
    fc.asyncProperty(own, async ({ acts, isComposed }) => {
      const rows = chainOf(acts, isComposed)
      for (const listed of isComposed ? ['harness', 'weights'] : [undefined]) {
        const chain = await keptChain(rows, listed)
        const all = new Map([...listedCatalog(rows, listed).entries()].filter(([, row]) => madeRelease(row) || row.operation === 'reject'))
        for (const { row } of await listedRows(chain, { step: 0 }, 100))
          expect(seenFrom(row, await relatedRows(chain, row))).toEqual(seenFrom(row, all))
      }
    }),
    { numRuns: 100 },
  )
})

/** What the page about a row reads in others: their places, and what became of those that it names. */
function seenFrom(row: ListedRow, among: ReadonlyMap<number, ListedRow>): unknown {
  const places = (isMeant: (other: ListedRow) => boolean): readonly number[] =>
    [...among].flatMap(([place, other]) => (isMeant(other) ? [place] : []))
  const children = madeRelease(row) ? places((other) => madeRelease(other) && other.parent_release_id === row.release_id) : []
  const again = madeRelease(row) ? places((other) => other.rollback_target_release_id === row.release_id) : []
  const named = [row.release_id, row.parent_release_id, row.rollback_target_release_id].map((id) =>
    places((other) => other.release_id === id).slice(0, 1),
  )
  const shown = [...children, ...again, ...named.flat()].flatMap((place) => among.get(place) ?? [])
  const served = places(({ result, pending }) => result === 'published' && !pending).at(-1)
  const reviews = [row, ...shown].map((each) => [promotionOf, rejectionOf].map((find) => find([...among.values()], each)?.step))
  return { children, again, named, served, reviews }
}

/** Over all rows at once, which the service does not hold. */
async function expectRequires({ releases }: KeptChain, rows: readonly Commit[], listed: string | undefined): Promise<void> {
  for (const { release } of rows.filter(isReleased)) {
    const { requires, evaluatedAt, release_id } = await pulledRelease(releases, release.release_id)
    const chain = treeChain(rows, release.release_id, listed)
    const asked = chain.toReversed().flatMap(asksOf)
    expect(requires.map(({ name }) => name)).toEqual([...new Set(asked)])
    const made = treeChain(rows, release_id, listed).find(({ operation }) => operation !== 'promote' && operation !== 'rollback')
    expect(evaluatedAt).toBe(made?.step ?? null)
    const without = chain[chain.findLastIndex((row) => asksOf(row).length > 0) + 1]?.release?.release_id ?? null
    expect(await releaseWithoutRequires(releases, release.release_id, listed)).toBe(without)
  }
}

function treeChain(rows: readonly Commit[], releaseId: string, listed: string | undefined): readonly Commit[] {
  const makers = rows.filter(isReleased).filter(({ operation }) => operation !== 'reject')
  const made = new Map(makers.map((row) => [row.release.release_id, row]))
  const chain: Commit[] = []
  for (let row = made.get(releaseId); row !== undefined;) {
    chain.push(row)
    const copied = made.get(row.rollback_target_release_id ?? '')
    const isSame = listed === undefined || row.release.components?.[listed] === copied?.release.components?.[listed]
    row = copied !== undefined && isSame ? copied : made.get(row.release.parent_release_id ?? '')
  }
  return chain
}

function asksOf({ metrics }: Commit): readonly string[] {
  const request = metrics['training_request']
  const items: Json = isObject(request) ? (request['requires'] ?? []) : []
  return Array.isArray(items)
    ? items.flatMap((item: Json) => (isObject(item) && typeof item['name'] === 'string' ? [item['name']] : []))
    : []
}

const rejectedIn = (rows: readonly Commit[]): readonly unknown[] =>
  rows.filter(({ operation }) => operation === 'reject').map(({ step, release }) => ({ step, content_id: release?.content_id }))

/** By reading backwards: nothing was published since, and no row says that it ended. */
function provisionalIn(rows: readonly Commit[]): { offered: Commit | undefined; withdrawn: readonly string[] } {
  const since = rows.slice(rows.findLastIndex(isPublished) + 1)
  const endsOf = (step: number): readonly Commit[] =>
    since.filter((row) => row.step > step && row.metrics['provisional_ended'] !== undefined && endedIn(row).step === step)
  const offers = since.filter((row) => row.pending && isObject(row.metrics['provisional']))
  const isCurrentAt = (offer: Commit, step: number): boolean => offers.findLast((each) => each.step < step) === offer
  const ended = offers.flatMap((offer) =>
    endsOf(offer.step)
      .filter(({ step }) => isCurrentAt(offer, step))
      .slice(0, 1),
  )
  const last = offers.at(-1)
  const isOver = last !== undefined && ended.some((row) => endedIn(row).step === last.step)
  return {
    offered: isOver ? undefined : last,
    withdrawn: ended
      .toSorted((one, other) => one.step - other.step)
      .flatMap((row) => (endedIn(row).because === 'withdrawn' ? [endedIn(row).content_id] : [])),
  }
}

function endedIn({ metrics }: Commit): { step: number; because: string; content_id: string } {
  const { step, because, content_id } = Object(metrics['provisional_ended'])
  return { step, because, content_id }
}

function publications(rows: readonly Commit[], name: string): number {
  const contents = rows.filter(isPublished).map(({ release }) => release.components?.[name] ?? release.content_id)
  return contents.filter((content, at) => at > 0 && content !== contents[at - 1]).length
}

// ── chains ───────────────────────────────────────────────────────────────────────────────────

function chainOf(acts: readonly Act[], isComposed: boolean): readonly Commit[] {
  const rows: Commit[] = [{ ...commit(0), release: releaseAt(0, null, isComposed ? { harness: 'h', weights: 'w' } : null) }]
  for (const each of acts) rows.push(nextRow(rows, each, isComposed))
  return rows
}

function nextRow(rows: readonly Commit[], each: Act, isComposed: boolean): Commit {
  const step = rows.length
  const head = rows.findLast(isPublished)?.release ?? null
  const row = { ...commit(step), recorded_at: step }
  const own = 'component' in each && isComposed ? { component: each.component } : {}
  const changed = (name: string): Parts | null => (isComposed ? { ...partsOf(head), [name]: `${name} ${step}` } : null)
  if (each.verb === 'reject') return { ...row, ...own, outcome: 'rejected' }
  if (each.verb === 'fail') return { ...row, ...own, outcome: 'failed', metrics: { skipped: SKIPPED.step } }
  if (each.verb === 'ship') return { ...row, operation: 'shipped', release: releaseAt(step, head, changed('harness')) }
  if (each.verb === 'import') {
    const parent = chosen(rows.filter(isReleased), each.at)?.release ?? null
    return {
      ...row,
      ...own,
      outcome: each.isMade ? 'published' : 'skipped',
      release: each.isMade ? releaseAt(step, parent, changed(each.component)) : null,
    }
  }
  if (each.verb === 'refute' || each.verb === 'withdraw') {
    const target = chosen(
      rows.filter(isReleased).filter(({ metrics }) => metrics['provisional'] !== undefined),
      each.at,
    )
    if (target === undefined) return { ...row, ...own, outcome: 'rejected' }
    const { release_id, content_id } = target.release
    const because = each.verb === 'withdraw' ? 'withdrawn' : 'refuted'
    const ended = {
      ...row,
      outcome: 'rejected',
      metrics: { provisional_ended: { step: target.step, release_id, content_id, because } },
    } as const
    return each.verb === 'refute' ? { ...ended, ...own } : { ...ended, operation: 'withdraw', rollback_target_release_id: release_id }
  }
  if (each.verb === 'turn down') {
    const held = chosen(
      rows.filter(isReleased).filter((one) => one.pending && one.metrics['provisional'] === undefined && !isReviewed(rows, one)),
      each.at,
    )
    if (held === undefined) return { ...row, ...own, outcome: 'rejected' }
    const { release } = held
    return {
      ...row,
      operation: 'reject',
      outcome: 'rejected',
      release,
      rollback_target_release_id: release.release_id,
      metrics: { reason: 'no' },
    }
  }
  if (each.verb === 'promote' || each.verb === 'rollback') {
    const target = chosen(
      rows
        .filter(isReleased)
        .filter(({ pending }) => pending === (each.verb === 'promote'))
        .filter((one) => !isReviewed(rows, one, 'reject') && one.operation !== 'reject'),
      each.at,
    )
    if (target === undefined) return { ...row, ...own, outcome: 'skipped' }
    const brought =
      each.verb === 'promote'
        ? { [target.component ?? '']: partsOf(target.release)[target.component ?? ''] ?? '' }
        : partsOf(target.release)
    const release = releaseAt(step, head, isComposed ? { ...partsOf(head), ...brought } : null, target.release.content_id)
    return { ...row, operation: each.verb, release, rollback_target_release_id: target.release.release_id }
  }
  const asks = each.asks === null ? {} : { training_request: { requires: [{ name: each.asks, kind: 'service' }] } }
  const isHeld = each.verb === 'hold' || each.verb === 'offer'
  return {
    ...row,
    ...own,
    metrics: { ...asks, ...(each.verb === 'offer' && { provisional: { gain: 0.1 } }) },
    release: releaseAt(step, head, changed(each.component)),
    pending: isHeld,
    outcome: isHeld ? 'pending' : 'published',
  }
}

/** A person decides once. */
const isReviewed = (rows: readonly Commit[], { release }: Commit, ...by: readonly Commit['operation'][]): boolean =>
  rows.some(
    ({ operation, rollback_target_release_id: target }) =>
      target === release?.release_id && (by.length === 0 ? operation === 'promote' || operation === 'reject' : by.includes(operation)),
  )

type Parts = Readonly<Record<string, string>>

const partsOf = (release: Release | null): Parts => release?.components ?? {}

const chosen = <T>(from: readonly T[], at: number): T | undefined => from[at % Math.max(1, from.length)]

function releaseAt(step: number, parent: Release | null, components: Parts | null, content?: string): Release {
  const content_id = components === null ? (content ?? `content ${step}`) : JSON.stringify(components)
  return { release_id: `r${step}`, parent_release_id: parent?.release_id ?? null, content_id, ...(components && { components }) }
}
