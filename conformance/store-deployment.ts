/** Store conformance for what belongs to no scenario: tokens and the audit. */
import assert from 'node:assert/strict'
import type { AuditEntry, AuditRow, DeploymentStore, StoreChange, StoredToken } from '../src/contract/index.ts'
import { counted, create, overEmpty, settled, type StoreSuite } from './store-samples.ts'
import { assertRefused } from './support.ts'

export function describeTokens(suite: StoreSuite): void {
  const test = overEmpty(suite)
  test('there is none at first, and each is read as it was given, by name', async ({ deployment }) => {
    assert.deepEqual(await deployment.tokens(), [])
    const tokens = [token('b', { scenarios: ['größe', 'a"b'], expires_at: 12.5 }), token('B'), token('a')]
    for (const each of tokens) await make(deployment, each)
    assert.deepEqual(await deployment.tokens(), [tokens[1], tokens[2], tokens[0]])
  })
  test('one is replaced and removed by whoever knows it as it is', async ({ deployment }) => {
    const [first, second] = [token('a'), token('a', { digest: digestOf('second'), role: 'read' })]
    await make(deployment, first)
    await deployment.changeToken({ name: 'a', before: first.digest, after: second }, entry('replace'))
    assert.deepEqual(await deployment.tokens(), [second])
    await deployment.changeToken({ name: 'a', before: second.digest, after: null }, entry('remove'))
    assert.deepEqual(await deployment.tokens(), [])
    await make(deployment, first, 'again')
  })
  test('a change of one that is not as it was is a conflict, and leaves no entry', async ({ deployment }) => {
    const kept = token('a')
    await make(deployment, kept)
    const other = token('a', { digest: digestOf('other') })
    for (const change of [
      { name: 'a', before: null, after: other },
      { name: 'a', before: other.digest, after: null },
      { name: 'none', before: kept.digest, after: null },
    ])
      await assertRefused('conflict', 'token_conflict', deployment.changeToken(change, entry('refused')))
    assert.deepEqual(await deployment.tokens(), [kept])
    assert.deepEqual(idsOf(await deployment.audit({ after: 0, limit: 10 })), ['make a'])
  })
  test('of many that make one at once, one does', async ({ deployment }) => {
    const made = counted(8).map((place) => make(deployment, token('a', { digest: digestOf(String(place)) }), `try ${place}`))
    assert.equal((await settled(made)).filter((status) => status === 'fulfilled').length, 1)
    assert.equal((await deployment.audit({ after: 0, limit: 99 })).length, 1)
  })
  test('every change is told, before its promise resolves; a refused one is not', async (store) => {
    const told: StoreChange[] = []
    store.follow((change) => void told.push(change))
    await make(store.deployment, token('a'))
    assert.deepEqual(told, [{ kind: 'tokens' }])
    await assertRefused('conflict', 'token_conflict', make(store.deployment, token('a'), 'again'))
    await store.deployment.addAudit(entry('other'))
    assert.deepEqual(told, [{ kind: 'tokens' }])
  })
  test('archiving a scenario ends those that are for it alone, and takes it from the others, in the same moment', async (store) => {
    const { deployment } = store
    const [all, other] = [token('all', { scenarios: null }), token('other', { scenarios: ['größe 2'] })]
    for (const each of [all, other, token('both', { scenarios: ['größe', 'größe 2'] }), token('own', { scenarios: ['größe'] })])
      await make(deployment, each)
    assert.equal(await store.scenario('größe').hadEarlier(), false)
    await create(store, 'größe')
    await create(store, 'größe 2')
    const told: StoreChange[] = []
    store.follow((change) => void told.push(change))
    await store.archive('größe')
    assert.deepEqual(await deployment.tokens(), [all, token('both', { scenarios: ['größe 2'] }), other])
    assert.ok(told.some(({ kind }) => kind === 'tokens'))
    assert.equal(await store.scenario('größe').hadEarlier(), true)
    await create(store, 'größe')
    assert.deepEqual([await store.scenario('größe').hadEarlier(), await store.scenario('größe 2').hadEarlier()], [true, false])
  })
  if (!suite.isLasting) return
  test('they survive closing and opening again', async ({ deployment }, reopen) => {
    await make(deployment, token('a', { scenarios: ['s'] }))
    assert.deepEqual(await (await reopen()).deployment.tokens(), [token('a', { scenarios: ['s'] })])
  })
}

export function describeAudit(suite: StoreSuite): void {
  const test = overEmpty(suite)
  test('entries are read as they were given, in their order, from either end', async ({ deployment }) => {
    const entries = counted(5).map((place) => entry(`e${place}`, { before: { place, words: 'größe \u0000' } }))
    for (const each of entries) await deployment.addAudit(each)
    const rows = entries.map((each, index) => ({ sequence: index + 1, ...each }))
    assert.deepEqual(await deployment.audit({ after: 0, limit: 10 }), rows)
    assert.deepEqual(await deployment.audit({ after: 1, limit: 2 }), rows.slice(1, 3))
    assert.deepEqual(await deployment.audit({ after: 5, limit: 2 }), [])
    assert.deepEqual(idsOf(await deployment.audit({ before: Number.MAX_SAFE_INTEGER, limit: 2 })), ['e5', 'e4'])
    assert.deepEqual(idsOf(await deployment.audit({ before: 4, limit: 9 })), ['e3', 'e2', 'e1'])
    assert.deepEqual(await deployment.audit({ before: 1, limit: 9 }), [])
  })
  test('an entry whose id is there adds nothing', async ({ deployment }) => {
    await deployment.addAudit(entry('one'))
    await deployment.addAudit(entry('one', { action: 'other' }))
    await deployment.addAudit(entry('two'))
    assert.deepEqual(
      (await deployment.audit({ after: 0, limit: 10 })).map(({ sequence, id, action }) => [sequence, id, action]),
      [
        [1, 'one', 'promote'],
        [2, 'two', 'promote'],
      ],
    )
  })
  test('entries side by side leave no gap and share no number', async ({ deployment }) => {
    await Promise.all(counted(40).map((place) => deployment.addAudit(entry(`e${place}`))))
    const rows = await deployment.audit({ after: 0, limit: 99 })
    assert.deepEqual(
      rows.map(({ sequence }) => sequence),
      counted(40),
    )
    assert.equal(new Set(idsOf(rows)).size, 40)
  })
  if (!suite.isLasting) return
  test('they survive closing and opening again, and their numbers go on', async ({ deployment }, reopen) => {
    await deployment.addAudit(entry('one'))
    const again = (await reopen()).deployment
    await again.addAudit(entry('two'))
    assert.deepEqual(idsOf(await again.audit({ after: 0, limit: 9 })), ['one', 'two'])
  })
}

const idsOf = (rows: readonly AuditRow[]): readonly string[] => rows.map(({ id }) => id)

/** As long as a real one. */
const digestOf = (text: string): string => Buffer.from(text.padEnd(32)).toString('hex').slice(0, 64)

export function token(name: string, change: Partial<StoredToken> = {}): StoredToken {
  const usual = { role: 'serve', scenarios: null, created_at: 1.5, created_by: 'svc.token', expires_at: null } as const
  return { name, ...usual, digest: digestOf(name), ...change }
}

export function entry(id: string, change: Partial<AuditEntry> = {}): AuditEntry {
  const usual = { at: 2.5, by: 'svc.token', role: 'admin', from: '127.0.0.1', action: 'promote', scenario: 's', target: null } as const
  return { id, ...usual, before: null, after: { release_id: 'r' }, ...change }
}

export const make = (deployment: DeploymentStore, made: StoredToken, id = `make ${made.name}`): Promise<void> =>
  deployment.changeToken({ name: made.name, before: null, after: made }, entry(id))
