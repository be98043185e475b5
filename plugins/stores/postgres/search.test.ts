/** The search beside others: what is removed while it is taken in, several services, and questions that take too long. */
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { bytes, counted, create, record } from '../../../conformance/store-samples.ts'
import type { ScenarioStore, SearchQuery, Store } from '../../../src/contract/index.ts'
import { startPostgres, type PostgresServer } from '../../../test/support/postgres.ts'
import { Database } from './connections.ts'
import postgres from './index.ts'
import { find, type Patience } from './search/find.ts'
import { makeIndexing } from './search/indexing.ts'
import { readSettings } from './settings.ts'

const ALL = { before: Number.MAX_SAFE_INTEGER, limit: 10 }
const WAITING = `FROM pg_stat_activity WHERE wait_event_type = 'Lock'`
const SECRET = { payload: bytes('{"messages":[{"role":"user","content":"secret"}]}') }

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres({ settings: { fsync: 'off' } })
})
afterAll(() => server.stop())

/** A store that does not index by itself, so that the test says when. */
async function openQuiet(schema: string): Promise<{ readonly store: Store; readonly scenario: ScenarioStore }> {
  const store = await postgres.plugin.make({ url: server.url, schema, connections: 2, search: false })
  onTestFinished(() => store.close())
  return { store, scenario: await create(store, 'a') }
}

async function connect(schema: string): Promise<Database> {
  const database = await Database.open(readSettings({ url: server.url, schema, connections: 2 }))
  onTestFinished(() => database.close())
  return database
}

async function indexAll(turn: ReturnType<typeof makeIndexing>): Promise<void> {
  while ((await turn()) === 'done');
}

const entries = (schema: string): number => Number(server.sql(`SELECT count(*) FROM ${schema}.search_entry`))

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(10)
}

describe('what is taken in', () => {
  it('goes with its body, also where that goes while it is read', async () => {
    const { scenario } = await openQuiet('racing')
    const [indexer, remover] = [await connect('racing'), await connect('racing')]
    await scenario.append([record('1', SECRET), record('2', SECRET)])
    const [begun, removed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const removing = remover.transaction(async (client) => {
      await client.query({ text: 'DELETE FROM body WHERE sequence = 1' })
      begun.resolve()
      await removed.promise
    })
    await begun.promise
    const turn = makeIndexing(indexer)()
    await until(() => server.sql(`SELECT count(*) ${WAITING}`).trim() === '1')
    removed.resolve()
    await removing
    expect(await turn).toBe('done')
    expect(entries('racing')).toBe(1)
    expect((await find(indexer, 'a', { ...ALL, text: 'secret' })).rows.map(({ sequence }) => sequence)).toEqual([2])
    await remover.rows({ text: 'DELETE FROM body' })
    expect(entries('racing')).toBe(0)
  })

  it('goes with what is removed for its age', async () => {
    const { scenario } = await openQuiet('aging')
    const database = await connect('aging')
    await scenario.append([record('1', { ...SECRET, created_at: 1 }), record('2', { ...SECRET, created_at: 9 })])
    await indexAll(makeIndexing(database))
    await scenario.expire?.({ madeBefore: 5, below: Number.MAX_SAFE_INTEGER })
    expect((await find(database, 'a', { ...ALL, text: 'secret' })).rows.map(({ sequence }) => sequence)).toEqual([2])
    expect(entries('aging')).toBe(1)
  })

  it('of an archived scenario is taken out', async () => {
    const { store, scenario } = await openQuiet('archiving')
    const turn = makeIndexing(await connect('archiving'))
    await scenario.append([record('1', SECRET)])
    await indexAll(turn)
    await store.archive('a')
    await indexAll(turn)
    expect([entries('archiving'), server.sql('SELECT count(*) FROM archiving.searched').trim()]).toEqual([0, '0'])
  })

  it('is taken in once, by one of several services', async () => {
    const { scenario } = await openQuiet('many')
    await scenario.append(counted(300).map((index) => record(`r${index}`, SECRET)))
    const turns = [makeIndexing(await connect('many')), makeIndexing(await connect('many'))]
    while ((await Promise.all(turns.map((turn) => turn()))).includes('done'));
    expect(entries('many')).toBe(300)
  })
})

const said = (words: string) => ({ payload: bytes(JSON.stringify({ messages: [{ role: 'user', content: words }] })) })
const NEEDLE = { ...said('needle'), score: 0.9 }
const recordAt = (index: number) =>
  record(`r${index}`, { created_at: index, ...(index === 1 ? NEEDLE : said(`one two ${'hay '.repeat(40)}`)) })

describe('of more records than are looked through', () => {
  const RECORDS = 2400
  let searcher: Database
  beforeAll(async () => {
    const store = await postgres.plugin.make({ url: server.url, schema: 'long', connections: 2, search: false })
    const scenario = await create(store, 'a')
    for (const first of counted(3))
      await scenario.append(counted(RECORDS / 3).map((index) => recordAt(((first - 1) * RECORDS) / 3 + index)))
    searcher = await Database.open(readSettings({ url: server.url, schema: 'long', connections: 2 }))
    await indexAll(makeIndexing(searcher))
    await store.close()
  })
  afterAll(() => searcher.close())
  const places = async (query: Partial<SearchQuery>, patience?: Patience) => {
    const { rows, next } = await find(searcher, 'a', { ...ALL, ...query }, patience)
    return { places: rows.map(({ sequence }) => sequence), next }
  }

  const PATIENT = { lookedThrough: 20, indexMs: 60_000 }

  it('finds on the first page what the oldest one alone has', async () => {
    const alone = { places: [1], next: null }
    expect(await places({ text: 'needle' }, PATIENT)).toEqual(alone)
    expect(await places({ scoreMin: 0.9 }, PATIENT)).toEqual(alone)
    expect(await places({ text: 'needle', scoreMin: 0.9, until: 5 }, PATIENT)).toEqual(alone)
    expect(await places({ until: 2 }, PATIENT)).toEqual({ places: [2, 1], next: null })
    expect(await places({ until: 0 }, PATIENT)).toEqual({ places: [], next: null })
  })

  it('finds what many have from the newest on', async () => {
    expect(await places({ text: '"one two"' })).toEqual({ places: counted(10).map((index) => RECORDS + 1 - index), next: RECORDS - 9 })
    expect(await places({ until: 20, limit: 2 }, PATIENT)).toEqual({ places: [20, 19], next: 19 })
  })

  it('says where to go on once the index takes too long, and a later page goes on there', async () => {
    const hurried = { lookedThrough: 20, indexMs: 1 }
    // Every record has the words, and each has to be read to see that they do not stand so.
    expect(await places({ text: '"two one"' }, hurried)).toEqual({ places: [], next: RECORDS - 19 })
    expect(await places({ text: 'needle', before: RECORDS - 19 }, PATIENT)).toEqual({ places: [1], next: null })
  })
})

it('where bodies are encrypted from now on nothing can be searched, and the words from before are gone', async () => {
  const { store, scenario } = await openQuiet('sealed')
  await scenario.append([record('1', SECRET)])
  await indexAll(makeIndexing(await connect('sealed')))
  expect(entries('sealed')).toBe(1)
  await store.close()
  const seal = { url: server.url, schema: 'sealed', encrypt: true, secret_key: randomBytes(32).toString('base64') }
  const sealed = await postgres.plugin.make(seal)
  onTestFinished(() => sealed.close())
  expect([sealed.scenario('a').search, entries('sealed')]).toEqual([undefined, 0])
  expect(() => postgres.plugin.make({ ...seal, search: true })).toThrow('search must be false where bodies are encrypted')
})

it('a store without an index cannot search, and a setting that is neither says what it may be', async () => {
  const { scenario } = await openQuiet('off')
  expect(scenario.search).toBeUndefined()
  expect(() => postgres.plugin.make({ url: server.url, search: 'no' })).toThrow('search must be true or false')
})
