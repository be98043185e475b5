import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { commit, create, record } from '../../../conformance/store-samples.ts'
import { sharedStoreConformance } from '../../../conformance/store-shared.ts'
import type { Store, StoreChange } from '../../../src/contract/index.ts'
import { startPostgres, type PostgresServer } from '../../../test/support/postgres.ts'
import postgres from './index.ts'
import { schemaOf } from './testing/schemas.ts'

const LISTENERS = `FROM pg_stat_activity WHERE query LIKE 'LISTEN%'`

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres({ settings: { fsync: 'off' } })
})
afterAll(() => server.stop())

sharedStoreConformance({
  describe,
  it,
  open: ({ directory, capacity_bytes }) =>
    postgres.plugin.make({ url: server.url, schema: schemaOf(directory), capacity_bytes, connections: 4 }),
  isLasting: true,
  hasShares: true,
})

async function openAs(schema: string): Promise<Store> {
  const store = await postgres.plugin.make({ url: server.url, schema, connections: 3 })
  onTestFinished(() => store.close())
  return store
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(20)
}

describe('a store that others share', () => {
  it('is told of what landed and came while it could not be notified', async () => {
    const [one, two] = [await openAs('deaf'), await openAs('deaf')]
    await create(one, 'a')
    const told: StoreChange[] = []
    two.follow((change) => void told.push(change))
    server.sql(`SELECT count(pg_terminate_backend(pid)) ${LISTENERS}`)
    await one.scenario('a').commit(commit(1))
    await one.scenario('a').append([record('1')])
    await until(() => told.some(({ kind }) => kind === 'landed') && told.some(({ kind }) => kind === 'appended'))
    await until(() => Number(server.sql(`SELECT count(*) ${LISTENERS}`)) >= 2)
  })

  it('lets a lease go whose holder no longer beats, and refuses what that one still commits', async () => {
    const [one, two] = [await openAs('late'), await openAs('late')]
    await create(one, 'a')
    const held = await one.lease('x')
    assert.ok(held !== null)
    expect(await two.lease('x')).toBeNull()
    server.sql(`UPDATE late.member SET beat_at = beat_at - interval '1 hour' WHERE id = (SELECT member FROM late.lease)`)
    const next = await two.lease('x')
    expect(next?.token).toBeGreaterThan(held.token)
    await expect(one.scenario('a').commit(commit(1), held)).rejects.toMatchObject({ code: 'lease_lost' })
    await two.scenario('a').commit(commit(1), next ?? held)
  })

  it('loses its leases when it counts as gone, and can take them again as another member', async () => {
    const one = await openAs('gone')
    const held = await one.lease('x')
    server.sql('DELETE FROM gone.member')
    await until(() => held?.signal.aborted === true)
    let again = null
    await until(async () => (again = await one.lease('x').catch(() => null)) !== null)
    expect(again).toMatchObject({ token: 2 })
  })
})
