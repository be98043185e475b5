/** Tokens as a process knows them: its own changes, those of others, and reads that fail. */
import { hash } from 'node:crypto'
import { expect, it, onTestFinished, vi } from 'vitest'
import { wrapStore } from '../../test/fixtures/wrap-store.ts'
import { entry, make, token } from '../../conformance/store-deployment.ts'
import memory from '../../plugins/stores/memory/index.ts'
import { storeClosed, unavailable, type Store, type StoredToken } from '../contract/index.ts'
import { TokenBook, type Actor } from './token-book.ts'

const actor = (id: string): Actor => ({ id, by: 'svc.token', role: 'admin', from: null })

async function opened(changes: (inner: Store) => Partial<Store> = () => ({}), clock = () => 1000) {
  const inner = await memory.plugin.make({})
  const used: (readonly StoredToken[])[] = []
  const warned: string[] = []
  const taken = vi.fn(async () => undefined)
  const book = await TokenBook.open({
    store: wrapStore(inner, changes(inner)),
    clock,
    use: (tokens) => void used.push(tokens),
    taken,
    warn: (message) => void warned.push(message),
  })
  onTestFinished(() => book.close())
  const names = (): readonly string[] => (used.at(-1) ?? []).map(({ name }) => name)
  return { book, inner, names, warned, taken, newest: () => used.at(-1) ?? [] }
}

it('a token is in force everywhere when its promise resolves, and only its hash is kept', async () => {
  const { book, inner, taken, newest } = await opened()
  const { token: secret, ...row } = await book.create({ name: 'a', role: 'serve', expires_in_days: 1 }, actor('1'))
  expect(secret).toMatch(/^svc_token_[A-Za-z0-9_-]{43}$/)
  expect(row).toEqual({ name: 'a', role: 'serve', scenarios: null, created_at: 1000, created_by: 'svc.token', expires_at: 1000 + 86_400 })
  expect(newest()).toEqual([{ ...row, digest: hash('sha256', secret) }])
  expect(taken).toHaveBeenCalledOnce()
  expect(book.list()).toEqual([row])
  expect(JSON.stringify([await inner.deployment.tokens(), await inner.deployment.audit({ after: 0, limit: 9 })])).not.toContain(secret)
})

it('a rotated token has another secret and lives as long again, or as long as is said', async () => {
  let now = 1000
  const { book } = await opened(undefined, () => now)
  const first = await book.create({ name: 'a', role: 'agent', scenarios: ['s'], expires_in_days: 2 }, actor('1'))
  now = 5000
  const second = await book.rotate('a', undefined, actor('2'))
  expect(second.token).not.toBe(first.token)
  expect(second).toMatchObject({ role: 'agent', scenarios: ['s'], created_at: 5000, expires_at: 5000 + 2 * 86_400 })
  expect(await book.rotate('a', 1, actor('3'))).toMatchObject({ expires_at: 5000 + 86_400 })
  await book.create({ name: 'b', role: 'read' }, actor('4'))
  expect(await book.rotate('b', undefined, actor('5'))).toMatchObject({ expires_at: null })
})

it('limits are given at the making and later, each time whole, stay when it is rotated, and are in the audit', async () => {
  const { book, inner, newest } = await opened()
  const { token: secret } = await book.create({ name: 'a', role: 'serve', limits: { requests_per_minute: 5 } }, actor('1'))
  expect(newest()).toMatchObject([{ limits: { requests_per_minute: 5 }, digest: hash('sha256', secret) }])
  expect(await book.limit('a', { cost_per_day: 0.5 }, actor('2'))).toMatchObject({ name: 'a', limits: { cost_per_day: 0.5 } })
  expect(newest()).toMatchObject([{ limits: { cost_per_day: 0.5 }, digest: hash('sha256', secret) }])
  expect(newest()[0]?.limits).toEqual({ cost_per_day: 0.5 })
  expect(await book.rotate('a', undefined, actor('3'))).toMatchObject({ limits: { cost_per_day: 0.5 } })
  expect(await book.limit('a', {}, actor('4'))).not.toHaveProperty('limits')
  const rows = await inner.deployment.audit({ after: 1, limit: 9 })
  expect(rows).toMatchObject([
    { action: 'limitToken', target: 'a', before: { limits: { requests_per_minute: 5 } }, after: { limits: { cost_per_day: 0.5 } } },
    { action: 'rotateToken' },
    { action: 'limitToken', before: { limits: { cost_per_day: 0.5 } } },
  ])
  await expect(book.limit('none', {}, actor('5'))).rejects.toMatchObject({ code: 'unknown_token' })
  const { name } = await book.signIn({ person: 'p', role: 'read', scenarios: null, lifeSeconds: 60 }, actor('6'))
  await expect(book.limit(name, {}, actor('7'))).rejects.toMatchObject({ code: 'sign_in_token' })
})

it('every change is an entry of the audit, without the secret or its hash', async () => {
  const { book, inner } = await opened()
  const { token: secret, ...row } = await book.create({ name: 'a', role: 'read' }, actor('1'))
  await book.revoke('a', actor('2'))
  const rows = await inner.deployment.audit({ after: 0, limit: 9 })
  expect(rows).toMatchObject([
    { sequence: 1, id: '1', by: 'svc.token', action: 'createToken', target: 'a', scenario: null, before: null, after: row },
    { sequence: 2, id: '2', action: 'revokeToken', target: 'a', before: row, after: null },
  ])
  expect(JSON.stringify(rows)).not.toContain(hash('sha256', secret))
})

it('refuses a name that is taken or unknown, an agent for every scenario, and an admin for some', async () => {
  const { book } = await opened()
  await book.create({ name: 'a', role: 'read' }, actor('1'))
  await expect(book.create({ name: 'a', role: 'admin' }, actor('2'))).rejects.toMatchObject({ code: 'token_exists' })
  for (const work of [book.rotate('b', undefined, actor('3')), book.revoke('b', actor('4'))])
    await expect(work).rejects.toMatchObject({ kind: 'unknown', code: 'unknown_token' })
  for (const [role, more] of [['agent', {}] as const, ['admin', { scenarios: ['s'] }] as const])
    await expect(book.create({ name: 'c', role, ...more }, actor('5'))).rejects.toMatchObject({ code: 'invalid_field' })
  expect(book.list().map(({ name }) => name)).toEqual(['a'])
})

it('of two that make a token of one name at once, one does', async () => {
  const { book } = await opened()
  const ends = await Promise.allSettled(['1', '2', '3'].map((id) => book.create({ name: 'a', role: 'read' }, actor(id))))
  expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected'])
})

it('what another process made or removed is in force once it was told', async () => {
  const { inner, names } = await opened()
  await make(inner.deployment, token('a'))
  await vi.waitFor(() => expect(names()).toEqual(['a']))
  await inner.deployment.changeToken({ name: 'a', before: token('a').digest, after: null }, entry('gone'))
  await vi.waitFor(() => expect(names()).toEqual([]))
})

it('a read that fails is made again until it succeeds, and is warned of once', async () => {
  let failures = 0
  const { inner, names, warned } = await opened((store) => ({
    deployment: {
      ...store.deployment,
      tokens: () => (failures > 0 ? ((failures -= 1), Promise.reject(unavailable('store_busy', 'busy'))) : store.deployment.tokens()),
    },
  }))
  failures = 2
  await make(inner.deployment, token('a'))
  await vi.waitFor(() => expect(names()).toEqual(['a']))
  expect(warned).toHaveLength(1)
})

it('a store that closes ends the reading', async () => {
  let isClosed = false
  const { book, inner, warned } = await opened((store) => ({
    deployment: { ...store.deployment, tokens: () => (isClosed ? Promise.reject(storeClosed()) : store.deployment.tokens()) },
  }))
  isClosed = true
  await make(inner.deployment, token('a'))
  await book.close()
  expect(warned).toEqual([])
})
