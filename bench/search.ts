/**
 * Measures the search of a store: how long a page takes over many records, how fast they are taken into the index, and what the index takes
 * on the disk. PostgreSQL is a server of the run's own, and needs its programs. Of SQLite, a folder that holds the records of an earlier run
 * is searched as it is.
 * Run: npm run bench:search -- [--store sqlite|postgres] [records] [folder]
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Commit, NewRecord, ScenarioStore, SearchQuery, Store } from '../src/contract/index.ts'
import postgres from '../plugins/stores/postgres/index.ts'
import sqlite from '../plugins/stores/sqlite/index.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { usageOf } from './cpu.ts'
import { spread } from './stats.ts'

const { values: options, positionals } = parseArgs({ allowPositionals: true, options: { store: { type: 'string', default: 'sqlite' } } })
const records = Number(positionals[0] ?? 1_000_000)
const BATCH = 1000
const ROUNDS = 25
const TARGET_MS = 200
const LIMIT = 50
const CAPACITY_BYTES = 64 * 1024 ** 3
const WORDS = 30_000
const [ASKED_WORDS, ANSWERED_WORDS] = [40, 120]
const LOOK_MS = 500
const SCHEMA = 'bench'
const ORIGINALS = 5000

let state = 1
const random = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
/** As words of a language are: a few make up most of a text. */
const wordAt = (at: number): string => `w${at.toString(36)}`
const word = (): string => wordAt(Math.floor(WORDS ** random()) - 1)
const text = (count: number): string => Array.from({ length: count }, word).join(' ')

async function fill(scenario: ScenarioStore, count: number): Promise<void> {
  const begun = performance.now()
  await scenario.commit(creation())
  for (let first = 1; first <= count; first += BATCH) await scenario.append(Array.from({ length: BATCH }, (_, at) => newRecord(first + at)))
  console.log(`stored ${count} records in ${seconds(begun)} s`)
}

/** Waits until all of them can be found. */
async function indexed(scenario: ScenarioStore): Promise<void> {
  const begun = performance.now()
  const waiting = async (): Promise<number> => (await find(scenario, { limit: 1 })).waiting
  const first = await waiting()
  while ((await waiting()) > 0) await sleep(LOOK_MS)
  const rate = first / ((performance.now() - begun) / 1000)
  if (first > 0) console.log(`took ${first} into the index in ${seconds(begun)} s, ${rate.toFixed(0)} a second with its rests`)
}

const rare = (): string => wordAt(20_000 + Math.floor(random() * 9000))
const QUERIES: readonly (readonly [what: string, query: () => Partial<SearchQuery>])[] = [
  ['the newest, without a question', () => ({})],
  ['one rare word', () => ({ text: rare() })],
  ['the most frequent word', () => ({ text: wordAt(0) })],
  ['three frequent words', () => ({ text: [0, 1, 2].map(wordAt).join(' ') })],
  ['a phrase of two frequent words', () => ({ text: `"${wordAt(3)} ${wordAt(5)}"` })],
  ['a frequent word without another', () => ({ text: `${wordAt(1)} -${wordAt(0)}` })],
  ['a beginning', () => ({ text: `${wordAt(500)}*` })],
  ['a frequent word and a model', () => ({ text: wordAt(0), model: 'large' })],
  ['a frequent word and a user', () => ({ text: wordAt(1), tags: [['user', `u${Math.floor(random() * 1000)}`]] })],
  ['a session', () => ({ tags: [['session', `s${Math.floor((random() * Math.min(records, ORIGINALS)) / 10)}`]] })],
  ['two rare words that never meet', () => ({ text: `${rare()} ${rare()} ${rare()}` })],
  ['a frequent word, a model that never answered', () => ({ text: wordAt(0), model: 'none' })],
  ['low scores', () => ({ scoreMax: 0.1 })],
  ['a score that nothing has', () => ({ scoreMin: 0.51, scoreMax: 0.59 })],
  ['a frequent word with a low score', () => ({ text: wordAt(0), scoreMax: 0.1 })],
  ['a frequent word with a score that nothing has', () => ({ text: wordAt(0), scoreMin: 2 })],
  ['the oldest tenth of the time', () => ({ until: records / 10 })],
  ['a rare word in the oldest tenth', () => ({ text: rare(), until: records / 10 })],
]

function ownCpuMicros(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

/** Answers the slowest p90. */
async function measureAll(scenario: ScenarioStore, cpuMicros: () => number): Promise<number> {
  let slowest = 0
  console.log(`${'milliseconds'.padEnd(46)}${['p50', 'p90', 'max', 'CPU'].map((name) => name.padStart(7)).join('')}`)
  for (const [what, query] of QUERIES) {
    const times: number[] = []
    const cpu = cpuMicros()
    let rows = 0
    let isWhole = true
    for (let round = 0; round < ROUNDS; round += 1) {
      const begun = performance.now()
      const page = await find(scenario, query())
      times.push(performance.now() - begun)
      rows += page.rows.length
      isWhole &&= page.rows.length === LIMIT || page.next === null
    }
    const { p50, p90, max } = spread(times)
    slowest = Math.max(slowest, p90)
    const found = `${(rows / ROUNDS).toFixed(1)} rows${isWhole ? '' : ', more on the next page'}`
    const shown = [p50, p90, max, (cpuMicros() - cpu) / 1000 / ROUNDS].map((time) => time.toFixed(1).padStart(7)).join('')
    console.log(`${what.padEnd(46)}${shown}   ${found}`)
  }
  return slowest
}

async function find({ search }: ScenarioStore, query: Partial<SearchQuery>) {
  if (search === undefined) throw new Error('the store cannot search')
  return search.find({ before: Number.MAX_SAFE_INTEGER, limit: LIMIT, ...query })
}

interface Measured {
  readonly store: Store
  readonly isFilled: boolean
  /** How many are stored as a service does it; the rest are copies of them. */
  readonly originals: number
  /** Makes the copies, with their entries in the index. */
  readonly multiply?: () => void
  /** What was taken so far, by this process and the server. */
  readonly cpuMicros: () => number
  /** What lies on the disk once the store is closed, in bytes. */
  readonly sizes: () => Readonly<Record<string, number>>
  /** Removes it. */
  readonly remove: () => void
}

async function openSqlite(kept: string | undefined): Promise<Measured> {
  const folder = kept ?? mkdtempSync(join(tmpdir(), 'search-bench-'))
  const isFilled = existsSync(join(folder, 'records.sqlite3'))
  const size = (name: string): number => ['', '-wal'].reduce((sum, suffix) => sum + fileBytes(join(folder, name + suffix)), 0)
  return {
    isFilled,
    originals: records,
    cpuMicros: ownCpuMicros,
    store: await sqlite.plugin.make({ directory: folder, capacity_bytes: CAPACITY_BYTES }),
    sizes: () => Object.fromEntries(['records.sqlite3', 'search.sqlite3'].map((name) => [name, size(name)])),
    remove: () => kept === undefined && rmSync(folder, { recursive: true, force: true }),
  }
}

/** With as much memory for pages as a small server has, instead of the little that tests take. */
async function openPostgres(): Promise<Measured> {
  const server = await startPostgres({ settings: { shared_buffers: '512MB', maintenance_work_mem: '512MB', max_wal_size: '4GB' } })
  const settings = { url: server.url, schema: SCHEMA, capacity_bytes: CAPACITY_BYTES }
  const size = (table: string): number => Number(server.sql(`SELECT pg_total_relation_size('${SCHEMA}.${table}')`))
  return {
    isFilled: false,
    store: await postgres.plugin.make(settings),
    originals: Math.min(records, ORIGINALS),
    cpuMicros: () =>
      ownCpuMicros() + usageOf(Number.parseInt(readFileSync(join(server.folder, 'data', 'postmaster.pid'), 'utf8'), 10)).cpuMicros,
    multiply: () => copies(records / ORIGINALS - 1).forEach((statement) => server.sql(statement)),
    sizes: () => Object.fromEntries(['record', 'body', 'search_entry'].map((table) => [table, size(table)])),
    remove: () => server.stop(),
  }
}

/**
 * The store's own thread would take hours for a million. Copies have the words of their originals, so a word is in the same share of all records
 * as it would be; a session has more exchanges. The index is made anew behind them.
 */
const copies = (times: number): readonly string[] => [
  `DROP INDEX ${SCHEMA}.search_by_words`,
  ...['record', 'body', 'search_entry'].map((table) => `CREATE TABLE ${SCHEMA}.${table}_once AS SELECT * FROM ${SCHEMA}.${table}`),
  `INSERT INTO ${SCHEMA}.body SELECT age + k * ${ORIGINALS}, scenario, sequence + k * ${ORIGINALS}, checksum, payload
   FROM ${SCHEMA}.body_once, generate_series(1, ${times}) k ORDER BY k, sequence`,
  `INSERT INTO ${SCHEMA}.record SELECT scenario, sequence + k * ${ORIGINALS}, convert_to(lpad(to_hex(sequence + k * ${ORIGINALS}), 32, '0'), 'UTF8'),
     type, created_at + k * ${ORIGINALS}, refs, artifact_ref, score, summary, session, age + k * ${ORIGINALS}
   FROM ${SCHEMA}.record_once, generate_series(1, ${times}) k ORDER BY k, sequence`,
  `INSERT INTO ${SCHEMA}.search_entry SELECT age + k * ${ORIGINALS}, scenario, sequence + k * ${ORIGINALS}, created_at + k * ${ORIGINALS}, score, words,
     facts, shown FROM ${SCHEMA}.search_entry_once, generate_series(1, ${times}) k ORDER BY k, sequence`,
  `UPDATE ${SCHEMA}.scenario SET head = head * ${times + 1}, newest_inference = newest_inference * ${times + 1}`,
  `UPDATE ${SCHEMA}.searched SET place = place * ${times + 1}`,
  `CREATE INDEX search_by_words ON ${SCHEMA}.search_entry USING gin (words, facts) WITH (gin_pending_list_limit = 1024)`,
  ...['record', 'search_entry'].map((table) => `VACUUM ANALYZE ${SCHEMA}.${table}`),
]

const fileBytes = (path: string): number => (existsSync(path) ? statSync(path).size : 0)

function newRecord(at: number): NewRecord {
  const payload = {
    model: 'm',
    messages: [{ role: 'user', content: text(ASKED_WORDS) }],
    metadata: { tags: { session: `s${Math.floor(at / 10)}`, user: `u${at % 1000}` } },
    response: { object: 'chat.completion', choices: [{ message: { role: 'assistant', content: text(ANSWERED_WORDS) } }] },
  }
  return {
    agent_record_id: at.toString(16).padStart(32, '0'),
    request_type: 'inference',
    created_at: at,
    references: [],
    artifact_ref: `release-${Math.floor(at / 100_000)}`,
    score: at % 3 === 0 ? Math.round(random() * 10) / 10 : null,
    payload: Buffer.from(JSON.stringify(payload)),
    summary: { latency_ms: 100, model: at % 4 === 0 ? 'large' : 'small' },
  }
}

function creation(): Commit {
  const nothing = { release: null, pending: false, consumed_ids: [], metrics: {}, state: {} }
  return { step: 0, operation: 'create', outcome: 'published', recorded_at: 0, ...nothing }
}

const seconds = (begun: number): string => ((performance.now() - begun) / 1000).toFixed(0)

const { store, isFilled, originals, multiply, cpuMicros, sizes, remove } =
  options.store === 'postgres' ? await openPostgres() : await openSqlite(positionals[1])
try {
  const scenario = store.scenario('bench')
  if (!isFilled) await fill(scenario, originals)
  await indexed(scenario)
  if (originals < records) multiply?.()
  const slowest = await measureAll(scenario, cpuMicros)
  console.log(`slowest p90 ${slowest.toFixed(0)} ms, target ${TARGET_MS} ms over ${records} records`)
  if (slowest > TARGET_MS) process.exitCode = 1
} finally {
  await store.close()
  for (const [name, bytes] of Object.entries(sizes()))
    console.log(`${name}: ${(bytes / 1024 ** 2).toFixed(0)} MiB, ${(bytes / records).toFixed(0)} bytes a record`)
  remove()
}
