/** Conformance suite for record stores, for any test runner with `describe` and `it`. */
import assert from 'node:assert/strict'
import { describeChain } from './store-chain.ts'
import { describeCommits, describeConsuming } from './store-commits.ts'
import { describeAudit, describeTokens } from './store-deployment.ts'
import { describeDocuments } from './store-documents.ts'
import { describeFollowing, describeLeases, describeSettings } from './store-following.ts'
import { describeArchiving, describeCapacity, describeClosing, describeExpiry } from './store-keeping.ts'
import { describePending } from './store-pending.ts'
import { describeAppending, describeIdentity, describeReading } from './store-records.ts'
import { describeSearch } from './store-search.ts'
import { describeShares } from './store-shares.ts'
import { commit, create, overEmpty, record, type StoreSuite } from './store-samples.ts'
import { assertRefused } from './support.ts'

export type { StoreSuite }

export function storeConformance(suite: StoreSuite): void {
  const { describe } = suite
  describe('scenarios', () => describeScenarios(suite))
  describe('appending', () => describeAppending(suite))
  describe('ids met again', () => describeIdentity(suite))
  describe('reading', () => describeReading(suite))
  describe('commits', () => describeCommits(suite))
  describe('the head, the chain and totals', () => describeChain(suite))
  describe('what commits consume', () => describeConsuming(suite))
  describe('what is pending', () => describePending(suite))
  describe('capacity', () => describeCapacity(suite))
  describe('what is old', () => describeExpiry(suite))
  describe('archiving', () => describeArchiving(suite))
  describe('following', () => describeFollowing(suite))
  describe('leases', () => describeLeases(suite))
  describe('settings', () => describeSettings(suite))
  describe('tokens', () => describeTokens(suite))
  describe('the audit', () => describeAudit(suite))
  describe('searching', () => describeSearch(suite))
  describe('documents', () => describeDocuments(suite))
  describe('shares', () => describeShares(suite))
  describe('closing', () => describeClosing(suite))
}

/** What is about bodies alone, for a store that can keep them in another way too. */
export function bodyConformance(suite: StoreSuite): void {
  const { describe } = suite
  describe('ids met again', () => describeIdentity(suite))
  describe('reading', () => describeReading(suite))
  describe('what is pending', () => describePending(suite))
  describe('capacity', () => describeCapacity(suite))
  describe('what is old', () => describeExpiry(suite))
}

function describeScenarios(suite: StoreSuite): void {
  const test = overEmpty(suite)
  test('a handle makes nothing', async (store) => {
    store.scenario('a')
    assert.deepEqual(await store.scenarios(), [])
  })
  test('a scenario comes into being with its creation row', async (store) => {
    await create(store, 'b')
    await create(store, 'a')
    assert.deepEqual(await store.scenarios(), ['a', 'b'])
  })
  test('a scenario that was not created reads as empty', async (store) => {
    const scenario = store.scenario('none')
    assert.deepEqual(await scenario.records({ after: 0, limit: 10 }), [])
    assert.deepEqual(await scenario.commits({ after: -1, limit: 10 }), [])
    assert.deepEqual(await scenario.pending({ component: '', types: ['inference'], after: 0, limit: 10 }), [])
    assert.deepEqual(await scenario.losses(), { records: 0, bytes: 0 })
    assert.equal(await scenario.get('a'), null)
    assert.equal((await scenario.types(['a'])).size, 0)
  })
  test('a scenario that was not created takes neither records nor later commits', async (store) => {
    await assertRefused('unknown', 'unknown_scenario', store.scenario('none').append([record('a')]))
    await assertRefused('unknown', 'unknown_scenario', store.scenario('none').commit(commit(1)))
    assert.deepEqual(await store.scenarios(), [])
  })
  test('names are compared exactly', async (store) => {
    for (const name of ['a', 'A', 'ä', 'a%']) await create(store, name)
    assert.deepEqual(await store.scenarios(), ['A', 'a', 'a%', 'ä'])
  })
}
