/** The index of the search: that it follows from the records, whatever becomes of it, and that what goes from them goes from it. */
import assert from 'node:assert/strict'
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Worker } from 'node:worker_threads'
import { describe, it, onTestFinished } from 'vitest'
import { bytes, counted, create, evicted, record } from '../../../../conformance/store-samples.ts'
import type { FoundRecords, ScenarioStore, SearchQuery } from '../../../../src/contract/index.ts'
import { temporaryFolder } from '../../../../test/support/folder.ts'
import { until } from '../../../../test/support/wait.ts'
import { fileIn, fresh, open, rowsOf } from '../testing/stores.ts'
import { openForSearching } from './file.ts'
import { makeFind, type PageReach } from './find.ts'

const indexIn = (directory: string): string => join(directory, 'search.sqlite3')
const said = (id: string, text: string) => record(id, { payload: bytes(JSON.stringify({ prompt: text })) })

describe('the index', () => {
  it('is made anew when it was removed, and when another version made it', async () => {
    const { directory, store, scenario } = await fresh()
    await scenario.append(counted(20).map((index) => said(`r${index}`, `number ${index}`)))
    assert.deepEqual(await found(scenario, 'number'), 20)
    await store.close()
    for (const suffix of ['', '-wal', '-shm']) rmSync(indexIn(directory) + suffix, { force: true })
    const second = await open(directory)
    assert.deepEqual(await found(second.scenario('a'), 'number'), 20)
    await second.close()
    changeIndex(directory, 'DELETE FROM doc; PRAGMA user_version = 99')
    const third = await open(directory)
    assert.deepEqual(await found(third.scenario('a'), 'number'), 20)
  })

  it.each([
    ['is no database', (path: string) => writeFileSync(path, 'no database')],
    ['is damaged', (path: string) => writeFileSync(path, readFileSync(path).fill(7, 100, 8000))],
  ])('that %s is made anew, and the store opens all the same', async (_, spoil) => {
    const { directory, store, scenario } = await fresh()
    await scenario.append(counted(20).map((index) => said(`r${index}`, `number ${index}`)))
    await found(scenario, 'number')
    await store.close()
    spoil(indexIn(directory))
    const again = await open(directory)
    await again.scenario('a').append([said('new', 'number')])
    assert.deepEqual(await foundAtLast(again.scenario('a'), 'number'), 21)
  })

  it('of records that were put back from a backup holds those alone', async () => {
    const { directory, store, scenario } = await fresh()
    await scenario.append([said('1', 'kept')])
    await store.close()
    const backup = join(temporaryFolder(), 'records')
    copyFileSync(fileIn(directory), backup)
    const more = await open(directory)
    await more.scenario('a').append(counted(9).map((index) => said(`lost${index}`, 'lost')))
    assert.equal(await found(more.scenario('a'), 'lost'), 9)
    await more.close()
    copyFileSync(backup, fileIn(directory))
    const again = await open(directory)
    await again.scenario('a').append(counted(20).map((index) => said(`new${index}`, 'new')))
    assert.equal(await found(again.scenario('a'), 'new'), 20)
    assert.equal(await found(again.scenario('a'), 'lost'), 0)
    assert.equal(await found(again.scenario('a'), 'kept'), 1)
  })

  it('does not hold a scenario that was archived, or a body that was evicted', async () => {
    const { directory, store, scenario } = await fresh({ capacityBytes: 100_000 })
    const other = await create(store, 'b')
    await other.append(counted(600).map((index) => said(`r${index}`, 'archived')))
    await scenario.append(counted(700).map((index) => said(`r${index}`, 'evicted')))
    assert.equal(await found(other, 'archived'), 100)
    await store.archive('b')
    await scenario.append(counted(2000).map((index) => said(`s${index}`, `later ${'x'.repeat(50)}`)))
    await evicted(store)
    assert.equal(await found(scenario, 'evicted'), 0)
    await until(() => inIndex(directory, 'SELECT 1 FROM scenario WHERE key = 2').length === 0)
    const { body_bytes } = await store.usage()
    assert.ok(body_bytes > 0)
    const kept = (): number =>
      rowsOf(directory, 'SELECT 1 FROM record r JOIN scenario s ON s.key = r.scenario WHERE s.name IS NOT NULL AND r.age IS NOT NULL')
        .length
    await until(() => inIndex(directory, 'SELECT id FROM doc').length === kept())
    for (const table of ['excerpt', 'words_docsize']) assert.equal(inIndex(directory, `SELECT 1 FROM ${table}`).length, kept(), table)
    await store.close()
    for (const word of ['archived', 'evicted']) {
      const rows = inIndex(directory, `SELECT rowid FROM words WHERE words MATCH '${word}'`)
      assert.equal(rows.length, 0, word)
    }
  })

  it('is not kept where the search is switched off', async () => {
    const { directory, scenario } = await fresh({ isSearched: false })
    await scenario.append([said('1', 'x')])
    assert.equal(scenario.search, undefined)
    assert.equal(existsSync(indexIn(directory)), false)
  })
})

describe('a page that takes long', () => {
  it('ends early, and the next ones go on where it ended, to the last record', async () => {
    const { directory, scenario } = await fresh()
    await scenario.append(counted(50).map((index) => said(`r${index}`, index % 10 === 3 ? 'each rare' : 'each')))
    await found(scenario, 'each')
    const [index, records] = [openForSearching(directory), new DatabaseSync(fileIn(directory), { readOnly: true })]
    onTestFinished(() => [index, records].forEach((db) => db?.close()))
    const pages = (query: Partial<SearchQuery>, reach?: PageReach): readonly (readonly number[])[] => {
      const find = makeFind(index, records, reach)
      const all: number[][] = []
      for (let before: number | null = Number.MAX_SAFE_INTEGER; before !== null;) {
        const { rows, next }: FoundRecords = find('a', { before, limit: 3, ...query })
        all.push(rows.map(({ sequence }) => sequence))
        before = next
      }
      return all
    }
    for (const query of [
      { text: 'rare' },
      { text: 'each' },
      {},
      { text: 'each', since: 0 },
      { until: 3e9 },
      { text: 'each -rare' },
      { text: '-rare' },
    ]) {
      const whole = pages(query)
      assert.deepEqual(pages(query, { records: 7, milliseconds: 0 }).flat(), whole.flat())
      // As long as there is time, a page is as full as it can be.
      assert.deepEqual(pages(query, { records: 7, milliseconds: 60_000 }), whole)
    }
    const nothing = { text: 'each', scoreMin: 2 }
    assert.equal(pages(nothing, { records: 7, milliseconds: 0 }).length, 8)
    assert.deepEqual(pages(nothing), [[]])
  })
})

describe('threads of the search', () => {
  it('do not start before there is a question or some time has passed', async () => {
    const started = new Set<string | null>()
    const note = ({ threadName }: Worker): void => void started.add(threadName)
    process.on('worker', note)
    onTestFinished(() => void process.off('worker', note))
    const { scenario } = await fresh()
    await scenario.append([said('1', 'x')])
    assert.deepEqual([...started], ['writer'])
    await found(scenario, 'x')
    assert.deepEqual(started, new Set(['writer', 'indexer', 'searcher']))
  })

  it('end with the store, also in the middle of their work', async () => {
    const { directory, store, scenario } = await fresh()
    await scenario.append(counted(5000).map((index) => said(`r${index}`, `number ${index}`)))
    await scenario.search?.find({ before: 10, limit: 1 })
    await store.close()
    const again = await open(directory)
    assert.equal(await found(again.scenario('a'), '"number 4999"'), 1)
  })
})

async function found({ search }: ScenarioStore, text: string): Promise<number> {
  for (;;) {
    const page = await search?.find({ text, before: Number.MAX_SAFE_INTEGER, limit: 100 })
    if (page?.waiting === 0) return page.rows.length
  }
}

/** The same where the index may be refused as damaged until it was made anew. */
async function foundAtLast(scenario: ScenarioStore, text: string): Promise<number> {
  await until(() =>
    found(scenario, text).then(
      () => true,
      () => false,
    ),
  )
  return found(scenario, text)
}

function changeIndex(directory: string, sql: string): void {
  const db = new DatabaseSync(indexIn(directory))
  db.exec(sql)
  db.close()
}

function inIndex(directory: string, sql: string): unknown[] {
  const db = new DatabaseSync(indexIn(directory), { readOnly: true })
  try {
    return db.prepare(sql).all()
  } finally {
    db.close()
  }
}
