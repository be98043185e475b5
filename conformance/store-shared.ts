/** Conformance suite for a store that several processes have open at once. Each store that is opened here stands for a process. */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Store, StoreChange, StoreLease } from '../src/contract/index.ts'
import { entry, make, token } from './store-deployment.ts'
import { describeSharesOfMany } from './store-shares.ts'
import { AMPLE_BYTES, commit, counted, create, record, sequences, settled, steps, ten, type StoreSuite } from './store-samples.ts'
import { assertRefused, withFolder } from './support.ts'

const STORES = 4
const WRITERS_PER_STORE = 4
const RECORDS_PER_WRITER = 12
const STEPS = 8
/** Nothing here is about how fast it is; what was not told by then was left untold. */
const TOLD_MS_MAX = 20_000
const LOOK_AGAIN_MS = 10
/** Enough to ask once; on a busy machine nobody may answer in it. */
const BEHIND_MS = 100

/** `open` is called several times with one directory before any of the stores is closed. */
export function sharedStoreConformance(suite: StoreSuite): void {
  suite.describe('open several times', () => {
    describeWriting(suite)
    describeTelling(suite)
    describeRights(suite)
    describeSharesOfMany(suite, among(suite))
  })
}

type Stores = readonly [Store, Store, ...Store[]]
interface SharedPlace {
  readonly stores: Stores
  /** One more. */
  readonly open: () => Promise<Store>
}

/** Gives each test several stores over one directory, all opened at once. */
function among({ it, open }: StoreSuite, capacity_bytes = AMPLE_BYTES) {
  return (name: string, body: (place: SharedPlace) => Promise<void>): void =>
    it(name, () =>
      withFolder(async (directory) => {
        const opened: Store[] = []
        const another = async (): Promise<Store> => {
          const store = await open({ directory, capacity_bytes })
          opened.push(store)
          return store
        }
        try {
          const [first, second, ...others] = await Promise.all(counted(STORES).map(another))
          assert.ok(first !== undefined && second !== undefined)
          await body({ stores: [first, second, ...others], open: another })
        } finally {
          await Promise.all(opened.map((store) => store.close()))
        }
      }),
    )
}

function describeWriting(suite: StoreSuite): void {
  const test = among(suite)
  test('many writers leave no gap and share no number, and a reader with a cursor skips nothing', async ({ stores }) => {
    for (const name of ['a', 'b']) await create(stores[0], name)
    const total = STORES * WRITERS_PER_STORE * RECORDS_PER_WRITER
    const reading = ['a', 'b'].map((name) => readAlong(stores[1], name, total))
    const writers = stores.flatMap((store, place) => counted(WRITERS_PER_STORE).map((writer) => write(store, `${place}-${writer}`)))
    const written = (await Promise.all(writers)).flat()
    for (const name of ['a', 'b']) {
      const own = written.filter((each) => each.name === name).map((each) => each.sequence)
      assert.deepEqual(
        own.sort((x, y) => x - y),
        counted(total),
      )
    }
    for (const seen of await Promise.all(reading)) assert.deepEqual(seen, counted(total))
  })
  test('one record sent to all of them at once is stored once, and another one under its id nowhere', async ({ stores }) => {
    await create(stores[0], 'a')
    const answers = await Promise.all(stores.map((store) => store.scenario('a').append([record('r')])))
    for (const answer of answers) assert.deepEqual(sequences(answer), [1])
    const ends = await settled(stores.map((store, place) => store.scenario('a').append([record('s', { artifact_ref: String(place) })])))
    assert.equal(ends.filter((status) => status === 'fulfilled').length, 1)
    assert.equal((await stores[0].usage()).records, 2)
  })
  test('every step has one winner, its creation too, and the others leave nothing', async ({ stores }) => {
    for (const step of [0, ...counted(STEPS)]) {
      const rows = stores.map((_, place) => ({ ...commit(step, [`${step}-${place}`]), metrics: { place } }))
      const ends = await Promise.all(stores.map((store, place) => settled([store.scenario('a').commit(rows[place] ?? commit(step))])))
      assert.equal(ends.flat().filter((status) => status === 'fulfilled').length, 1)
      const winner = ends.findIndex(([status]) => status === 'fulfilled')
      assert.deepEqual((await stores[1].scenario('a').head())?.newest, rows[winner])
      for (const [place] of stores.entries())
        assert.equal(
          (await stores[0].scenario('a').commits({ after: -1, limit: 99, ids: [`${step}-${place}`] })).length,
          place === winner ? 1 : 0,
        )
    }
    assert.deepEqual(steps(await stores[1].scenario('a').commits({ after: -1, limit: 99 })), [0, ...counted(STEPS)])
  })
  test('a record is consumed once by a component, wherever it is committed', async ({ stores: [one, two] }) => {
    await create(one, 'a')
    await one.scenario('a').commit(commit(1, ['x']))
    await assertRefused('conflict', 'already_consumed', two.scenario('a').commit(commit(2, ['x'])))
    await two.scenario('a').commit(commit(2, ['y']))
    await assertRefused('conflict', 'already_consumed', one.scenario('a').commit(commit(3, ['y'])))
  })
  test('an append answers the step that landed elsewhere', async ({ stores: [one, two] }) => {
    await create(one, 'a')
    await two.scenario('a').append([record('1')])
    await one.scenario('a').commit(commit(1))
    assert.equal((await two.scenario('a').append([record('2')])).step, 1)
  })
  test('a name archived at one is gone at all, and free for all', async ({ stores: [one, two] }) => {
    await create(one, 'a')
    for (const store of [one, two]) await store.scenario('a').append([record(`of ${store === one ? 'one' : 'two'}`)])
    await one.archive('a')
    await assertRefused('unknown', 'unknown_scenario', two.scenario('a').append([record('late')]))
    await assertRefused('unknown', 'unknown_scenario', two.scenario('a').commit(commit(1)))
    await create(two, 'a')
    assert.deepEqual(sequences(await one.scenario('a').append([record('of one')])), [1])
  })
  among(suite, 30)('capacity is one for all of them', async ({ stores: [one, two] }) => {
    await create(one, 'a')
    for (const id of counted(4)) for (const store of [one, two]) await store.scenario('a').append([ten(`${id} ${store === one}`)])
    await until(async () => (await one.usage()).body_bytes <= 30)
    const { body_bytes, lost_bytes, lost_records, records } = await two.usage()
    assert.deepEqual([records, lost_records, body_bytes + lost_bytes], [8, lost_bytes / 10, 80])
    assert.deepEqual(await two.verify(() => undefined), [])
  })
}

function describeTelling(suite: StoreSuite): void {
  const test = among(suite)
  test('every change at one is told at all, the changes of a scenario in their order', async ({ stores }) => {
    const [one, two] = stores
    const told = stores.map(follow)
    await create(one, 'a')
    await one.scenario('a').append([record('1')])
    await two.scenario('a').append([record('2', { request_type: 'train' })])
    await two.scenario('a').commit(commit(1, ['1']))
    await one.scenario('a').commit(commit(2))
    await two.scenario('a').configure({ training_mode: 'manual' })
    for (const each of told) await until(() => isToldAll(each))
    await two.archive('a')
    await create(one, 'a')
    for (const each of told) {
      await until(() => each.filter(({ kind }) => kind === 'created').length >= 2)
      const kinds = each.map(({ kind }) => kind)
      assert.equal(kinds[0], 'created')
      assert.ok(kinds.indexOf('archived') < kinds.lastIndexOf('created'))
      assert.deepEqual(landedIn(each), [1, 2])
    }
  })
  test('what is appended at one is told at the others by its types', async ({ stores: [one, two] }) => {
    await create(one, 'a')
    const told = follow(two)
    await one.scenario('a').append([record('r', { request_type: 'report' }), record('t', { request_type: 'train' })])
    await until(() => typesIn(told).size > 0)
    assert.deepEqual(typesIn(told), new Set(['report', 'train']))
  })
  test('steps that land by turns are told at all in their order, and none is left out', async ({ stores }) => {
    await create(stores[0], 'a')
    const told = stores.map(follow)
    for (const step of counted(STEPS)) await (stores[step % STORES] ?? stores[0]).scenario('a').commit(commit(step))
    for (const each of told) {
      await until(() => landedIn(each).includes(STEPS))
      assert.deepEqual([...new Set(landedIn(each))], counted(STEPS))
    }
  })
  test('who serves says which step it follows: the others wait for it, name it where it does not, and forget it when it leaves', async ({
    stores,
  }) => {
    const [one, two, three] = stores
    const { members } = one
    if (members === undefined || two.members === undefined || three?.members === undefined) return
    await create(one, 'a')
    await two.members.join('two')
    await three.members.join('three')
    await one.scenario('a').commit(commit(1))
    const named = async (step: number): Promise<string> => String(await members.behind('a', step, BEHIND_MS))
    await until(async () => (await named(1)) === 'three,two')
    const told = [follow(two), follow(three)]
    const waiting = members.behind('a', 2, TOLD_MS_MAX)
    await one.scenario('a').commit(commit(2))
    for (const each of told) await until(() => landedIn(each).includes(2))
    two.members.followed('a', 2)
    await until(async () => (await named(2)) === 'three')
    await three.close()
    assert.deepEqual(await waiting, [])
    // An older step says nothing, and who does not serve is never waited for.
    two.members.followed('a', 1)
    assert.deepEqual(await members.behind('a', 2, TOLD_MS_MAX), [])
  })
  test('a token that is made or removed at one is told and read at all', async ({ stores: [one, two] }) => {
    const told = follow(two)
    await make(one.deployment, token('a'))
    await until(() => told.some(({ kind }) => kind === 'tokens'))
    assert.deepEqual(await two.deployment.tokens(), [token('a')])
    const back = follow(one)
    await two.deployment.changeToken({ name: 'a', before: token('a').digest, after: null }, entry('removed'))
    await until(() => back.some(({ kind }) => kind === 'tokens'))
    assert.deepEqual(await one.deployment.tokens(), [])
  })
  test('entries of the audit from all of them leave no gap, and a reader with a cursor skips none', async ({ stores }) => {
    const total = STORES * RECORDS_PER_WRITER
    const seen: number[] = []
    const reading = until(async () => {
      seen.push(...(await stores[1].deployment.audit({ after: seen.at(-1) ?? 0, limit: 7 })).map(({ sequence }) => sequence))
      return seen.length >= total
    }, 0)
    await Promise.all(
      stores.flatMap((store, place) => counted(RECORDS_PER_WRITER).map((turn) => store.deployment.addAudit(entry(`${place}-${turn}`)))),
    )
    await reading
    assert.deepEqual(seen, counted(total))
  })
  test('what is chosen at one is read at all, and forgotten only when none is open', async ({ stores, open }) => {
    const [one, two, ...others] = stores
    await create(one, 'a')
    await one.scenario('a').configure({ training_mode: 'manual' })
    assert.deepEqual(await two.scenario('a').settings(), { training_mode: 'manual' })
    await Promise.all([one, ...others].map((store) => store.close()))
    const later = await open()
    assert.deepEqual(await later.scenario('a').settings(), { training_mode: 'manual' })
    await Promise.all([two, later].map((store) => store.close()))
    assert.deepEqual(await (await open()).scenario('a').settings(), { training_mode: null })
  })
}

function describeRights(suite: StoreSuite): void {
  const test = among(suite)
  test('a lease is held at one of them, and free for the others once it is released or its store closed', async ({
    stores: [one, two, ...others],
  }) => {
    const first = await take(one)
    assert.equal(await two.lease('x'), null)
    await first.release()
    const second = await take(two)
    assert.ok(second.token > first.token)
    assert.equal(await one.lease('x'), null)
    await two.close()
    assert.ok(second.signal.aborted)
    assert.ok((await take(others[0] ?? one)).token > second.token)
  })
  test('of all who take one at once, one gets it', async ({ stores }) => {
    const answers = await Promise.all([...stores, ...stores].map((store) => store.lease('x')))
    assert.equal(answers.filter((lease) => lease !== null).length, 1)
  })
  test('the fence of a former holder is refused everywhere, and the new one lands', async ({ stores: [one, two] }) => {
    await create(one, 'a')
    const first = await take(one)
    await two.scenario('a').commit(commit(1), first)
    await first.release()
    const second = await take(two)
    for (const store of [one, two]) await assertRefused('conflict', 'lease_lost', store.scenario('a').commit(commit(2), first))
    await one.scenario('a').commit(commit(2), second)
  })
  test('a commit beside the taking of the next lease elsewhere lands or is refused, never both', async ({ stores: [one, two] }) => {
    await create(one, 'a')
    let landed = 0
    for (const _ of counted(STEPS)) {
      const first = await take(one)
      await first.release()
      const [[end]] = await Promise.all([
        settled([one.scenario('a').commit(commit(landed + 1), first)]),
        take(two).then((lease) => lease.release()),
      ])
      if (end === 'fulfilled') landed += 1
      assert.equal((await two.scenario('a').head())?.newest.step, landed)
    }
  })
}

async function write(store: Store, writer: string): Promise<readonly { readonly name: string; readonly sequence: number }[]> {
  const written: { readonly name: string; readonly sequence: number }[] = []
  for (const turn of counted(RECORDS_PER_WRITER)) {
    // Both ways round, so that two who lock both could meet.
    for (const name of turn % 2 === 0 ? ['a', 'b'] : ['b', 'a']) {
      const [sequence = 0] = sequences(await store.scenario(name).append([record(`${writer}-${turn}`)]))
      written.push({ name, sequence })
    }
  }
  return written
}

/** What a reader sees that only ever asks for what comes after the newest it has seen. */
async function readAlong(store: Store, name: string, total: number): Promise<readonly number[]> {
  const seen: number[] = []
  await until(async () => {
    seen.push(...sequences(await store.scenario(name).records({ after: seen.at(-1) ?? 0, limit: 7 })))
    return seen.length >= total
  }, 0)
  return seen
}

function follow(store: Store): StoreChange[] {
  const told: StoreChange[] = []
  store.follow((change) => void told.push(change))
  return told
}

const landedIn = (told: readonly StoreChange[]): readonly number[] =>
  told.flatMap((change) => (change.kind === 'landed' ? [change.step] : []))
const typesIn = (told: readonly StoreChange[]): ReadonlySet<string> =>
  new Set(told.flatMap((change) => (change.kind === 'appended' ? change.types : [])))
const isToldAll = (told: readonly StoreChange[]): boolean =>
  landedIn(told).includes(2) && typesIn(told).size === 2 && told.some(({ kind }) => kind === 'settings')

async function take(store: Store): Promise<StoreLease> {
  const lease = await store.lease('x')
  assert.ok(lease !== null, 'the lease is free')
  return lease
}

async function until(isSo: () => boolean | Promise<boolean>, pauseMs = LOOK_AGAIN_MS): Promise<void> {
  const since = performance.now()
  while (!(await isSo())) {
    assert.ok(performance.now() - since < TOLD_MS_MAX, 'what was waited for did not come')
    await sleep(pauseMs)
  }
}
