/** Store conformance for commits: which step lands, what it may consume, and reading it. */
import assert from 'node:assert/strict'
import type { Commit } from '../src/contract/index.ts'
import { commit, create, over, record, sequences, settled, steps, type StoreSuite } from './store-samples.ts'
import { assertRefused } from './support.ts'

export function describeCommits(suite: StoreSuite): void {
  const test = over(suite)
  test('a commit comes back as it was given', async ({ a }) => {
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
    await a.commit(full)
    assert.deepEqual(await a.commits({ after: 0, limit: 10 }), [full])
    assert.deepEqual(await a.commits({ after: -1, limit: 1 }), [commit(0)])
  })
  test('the step after the newest is the only one that lands, creation included', async ({ a }) => {
    await a.commit(commit(1, ['1']))
    for (const step of [0, 1, 3, 1.5, -1]) await assertRefused('conflict', 'step_conflict', a.commit(commit(step, ['2'])))
    assert.deepEqual(steps(await a.commits({ after: -1, limit: 10 })), [0, 1])
    await a.commit(commit(2, ['2']))
  })
  test('of two commits of one step at once, the first lands and the other leaves nothing', async ({ store }) => {
    const scenario = store.scenario('new')
    const one = ['fulfilled', 'rejected']
    assert.deepEqual(await settled([scenario.commit(commit(0)), scenario.commit(commit(0))]), one)
    assert.deepEqual(await settled([scenario.commit(commit(1, ['1'])), scenario.commit(commit(1, ['2']))]), one)
    assert.deepEqual(await scenario.commits({ after: 0, limit: 10 }), [commit(1, ['1'])])
    await scenario.commit(commit(2, ['2']))
  })
  test('pages of commits walk every step once', async ({ a }) => {
    for (const step of [1, 2, 3]) await a.commit(commit(step))
    assert.deepEqual(steps(await a.commits({ after: -1, limit: 2 })), [0, 1])
    assert.deepEqual(steps(await a.commits({ after: 1, limit: 2 })), [2, 3])
    assert.deepEqual(await a.commits({ after: 3, limit: 2 }), [])
  })
  test('pages of commits go back from any step, newest first', async ({ store, a }) => {
    for (const step of [1, 2, 3]) await a.commit(commit(step, [`c${step}`]))
    assert.deepEqual(await a.commits({ before: Number.MAX_SAFE_INTEGER, limit: 2 }), [commit(3, ['c3']), commit(2, ['c2'])])
    assert.deepEqual(steps(await a.commits({ before: 2, limit: 2 })), [1, 0])
    assert.deepEqual(steps(await a.commits({ before: 2, limit: 1 })), [1])
    assert.deepEqual(await a.commits({ before: 0, limit: 2 }), [])
    assert.deepEqual(await store.scenario('none').commits({ before: 9, limit: 2 }), [])
  })
  test('ids find exactly the commits that consumed any of them', async ({ a, b }) => {
    await a.commit(commit(1, ['x', 'y']))
    await a.commit(commit(2, ['xy', 'z\0']))
    await a.commit({ ...commit(3, ['y', 'y']), component: 'other' })
    await b.commit(commit(1, ['x']))
    assert.deepEqual(steps(await a.commits({ after: 0, limit: 10, ids: ['x', 'y'] })), [1, 3])
    assert.deepEqual(steps(await a.commits({ after: 1, limit: 10, ids: ['y', 'x'] })), [3])
    assert.deepEqual(steps(await a.commits({ after: 0, limit: 1, ids: ['y'] })), [1])
    assert.deepEqual(steps(await a.commits({ after: 0, limit: 10, ids: ['z\0'] })), [2])
    assert.deepEqual(await a.commits({ after: 0, limit: 10, ids: ['none'] }), [])
    assert.deepEqual(await a.commits({ after: 0, limit: 10, ids: [] }), [])
  })
}

export function describeConsuming(suite: StoreSuite): void {
  const test = over(suite)
  test('a record consumed by an earlier step is a conflict that names it, and nothing lands', async ({ a }) => {
    await a.commit(commit(1, ['x', 'y']))
    await assertRefused('conflict', 'already_consumed', a.commit(commit(2, ['new', 'y', 'newer'])), /"y"/)
    assert.deepEqual(steps(await a.commits({ after: -1, limit: 10 })), [0, 1])
    await a.commit(commit(2, ['new', 'newer']))
  })
  test('each component consumes the same record once', async ({ a }) => {
    await a.commit(commit(1, ['x']))
    await a.commit({ ...commit(2, ['x']), component: 'p' })
    await a.commit({ ...commit(3, ['x']), component: 'q' })
    const again = commit(4, ['x'])
    for (const row of [again, ...['', 'p', 'q'].map((component) => ({ ...again, component }))])
      await assertRefused('conflict', 'already_consumed', a.commit(row))
    assert.deepEqual(steps(await a.commits({ after: 0, limit: 10, ids: ['x'] })), [1, 2, 3])
  })
  test('an id that a row repeats counts once, and need not be a record', async ({ a }) => {
    await a.commit(commit(1, ['x', 'x', 'x']))
    assert.deepEqual(await a.commits({ after: 0, limit: 10, ids: ['x'] }), [commit(1, ['x', 'x', 'x'])])
    await assertRefused('conflict', 'already_consumed', a.commit(commit(2, ['x'])))
  })
  test('what a scenario consumed is its own, and ends when it is archived', async ({ store, a, b }) => {
    await a.commit(commit(1, ['x']))
    await b.commit(commit(1, ['x']))
    await store.archive('a')
    await create(store, 'a')
    await a.commit(commit(1, ['x']))
  })
  test('a refused commit does not touch the calls beside it', async ({ a }) => {
    await a.commit(commit(1, ['x']))
    const statuses = await settled([
      a.append([record('1')]),
      a.commit(commit(2, ['y', 'x'])),
      a.append([record('2')]),
      a.commit(commit(3)),
      a.commit(commit(2, ['y'])),
      a.append([record('3')]),
    ])
    assert.deepEqual(statuses, ['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
    assert.deepEqual(sequences(await a.records({ after: 0, limit: 10 })), [1, 2, 3])
    assert.deepEqual(steps(await a.commits({ after: 0, limit: 10, ids: ['y'] })), [2])
  })
  if (!suite.isLasting) return
  test('what was consumed stays consumed after closing and opening again', async ({ a, reopen }) => {
    await a.append([record('1'), record('2')])
    await a.commit({ ...commit(1, ['1']), component: 'p' })
    const again = (await reopen()).scenario('a')
    await assertRefused('conflict', 'already_consumed', again.commit({ ...commit(2, ['1']), component: 'p' }))
    await assertRefused('conflict', 'step_conflict', again.commit(commit(1)))
    const page = { types: ['inference'], after: 0, limit: 10 } as const
    assert.deepEqual(sequences(await again.pending({ ...page, component: 'p' })), [2])
    assert.deepEqual(sequences(await again.pending({ ...page, component: '' })), [1, 2])
  })
}
