/** Store conformance for those who share it: changes that are followed, leases and their fences, settings. */
import assert from 'node:assert/strict'
import type { Store, StoreChange, StoreLease } from '../src/contract/index.ts'
import { commit, counted, create, over, record, settled, steps, type StoreSuite } from './store-samples.ts'
import { assertRefused } from './support.ts'

export function describeFollowing(suite: StoreSuite): void {
  const test = over(suite)
  test('every change is told in order, before its promise resolves', async ({ store, a }) => {
    const told = follow(store)
    const all: StoreChange[] = []
    const expectTold = (...changes: readonly StoreChange[]) => assert.deepEqual(told, (all.push(...changes), all))
    await a.append([record('1')])
    expectTold({ kind: 'appended', scenario: 'a', types: ['inference'] })
    await a.commit(commit(1, ['1']))
    expectTold({ kind: 'landed', scenario: 'a', step: 1 })
    await a.configure({ training_mode: 'manual' })
    expectTold({ kind: 'settings', scenario: 'a' })
    await store.archive('a')
    expectTold({ kind: 'archived', scenario: 'a' })
    await create(store, 'a')
    expectTold({ kind: 'created', scenario: 'a' })
  })
  test('the types of new records are told, and nothing of known or refused ones', async ({ store, a }) => {
    await a.append([record('known')])
    const told = follow(store)
    await a.append([record('known')])
    await a.append([])
    await assertRefused('conflict', 'record_conflict', a.append([record('new'), record('known', { artifact_ref: 'other' })]))
    await assertRefused('conflict', 'step_conflict', a.commit(commit(3)))
    await assertRefused('unknown', 'unknown_scenario', store.scenario('none').configure({ training_mode: 'manual' }))
    assert.deepEqual(told, [])
    await a.append([record('known'), record('t', { request_type: 'train' }), record('r', { request_type: 'report' })])
    assert.deepEqual(typesIn(told), new Set(['report', 'train']))
  })
  test('of calls side by side every one is told, and each scenario in order', async ({ store, a, b }) => {
    const told = follow(store)
    const turns = counted(20).map((step) => [
      ...[a, b].map((each) => each.append([record(`r${step}`)])),
      ...[a, b].map((each) => each.commit(commit(step))),
    ])
    await Promise.all(turns.flat())
    for (const name of ['a', 'b']) {
      const own = told.filter((change) => 'scenario' in change && change.scenario === name)
      const landed = own.flatMap((change) => (change.kind === 'landed' ? [change.step] : []))
      assert.deepEqual([...new Set(landed)], counted(20))
      assert.ok(own.some(({ kind }) => kind === 'appended'))
    }
  })
  test('a name that is archived and used again is told as two scenarios', async ({ store, a }) => {
    const told = follow(store)
    const archived = store.archive('a')
    for (;;) if ((await settled([create(store, 'a')]))[0] === 'fulfilled') break
    await a.append([record('1')])
    await archived
    assert.deepEqual(
      told.map(({ kind }) => kind),
      ['archived', 'created', 'appended'],
    )
  })
  test('who stops following is told no more, and nobody else misses anything', async ({ store, a }) => {
    const told: string[] = []
    const listener = ({ kind }: StoreChange): void => void told.push(kind)
    const [stop] = [store.follow(listener), store.follow(listener)]
    await a.commit(commit(1))
    stop()
    stop()
    await a.commit(commit(2))
    assert.deepEqual(told, ['landed', 'landed', 'landed'])
  })
  test('an append answers the newest step', async ({ a, b }) => {
    assert.equal((await a.append([record('1')])).step, 0)
    await a.commit(commit(1, ['1']))
    assert.equal((await a.append([record('1')])).step, 1)
    const [, after] = await Promise.all([
      a.commit(commit(2)),
      a.append([record('2')]),
      assertRefused('conflict', 'step_conflict', a.commit(commit(7))),
    ])
    assert.equal(after.step, 2)
    assert.equal((await b.append([record('1')])).step, 0)
  })
}

export function describeLeases(suite: StoreSuite): void {
  const test = over(suite)
  test('a lease is held once at a time, and each taking has a higher token', async ({ store }) => {
    const first = await take(store, 'x')
    assert.equal(await store.lease('x'), null)
    const other = await take(store, 'X')
    await first.release()
    const second = await take(store, 'x')
    assert.ok(second.token > first.token)
    await first.release()
    assert.equal(await store.lease('x'), null)
    assert.deepEqual([first.name, first.signal.aborted, second.signal.aborted, other.name], ['x', false, false, 'X'])
  })
  test('of many who take one at once, one gets it', async ({ store }) => {
    const answers = await Promise.all(counted(10).map(() => store.lease('x')))
    assert.equal(answers.filter((lease) => lease !== null).length, 1)
  })
  test('a commit with a fence lands until a later lease was taken, and then leaves nothing', async ({ store, a }) => {
    const first = await take(store, 'x')
    await a.commit(commit(1, ['1']), first)
    await first.release()
    const second = await take(store, 'x')
    await assertRefused('conflict', 'lease_lost', a.commit(commit(2, ['2']), first), /"x"/)
    await assertRefused('conflict', 'lease_lost', a.commit(commit(2), { name: 'x', token: second.token + 1 }))
    await assertRefused('conflict', 'lease_lost', a.commit(commit(2), { name: 'never taken', token: 1 }))
    await assertRefused('conflict', 'lease_lost', store.scenario('new').commit(commit(0), first))
    assert.deepEqual(steps(await a.commits({ after: 0, limit: 10 })), [1])
    assert.deepEqual(await store.scenarios(), ['a', 'b'])
    await a.commit(commit(2, ['2']), { name: second.name, token: second.token })
    await a.commit(commit(3))
  })
  test('a fence keeps the rules of steps and of what they consume', async ({ store, a }) => {
    const fence = await take(store, 'x')
    await a.commit(commit(1, ['1']), fence)
    await assertRefused('conflict', 'step_conflict', a.commit(commit(3), fence))
    await assertRefused('conflict', 'already_consumed', a.commit(commit(2, ['1']), fence))
  })
  test('a commit beside the taking of the next lease lands or is refused, never both', async ({ store, a }) => {
    const first = await take(store, 'x')
    await first.release()
    const [end] = await settled([a.commit(commit(1), first), store.lease('x'), a.append([record('1')])])
    assert.equal((await a.commits({ after: 0, limit: 10 })).length, end === 'fulfilled' ? 1 : 0)
  })
  test('closing loses every lease, and releasing one afterwards is no error', async ({ store }) => {
    const lease = await take(store, 'x')
    const lost = new Promise((resolve) => lease.signal.addEventListener('abort', resolve))
    await store.close()
    await lost
    await lease.release()
    await assertRefused('unavailable', 'store_closed', store.lease('x'))
  })
  if (!suite.isLasting) return
  test('after opening again every lease is free, and its tokens go on', async ({ store, a, reopen }) => {
    const before = await take(store, 'x')
    await a.commit(commit(1), before)
    const again = await reopen()
    const after = await take(again, 'x')
    assert.ok(after.token > before.token)
    await assertRefused('conflict', 'lease_lost', again.scenario('a').commit(commit(2), before))
  })
}

export function describeSettings(suite: StoreSuite): void {
  const test = over(suite)
  test('nothing is chosen at first, and what is chosen is read', async ({ store, a, b }) => {
    for (const each of [a, store.scenario('none')]) assert.deepEqual(await each.settings(), { training_mode: null })
    await a.configure({ training_mode: 'manual' })
    await a.configure({})
    assert.deepEqual(await store.scenario('a').settings(), { training_mode: 'manual' })
    assert.deepEqual(await b.settings(), { training_mode: null })
    await a.configure({ training_mode: null })
    assert.deepEqual(await a.settings(), { training_mode: null })
  })
  test('followers are told also when nothing differs', async ({ store, a }) => {
    const told = follow(store)
    await a.configure({})
    assert.deepEqual(told, [{ kind: 'settings', scenario: 'a' }])
  })
  test('they end with the scenario', async ({ store, a }) => {
    await a.configure({ training_mode: 'hybrid' })
    await store.archive('a')
    assert.deepEqual(await a.settings(), { training_mode: null })
    await assertRefused('unknown', 'unknown_scenario', a.configure({ training_mode: 'auto' }))
    await create(store, 'a')
    assert.deepEqual(await a.settings(), { training_mode: null })
  })
  if (!suite.isLasting) return
  test('they are forgotten once the store is open nowhere', async ({ a, reopen }) => {
    await a.configure({ training_mode: 'manual' })
    assert.deepEqual(await (await reopen()).scenario('a').settings(), { training_mode: null })
  })
}

/** What is told from now on. */
function follow(store: Store): StoreChange[] {
  const told: StoreChange[] = []
  store.follow((change) => void told.push(change))
  return told
}

const typesIn = (told: readonly StoreChange[]): ReadonlySet<string> =>
  new Set(told.flatMap((change) => (change.kind === 'appended' ? change.types : [])))

async function take(store: Store, name: string): Promise<StoreLease> {
  const lease = await store.lease(name)
  assert.ok(lease !== null, `the lease ${name} is free`)
  return lease
}
