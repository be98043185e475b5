/** `svc store copy` between SQLite and PostgreSQL, there and back, and killed again and again. */
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import postgres from '../../../plugins/stores/postgres/index.ts'
import sqlite from '../../../plugins/stores/sqlite/index.ts'
import { startCommand } from '../../../test/support/command.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { startPostgres, type PostgresServer } from '../../../test/support/postgres.ts'
import { argumentsOf } from '../../../test/support/settings.ts'
import { IS_SHORT } from '../../../test/support/short.ts'
import { until } from '../../../test/support/wait.ts'
import { ENV, type JsonObject, type Store } from '../../contract/index.ts'
import { fill, holdings } from './testing/sample.ts'

/** Half of it are the tables of an empty store. */
const BYTES_BEFORE_KILL = 400_000

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres({ settings: { fsync: 'off' } })
})
afterAll(() => server.stop())

async function opened(plugin: { make(config: JsonObject): Store | Promise<Store> }, config: JsonObject): Promise<Store> {
  const store = await plugin.make(config)
  onTestFinished(() => store.close())
  return store
}

async function filledFolder(records: number): Promise<string> {
  const directory = temporaryFolder()
  const store = await opened(sqlite.plugin, { directory })
  await fill(store, records)
  await store.close()
  return directory
}

async function held(store: Store): Promise<unknown> {
  const all = await holdings(store)
  await store.close()
  return all
}

const place = (schema: string): string => `${server.url}&schema=${schema}`
const environment = (): Readonly<Record<string, string>> => ({ [ENV.stores]: process.env[ENV.stores] ?? '' })
const keysOf = (schema: string): readonly string[] =>
  argumentsOf({
    'storage.record_backend': 'postgres',
    'storage.record_database_url': server.url,
    'storage.record_settings.schema': schema,
    'storage.agent_record_dir': join(temporaryFolder(), 'records'),
  })
const serving = (keys: readonly string[]) =>
  startCommand(
    [
      'serve',
      '--svc.port',
      '0',
      '--inference.runtime',
      'practice',
      '--storage.artifact_repository',
      join(temporaryFolder(), 'a.git'),
      ...keys,
    ],
    environment(),
  )
const UNFINISHED = /^svc: this store is the target of a copy that has not ended \(.*\): run the same svc store copy again[^\n]*\n$/
const copying = (from: string, to: string) => startCommand(['store', 'copy', '--from', from, '--to', to, '--json'], environment())

it('copies to PostgreSQL and back, and the last is what the first was', async () => {
  const [first, last] = [await filledFolder(300), temporaryFolder()]
  const there = await copying(`sqlite:${first}`, place('one')).ended
  expect([there.code, there.err]).toEqual([0, ''])
  const back = await copying(place('one'), `sqlite:${last}`).ended
  expect([back.code, back.err]).toEqual([0, ''])
  expect(JSON.parse(back.out)).toMatchObject({
    scenarios: [{ target: { records: 300, steps: 4 } }, { target: { records: 300, steps: 4 } }],
  })
  const [before, after] = [
    await held(await opened(sqlite.plugin, { directory: first })),
    await held(await opened(sqlite.plugin, { directory: last })),
  ]
  expect(after).toEqual(before)
  expect(there.out + back.out).not.toContain('password-of')
})

it('goes on after every kill -9, and ends with everything there once', { timeout: 240_000 }, async () => {
  const [from, schema] = [await filledFolder(1500), 'killed']
  const count = (): number => {
    const isThere = server.sql(`SELECT count(*) FROM information_schema.tables WHERE table_schema = '${schema}' AND table_name = 'record'`)
    return isThere === '1' ? Number(server.sql(`SELECT count(*) FROM ${schema}.record`)) : 0
  }
  const reached: number[] = []
  for (let kill = 0; kill < (IS_SHORT ? 1 : 3); kill += 1) {
    const command = copying(`sqlite:${from}`, place(schema))
    const before = count()
    await expect.poll(count, { timeout: 60_000, interval: 5 }).toBeGreaterThan(before)
    command.signal('SIGKILL')
    expect((await command.ended).code).toBeNull()
    reached.push(count())
  }
  const refused = await serving(keysOf(schema)).ended
  expect([refused.code, refused.err]).toEqual([2, expect.stringMatching(UNFINISHED)])
  expect(reached[0]).toBeLessThan(3000)
  const { code, out } = await copying(`sqlite:${from}`, place(schema)).ended
  expect(code).toBe(0)
  const counts = { records: 1500, steps: 4 }
  expect(JSON.parse(out)).toMatchObject({
    scenarios: [
      { source: counts, target: counts },
      { source: counts, target: counts },
    ],
  })
  const [source, target] = [
    await held(await opened(sqlite.plugin, { directory: from })),
    await held(await opened(postgres.plugin, { url: server.url, schema })),
  ]
  expect(target).toEqual(source)
})

it('goes on after kill -9 on the way back too, and no service starts on the half of it', { timeout: 240_000 }, async () => {
  const [from, to] = [await filledFolder(1500), join(temporaryFolder(), 'back')]
  expect((await copying(`sqlite:${from}`, place('back')).ended).code).toBe(0)
  const written = (): number =>
    ['records.sqlite3', 'records.sqlite3-wal']
      .map((name) => join(to, name))
      .reduce((sum, file) => sum + (existsSync(file) ? statSync(file).size : 0), 0)
  for (let kill = 0; kill < 2; kill += 1) {
    const command = copying(place('back'), `sqlite:${to}`)
    const before = written()
    await until(() => written() > before + BYTES_BEFORE_KILL)
    command.signal('SIGKILL')
    expect((await command.ended).code).toBeNull()
  }
  const refused = await serving(['--storage.agent_record_dir', to]).ended
  expect([refused.code, refused.err]).toEqual([2, expect.stringMatching(UNFINISHED)])
  const { code, out } = await copying(place('back'), `sqlite:${to}`).ended
  expect(code).toBe(0)
  const counts = { records: 1500, steps: 4 }
  const sides = { source: counts, target: counts }
  expect(JSON.parse(out)).toMatchObject({ scenarios: [sides, sides] })
  const [before, after] = [
    await held(await opened(sqlite.plugin, { directory: from })),
    await held(await opened(sqlite.plugin, { directory: to })),
  ]
  expect(after).toEqual(before)
})

it('says in one line when the database does not answer, and leaves the source as it was', async () => {
  const from = await filledFolder(3)
  const { code, err } = await copying(`sqlite:${from}`, 'postgres://tester:hidden-word@127.0.0.1:1/none').ended
  expect(code).toBe(2)
  expect(err).toMatch(/^svc: no PostgreSQL answers.*\n$/)
  expect(err).not.toContain('hidden-word')
})
