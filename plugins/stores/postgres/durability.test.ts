/** A server that is killed: nothing that was acknowledged is lost, and the store goes on by itself. */
import { expect, it, onTestFinished } from 'vitest'
import { commit, counted, create, record, sequences, steps } from '../../../conformance/store-samples.ts'
import type { ScenarioStore } from '../../../src/contract/index.ts'
import { startPostgres } from '../../../test/support/postgres.ts'
import { ownWorld } from '../../../test/support/world.ts'
import postgres from './index.ts'
import { isDone } from './testing/done.ts'

const WRITERS = 8
const KILLS = 2
const RECORDS_BEFORE_KILL = 60
/** What may be answered while the server is away. */
const AWAY = new Set(['store_unreachable', 'storage_failed'])

it('what was acknowledged is there after the server was killed, without a gap, and the same store goes on', async () => {
  const server = await startPostgres()
  onTestFinished(() => server.stop())
  const store = await postgres.plugin.make({ url: server.url, connections: 4 })
  onTestFinished(() => store.close())
  const a = await create(store, 'a')
  const acknowledged = new Set<string>()
  const over = new AbortController()
  const writing = counted(WRITERS).map(async (writer) => {
    for (let turn = 1; !over.signal.aborted; turn += 1) {
      const id = `${writer}-${turn}`
      if (await isDone(() => a.append([record(id)]), AWAY)) acknowledged.add(id)
    }
  })
  const landed: number[] = []
  const landing = (async () => {
    for (let step = 1; !over.signal.aborted;) if (await isDone(() => a.commit(commit(step)), AWAY)) landed.push(step++)
  })()
  for (const kill of counted(KILLS)) {
    await expect.poll(() => acknowledged.size, { timeout: 30_000 }).toBeGreaterThan(kill * RECORDS_BEFORE_KILL)
    await server.kill()
    await server.start()
  }
  const before = acknowledged.size
  await expect.poll(() => acknowledged.size, { timeout: 30_000 }).toBeGreaterThan(before + WRITERS)
  over.abort()
  await Promise.all([...writing, landing])
  const rows = await everyRow(a)
  const ids = new Set(rows.map(({ agent_record_id }) => agent_record_id))
  expect([...acknowledged].filter((id) => !ids.has(id))).toEqual([])
  expect(sequences(rows)).toEqual(counted(rows.length))
  expect(steps(await a.commits({ after: 0, limit: 10_000 }))).toEqual(landed)
  expect(await store.verify(() => undefined)).toEqual([])
})

it('a whole service keeps its records and its settings in the database that it is given, and finds them after a restart [config.postgres]', async () => {
  const server = await startPostgres()
  onTestFinished(() => server.stop())
  const here = await ownWorld({
    settings: {
      'storage.record_backend': 'postgres',
      'storage.record_database_url': server.url,
      'storage.record_settings.schema': 'mine',
      'storage.record_settings.connections': 3,
    },
  })
  const receipt = await here.exchange('s')
  await here.restart()
  expect((await here.get(`/svc/scenarios/s/records/${receipt}`)).status).toBe(200)
  expect((await here.get('/healthz')).status).toBe(200)
  expect(server.sql('SELECT count(*) FROM mine.record')).toBe('1')
  expect(JSON.stringify(here.log)).not.toContain('password-of')
})

async function everyRow(scenario: ScenarioStore) {
  const rows = []
  for (;;) {
    const page = await scenario.records({ after: rows.length, limit: 1000 })
    if (page.length === 0) return rows
    rows.push(...page)
  }
}
