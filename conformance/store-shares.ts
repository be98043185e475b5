/** Store conformance for shares of what all processes together may take. */
import assert from 'node:assert/strict'
import type { ShareAsk, ShareGrant, ShareStore, Store } from '../src/contract/index.ts'
import { overEmpty, type StoreSuite } from './store-samples.ts'

/** No window of it ends while tests run. */
const LONG_SECONDS = 1_000_000_000
const SLOTS = 0
const LIMIT = 100

export function describeShares(suite: StoreSuite): void {
  const test = overEmpty(suite)
  const hasShares = suite.hasShares === true
  test(hasShares ? 'there are some' : 'a store without them says so by their absence', async ({ shares }) => {
    assert.equal(shares !== undefined, hasShares)
  })
  if (!hasShares) return
  test('what is wanted is granted while there is some, in whole units, and then the last unit', async (store) => {
    const shares = sharesOf(store)
    assert.equal((await take(shares, ask({ need: 60, unit: 30 }))).granted, 60)
    // Forty are left, which is one unit and the last one.
    const { granted, window, endsInSeconds } = await take(shares, ask({ need: 90, unit: 30, held: 60 }))
    assert.equal(granted, 60)
    assert.ok(endsInSeconds > 0 && endsInSeconds <= LONG_SECONDS && Number.isInteger(window))
    assert.equal((await take(shares, ask({ need: 30, unit: 30, held: 120, window }))).granted, 0)
    assert.deepEqual(await shares.used([WINDOW]), [120])
  })
  test('what is said is absolute: to repeat it changes nothing', async (store) => {
    const shares = sharesOf(store)
    const { window } = await take(shares, ask({ need: 10 }))
    for (const said of [
      { spent: 4, held: 6 },
      { spent: 4, held: 6 },
      { spent: 9, held: 0 },
    ]) {
      assert.equal((await take(shares, ask({ ...said, window }))).granted, 0)
      assert.deepEqual(await shares.used([WINDOW]), [said.spent + said.held])
    }
  })
  test('what was spent beyond a share counts, and nothing more is granted', async (store) => {
    const shares = sharesOf(store)
    const { window } = await take(shares, ask({ need: 1 }))
    assert.equal((await take(shares, ask({ spent: 130, need: 1, window }))).granted, 0)
    assert.deepEqual(await shares.used([WINDOW]), [130])
  })
  test('what would be good to have is given, and less of it the less there is', async (store) => {
    const shares = sharesOf(store)
    const first = await take(shares, ask({ need: 1, extra: 20 }))
    assert.equal(first.granted, 21)
    const second = await take(shares, ask({ need: 1, extra: 99, held: 21, window: first.window }))
    assert.ok(second.granted > 1 && second.granted < LIMIT - 21, String(second.granted))
    assert.equal((await take(shares, ask({ extra: 99, held: LIMIT, window: first.window }))).granted, 0)
  })
  test('each key is counted for itself, and grants come in the order of the asks', async (store) => {
    const shares = sharesOf(store)
    const { grants } = await shares.take([ask({ key: 'z', need: 3 }), ask({ key: 'a', need: 5 }), ask({ key: 'ü "', need: 7 })])
    assert.deepEqual(
      grants.map(({ granted }) => granted),
      [3, 5, 7],
    )
    const windows = ['ü "', 'z', 'never', 'a'].map((key) => ({ key, seconds: LONG_SECONDS }))
    assert.deepEqual(await shares.used(windows), [7, 3, 0, 5])
  })
  test('slots are held until they are given back', async (store) => {
    const shares = sharesOf(store)
    const slots = (more: Partial<ShareAsk>): ShareAsk => ask({ seconds: SLOTS, limit: 2, window: 0, ...more })
    assert.equal((await take(shares, slots({ need: 2 }))).granted, 2)
    assert.equal((await take(shares, slots({ need: 1, held: 2 }))).granted, 0)
    assert.equal((await take(shares, slots({ need: 1, held: 1 }))).granted, 1)
    await take(shares, slots({ held: 0 }))
    assert.deepEqual(await shares.used([{ key: 'k', seconds: SLOTS }]), [0])
  })
}

/** `test` gives several stores over one place. */
export function describeSharesOfMany(
  suite: StoreSuite,
  test: (name: string, body: (place: { readonly stores: readonly Store[] }) => Promise<void>) => void,
): void {
  if (suite.hasShares !== true) return
  test('of all who ask at once nobody gets what another one has, and together they get all of it', async ({ stores }) => {
    const all = stores.map(sharesOf)
    const grants = await Promise.all(all.map((shares) => take(shares, ask({ need: 40 }))))
    assert.equal(
      grants.reduce((sum, { granted }) => sum + granted, 0),
      LIMIT,
    )
    for (const shares of all) assert.deepEqual(await shares.used([WINDOW]), [LIMIT])
  })
  test('what one gives back another one gets, and each knows how many share', async ({ stores: [one, two, ...others] }) => {
    const [giving, taking] = [sharesOf(one), sharesOf(two)]
    const { window } = await take(giving, ask({ need: LIMIT }))
    assert.equal((await take(taking, ask({ need: 10 }))).granted, 0)
    await take(giving, ask({ spent: 30, held: 20, window }))
    const { members, grants } = await taking.take([ask({ need: LIMIT })])
    assert.deepEqual([members, grants[0]?.granted], [2 + others.length, 50])
  })
  test('what one held that is gone is free, and what it spent stays spent', async ({ stores: [one, two] }) => {
    const [gone, other] = [sharesOf(one), sharesOf(two)]
    const { window } = await take(gone, ask({ need: LIMIT }))
    await take(gone, ask({ spent: 30, held: 70, window }))
    await one?.close()
    assert.equal((await take(other, ask({ need: LIMIT }))).granted, 70)
    assert.deepEqual(await other.used([WINDOW]), [LIMIT])
  })
}

const WINDOW = { key: 'k', seconds: LONG_SECONDS }

const ask = (more: Partial<ShareAsk>): ShareAsk => ({
  ...WINDOW,
  limit: LIMIT,
  window: WINDOW_NOW,
  spent: 0,
  held: 0,
  need: 0,
  unit: 1,
  extra: 0,
  ...more,
})
const WINDOW_NOW = Math.floor(Date.now() / 1000 / LONG_SECONDS)

async function take(shares: ShareStore, asked: ShareAsk): Promise<ShareGrant> {
  const { grants } = await shares.take([asked])
  assert.ok(grants[0] !== undefined && grants.length === 1)
  return grants[0]
}

function sharesOf(store: Store | undefined): ShareStore {
  assert.ok(store?.shares !== undefined)
  return store.shares
}
