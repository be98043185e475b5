/** Links to the server that hang, are slow, or are cut in part: who is behind one stops, says so, and goes on once it is well again. */
import assert from 'node:assert/strict'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { commit, counted, create, record, sequences } from '../../../conformance/store-samples.ts'
import { isRefusal, type Store, type StoreChange } from '../../../src/contract/index.ts'
import { startLink, type Link } from '../../../test/support/link.ts'
import { startPostgres, type PostgresServer } from '../../../test/support/postgres.ts'
import { until } from '../../../test/support/wait.ts'
import postgres from './index.ts'

const WAITING = 24
const SLOW_MS = 100
const ACTS = 4

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres({ settings: { fsync: 'off' } })
})
afterAll(() => server.stop())

async function openBehind(schema: string): Promise<{ readonly store: Store; readonly link: Link }> {
  const link = await startLink(server.port)
  const store = await open(schema, server.networkUrl.replace(`:${server.port}/`, `:${link.port}/`))
  onTestFinished(async () => {
    link.release()
    await store.close()
    link.close()
  })
  return { store, link }
}

const open = async (schema: string, url: string): Promise<Store> => postgres.plugin.make({ url, schema, connections: 4 })

async function openBeside(schema: string): Promise<Store> {
  const store = await open(schema, server.url)
  onTestFinished(() => store.close())
  return store
}

it('a link that hangs: all who wait are refused, leases are lost and free for others, and nothing is there twice afterwards', async () => {
  const { store, link } = await openBehind('hung')
  const beside = await openBeside('hung')
  const a = await create(store, 'a')
  await a.append([record('before')])
  const held = await store.lease('x')
  assert.ok(held !== null)
  link.hold()
  const waiting = counted(WAITING).map((at) => a.append([record(`held-${at}`)]))
  const reading = a.records({ after: 0, limit: 10 })
  const ends = await Promise.allSettled([...waiting, reading])
  for (const end of ends) {
    assert.ok(end.status === 'rejected' && isRefusal(end.reason))
    expect(end.reason.code).toBe('store_unreachable')
  }
  expect(held.signal.aborted).toBe(true)
  expect((await store.writing?.check())?.code).toBe('store_unreachable')
  let taken = null
  await until(async () => (taken = await beside.lease('x')) !== null)
  expect(taken).toMatchObject({ token: held.token + 1 })
  link.release()
  await until(async () => (await store.writing?.check()) === null)
  await until(() =>
    a.append(counted(WAITING).map((at) => record(`held-${at}`))).then(
      () => true,
      () => false,
    ),
  )
  const rows = await beside.scenario('a').records({ after: 0, limit: 100 })
  expect(sequences(rows)).toEqual(counted(WAITING + 1))
  await expect(a.commit(commit(1), held)).rejects.toMatchObject({ code: 'lease_lost' })
})

it('connections that hang while new ones pass are given up, and the store goes on by itself', async () => {
  const { store, link } = await openBehind('stale')
  const a = await create(store, 'a')
  await Promise.all(counted(8).map(() => a.records({ after: 0, limit: 1 })))
  link.holdOpen()
  const ends = await Promise.all(
    counted(4).map((at) =>
      a.append([record(`r${at}`)]).then(
        () => 'stored',
        () => 'refused',
      ),
    ),
  )
  await until(async () => (await store.writing?.check()) === null)
  await a.append([record('after')])
  const ids = (await a.records({ after: 0, limit: 10 })).map(({ agent_record_id }) => agent_record_id)
  for (const [index, end] of ends.entries()) if (end === 'stored') expect(ids).toContain(`r${index + 1}`)
  expect(ids.at(-1)).toBe('after')
})

it('a slow link loses nothing: leases stay, and changes of others are told', async () => {
  const { store, link } = await openBehind('slow')
  const beside = await openBeside('slow')
  const a = await create(store, 'a')
  const held = await store.lease('x')
  assert.ok(held !== null)
  const told: StoreChange[] = []
  store.follow((change) => void told.push(change))
  link.delay(SLOW_MS)
  for (const step of counted(ACTS)) {
    await a.append([record(`r${step}`)])
    await a.commit(commit(step), held)
  }
  await beside.scenario('a').commit(commit(ACTS + 1))
  await until(() => told.some((change) => change.kind === 'landed' && change.step === ACTS + 1))
  expect([held.signal.aborted, await beside.lease('x')]).toEqual([false, null])
  link.delay(0)
})

it('what others do is told while the connection that listens hangs, and nobody noticed', async () => {
  const { store, link } = await openBehind('unheard')
  const beside = await openBeside('unheard')
  await create(beside, 'a')
  const told: StoreChange[] = []
  store.follow((change) => void told.push(change))
  link.holdOpen('LISTEN')
  await beside.scenario('a').commit(commit(1))
  await beside.scenario('a').append([record('1')])
  await until(() => told.some(({ kind }) => kind === 'landed') && told.some(({ kind }) => kind === 'appended'))
})
