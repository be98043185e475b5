/** What every record store must do, as a suite that any test runner with `describe` and `it` can run. */
import assert from 'node:assert/strict'
import type { Commit } from '../src/contract/index.ts'
import { describeArchiving, describeCapacity, describeClosing } from './store-keeping.ts'
import { describeAppending, describeIdentity, describeReading } from './store-records.ts'
import { commit, create, over, record, refused, steps, type StoreSuite } from './store-samples.ts'

export type { StoreSuite }

export function storeConformance(suite: StoreSuite): void {
  const { describe } = suite
  describe('scenarios', () => describeScenarios(suite))
  describe('appending', () => describeAppending(suite))
  describe('ids met again', () => describeIdentity(suite))
  describe('reading', () => describeReading(suite))
  describe('commits', () => describeCommits(suite))
  describe('capacity', () => describeCapacity(suite))
  describe('archiving', () => describeArchiving(suite))
  describe('closing', () => describeClosing(suite))
}

function describeScenarios(suite: StoreSuite): void {
  const test = over(suite)
  test('a handle makes nothing', async (store) => {
    store.scenario('a')
    assert.deepEqual(await store.scenarios(), [])
  })
  test('a scenario comes into being with its creation row', async (store) => {
    await create(store, 'b')
    await create(store, 'a')
    assert.deepEqual(await store.scenarios(), ['a', 'b'])
  })
  test('a scenario nobody created reads as empty', async (store) => {
    const scenario = store.scenario('nobody')
    assert.deepEqual(await scenario.records({ after: 0, limit: 10 }), [])
    assert.deepEqual(await scenario.commits({ after: -1, limit: 10 }), [])
    assert.deepEqual(await scenario.losses(), { records: 0, bytes: 0 })
    assert.equal(await scenario.get('a'), null)
    assert.equal((await scenario.types(['a'])).size, 0)
  })
  test('a scenario nobody created takes neither records nor later commits', async (store) => {
    await refused('unknown', 'unknown_scenario', store.scenario('nobody').append([record('a')]))
    await refused('unknown', 'unknown_scenario', store.scenario('nobody').commit(commit(1)))
    assert.deepEqual(await store.scenarios(), [])
  })
  test('names are compared exactly', async (store) => {
    for (const name of ['a', 'A', 'ä', 'a%']) await create(store, name)
    assert.deepEqual(await store.scenarios(), ['A', 'a', 'a%', 'ä'])
  })
}

function describeCommits(suite: StoreSuite): void {
  const test = over(suite)
  test('a commit comes back as it was given', async (store) => {
    const scenario = await create(store, 'a')
    const release = { release_id: 'r', parent_release_id: null, content_id: 'c', components: { x: 'y' } }
    const full: Commit = {
      ...commit(1, ['1', '2']),
      operation: 'rollback',
      release,
      pending: true,
      outcome: 'pending',
      metrics: { loss: 0.5, nested: { list: [1, 'two', null] } },
      rollback_target_release_id: 'q',
      component: 'x',
      state: { cursor: 3 },
    }
    await scenario.commit(full)
    assert.deepEqual(await scenario.commits({ after: 0, limit: 10 }), [full])
    assert.deepEqual(await scenario.commits({ after: -1, limit: 1 }), [commit(0)])
  })
  test('a step that exists already is a conflict, creation included', async (store) => {
    const scenario = await create(store, 'a')
    await scenario.commit(commit(1, ['1']))
    await refused('conflict', 'step_conflict', scenario.commit(commit(1, ['2'])))
    await refused('conflict', 'step_conflict', scenario.commit(commit(0)))
    assert.deepEqual(await scenario.commits({ after: 0, limit: 10, ids: ['2'] }), [])
  })
  test('pages of commits walk every step once', async (store) => {
    const scenario = await create(store, 'a')
    for (const step of [1, 2, 3]) await scenario.commit(commit(step))
    assert.deepEqual(steps(await scenario.commits({ after: -1, limit: 2 })), [0, 1])
    assert.deepEqual(steps(await scenario.commits({ after: 1, limit: 2 })), [2, 3])
    assert.deepEqual(await scenario.commits({ after: 3, limit: 2 }), [])
  })
  test('ids find exactly the commits that consumed any of them', async (store) => {
    const [a, b] = [await create(store, 'a'), await create(store, 'b')]
    await a.commit(commit(1, ['x', 'y']))
    await a.commit(commit(2, ['xy', 'z\0']))
    await a.commit(commit(3, ['y', 'y']))
    await b.commit(commit(1, ['x']))
    assert.deepEqual(steps(await a.commits({ after: 0, limit: 10, ids: ['x', 'y'] })), [1, 3])
    assert.deepEqual(steps(await a.commits({ after: 1, limit: 10, ids: ['y', 'x'] })), [3])
    assert.deepEqual(steps(await a.commits({ after: 0, limit: 1, ids: ['y'] })), [1])
    assert.deepEqual(steps(await a.commits({ after: 0, limit: 10, ids: ['z\0'] })), [2])
    assert.deepEqual(await a.commits({ after: 0, limit: 10, ids: ['nobody'] }), [])
    assert.deepEqual(await a.commits({ after: 0, limit: 10, ids: [] }), [])
  })
}
