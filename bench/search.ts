/**
 * Measures the search of the SQLite store: how long a page takes over many records, how fast they are taken into the index, and what the
 * index takes on the disk. A folder that holds the records of an earlier run is searched as it is.
 * Run: node bench/search.ts [records] [folder]
 */
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Commit, NewRecord, ScenarioStore, SearchQuery } from '../src/contract/index.ts'
import sqlite from '../plugins/stores/sqlite/index.ts'
import { spread } from './stats.ts'

const records = Number(process.argv[2] ?? 1_000_000)
const kept = process.argv[3]
const folder = kept ?? mkdtempSync(join(tmpdir(), 'search-bench-'))
const BATCH = 1000
const ROUNDS = 25
const TARGET_MS = 200
const LIMIT = 50
const CAPACITY_BYTES = 64 * 1024 ** 3
const WORDS = 30_000
const [ASKED_WORDS, ANSWERED_WORDS] = [40, 120]
const LOOK_MS = 500

let state = 1
const random = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
/** As words of a language are: a few make up most of a text. */
const wordAt = (at: number): string => `w${at.toString(36)}`
const word = (): string => wordAt(Math.floor(WORDS ** random()) - 1)
const text = (count: number): string => Array.from({ length: count }, word).join(' ')

async function fill(scenario: ScenarioStore): Promise<void> {
  const begun = performance.now()
  await scenario.commit(creation())
  for (let first = 1; first <= records; first += BATCH)
    await scenario.append(Array.from({ length: BATCH }, (_, at) => newRecord(first + at)))
  console.log(`stored ${records} records in ${seconds(begun)} s`)
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
  ['a session', () => ({ tags: [['session', `s${Math.floor((random() * records) / 10)}`]] })],
  ['two rare words that never meet', () => ({ text: `${rare()} ${rare()} ${rare()}` })],
  ['a frequent word, a model that never answered', () => ({ text: wordAt(0), model: 'none' })],
  ['low scores', () => ({ scoreMax: 0.1 })],
  ['a score that nothing has', () => ({ scoreMin: 0.51, scoreMax: 0.59 })],
  ['a frequent word with a low score', () => ({ text: wordAt(0), scoreMax: 0.1 })],
  ['a frequent word with a score that nothing has', () => ({ text: wordAt(0), scoreMin: 2 })],
  ['the oldest tenth of the time', () => ({ until: records / 10 })],
  ['a rare word in the oldest tenth', () => ({ text: rare(), until: records / 10 })],
]

/** Answers the slowest p90. */
async function measureAll(scenario: ScenarioStore): Promise<number> {
  let slowest = 0
  console.log(`${'milliseconds'.padEnd(46)}${['p50', 'p90', 'max', 'CPU'].map((name) => name.padStart(7)).join('')}`)
  for (const [what, query] of QUERIES) {
    const times: number[] = []
    const cpu = process.cpuUsage()
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
    const { user, system } = process.cpuUsage(cpu)
    const shown = [p50, p90, max, (user + system) / 1000 / ROUNDS].map((time) => time.toFixed(1).padStart(7)).join('')
    console.log(`${what.padEnd(46)}${shown}   ${found}`)
  }
  return slowest
}

async function find({ search }: ScenarioStore, query: Partial<SearchQuery>) {
  if (search === undefined) throw new Error('the store cannot search')
  return search.find({ before: Number.MAX_SAFE_INTEGER, limit: LIMIT, ...query })
}

const size = (name: string): number => ['', '-wal'].reduce((sum, suffix) => sum + fileBytes(join(folder, name + suffix)), 0)

function report(): void {
  for (const name of ['records.sqlite3', 'search.sqlite3'])
    console.log(`${name}: ${(size(name) / 1024 ** 2).toFixed(0)} MiB, ${(size(name) / records).toFixed(0)} bytes a record`)
}

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

const isFilled = existsSync(join(folder, 'records.sqlite3'))
const store = await sqlite.plugin.make({ directory: folder, capacity_bytes: CAPACITY_BYTES })
try {
  const scenario = store.scenario('bench')
  if (!isFilled) await fill(scenario)
  await indexed(scenario)
  const slowest = await measureAll(scenario)
  console.log(`slowest p90 ${slowest.toFixed(0)} ms, target ${TARGET_MS} ms over ${records} records`)
  if (slowest > TARGET_MS) process.exitCode = 1
} finally {
  await store.close()
  report()
  if (kept === undefined) rmSync(folder, { recursive: true, force: true })
}
