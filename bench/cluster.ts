/**
 * Measures the PostgreSQL store beside SQLite, by turns in one run: appends per second, CPU per record of Node and the server together, and what a record's time is spent on;
 * then how long it takes until four stores, all in this process, are told of a promote, with notifications and with the connections cut that listen.
 * Needs PostgreSQL's programs. Run: npm run bench:cluster -- [seconds per measurement] [rounds] [promotes]
 */
import { hash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from '../plugins/stores/postgres/index.ts'
import sqlite from '../plugins/stores/sqlite/index.ts'
import type { Commit, NewRecord, Store } from '../src/contract/index.ts'
import { startLink } from '../test/support/link.ts'
import { startPostgres, type PostgresServer } from '../test/support/postgres.ts'
import { usageOf } from './cpu.ts'
import { median, percentile } from './stats.ts'

const [seconds = 3, rounds = 5, promotes = 100] = process.argv.slice(2).map(Number)
const BODY_BYTES = 1200
const CONCURRENCIES = [32, 128]
const WARM_RECORDS = 20_000
const GATEWAYS = 4
const SCENARIO = 'bench'

const payload = Buffer.from(JSON.stringify({ request: { text: 'x'.repeat(BODY_BYTES - 24) } }))
const folder = mkdtempSync(join(tmpdir(), 'cluster-bench-'))
const server = await startPostgres({ settings: { track_wal_io_timing: 'on' } })
let records = 0

interface Measured {
  readonly appended: number
  readonly perSecond: number
  readonly cpuMicros: number
  readonly serverMicros: number
  /** The server waited so long for its disk. */
  readonly diskMicros: number
}

try {
  await compareRates()
  await measurePromotes('with NOTIFY', false)
  await measurePromotes('with NOTIFY cut', true)
} finally {
  server.stop()
  rmSync(folder, { recursive: true, force: true })
}

/** By turns, so that what else the machine does hits both. */
async function compareRates(): Promise<void> {
  const stores = {
    sqlite: await sqlite.plugin.make({ directory: folder, search: false }),
    // The search is kept beside the records, by a thread of its own; both stores are measured without it.
    postgres: await postgres.plugin.make({ url: server.networkUrl, schema: 'rates', search: false }),
  }
  for (const store of Object.values(stores)) {
    await store.scenario(SCENARIO).commit(row(0))
    // The first records pay for compiling, however long that takes here.
    for (let appended = 0; appended < WARM_RECORDS;) appended += (await measure(store, CONCURRENCIES[0] ?? 1)).appended
  }
  for (const concurrency of CONCURRENCIES) {
    const found: Record<keyof typeof stores, Measured[]> = { sqlite: [], postgres: [] }
    for (let round = 0; round < rounds; round += 1)
      for (const name of ['sqlite', 'postgres'] as const) found[name].push(await measure(stores[name], concurrency))
    const ratios = found.postgres.map(({ perSecond }, round) => perSecond / (found.sqlite[round]?.perSecond ?? 1))
    for (const [name, all] of Object.entries(found))
      console.log(
        `${name}, ${concurrency} clients: ${middle(all, 'perSecond').toFixed(0)}/s, ${middle(all, 'cpuMicros').toFixed(1)} µs CPU per record (least ${least(all).toFixed(1)})`,
      )
    console.log(`  PostgreSQL to SQLite, median of ${rounds} rounds: ${median(ratios).toFixed(2)}`)
    console.log(`  ${spentOn(found.postgres)}`)
  }
  for (const store of Object.values(stores)) await store.close()
}

/** The server and Node take turns, so that what neither computes is mostly waiting. */
function spentOn(all: readonly Measured[]): string {
  const [cpu, ofServer] = [middle(all, 'cpuMicros'), middle(all, 'serverMicros')]
  const parts = { 'CPU of Node': cpu - ofServer, 'CPU of the server': ofServer, 'waiting for its disk': middle(all, 'diskMicros') }
  const shown = Object.entries(parts).map(([name, micros]) => `${micros.toFixed(1)} µs ${name}`)
  return `a record takes ${(1e6 / middle(all, 'perSecond')).toFixed(1)} µs: ${shown.join(', ')}`
}

function middle(all: readonly Measured[], what: keyof Measured): number {
  return median(all.map((each) => each[what]))
}

/** What else runs on the machine makes the same work take more CPU time, never less. */
function least(all: readonly Measured[]): number {
  return Math.min(...all.map(({ cpuMicros }) => cpuMicros))
}

/** A closed loop of that many clients. */
async function measure(store: Store, concurrency: number): Promise<Measured> {
  const scenario = store.scenario(SCENARIO)
  const diskBefore = diskMicrosOf(server)
  const [ownBefore, serverBefore, begin] = [ownMicros(), serverMicrosOf(server), performance.now()]
  let appended = 0
  const client = async (): Promise<void> => {
    while (performance.now() - begin < seconds * 1000) {
      await scenario.append([newRecord()])
      appended += 1
    }
  }
  await Promise.all(Array.from({ length: concurrency }, client))
  const perSecond = appended / ((performance.now() - begin) / 1000)
  const [own, ofServer] = [ownMicros() - ownBefore, serverMicrosOf(server) - serverBefore]
  return {
    appended,
    perSecond,
    cpuMicros: (own + ofServer) / appended,
    serverMicros: ofServer / appended,
    diskMicros: (diskMicrosOf(server) - diskBefore) / appended,
  }
}

/** Of this process with its threads. */
function ownMicros(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

/** Of the server with its processes. It rests while SQLite is measured. */
function serverMicrosOf({ folder: place }: PostgresServer): number {
  return usageOf(Number.parseInt(readFileSync(join(place, 'data', 'postmaster.pid'), 'utf8'), 10)).cpuMicros
}

/** As far as its processes have reported it, which each does once a second. From version 18 on it is counted elsewhere, and 0 here. */
function diskMicrosOf(from: PostgresServer): number {
  return Number(from.sql(`SELECT to_jsonb(w) ->> 'wal_sync_time' FROM pg_stat_wal w`)) * 1000
}

/** From the promote's commit until the last of the others was told. */
async function measurePromotes(what: string, isCut: boolean): Promise<void> {
  const link = await startLink(server.port)
  const url = server.networkUrl.replace(`:${server.port}/`, `:${link.port}/`)
  const schema = isCut ? 'unheard' : 'heard'
  const first = await postgres.plugin.make({ url: server.networkUrl, schema, connections: 2 })
  await first.scenario(SCENARIO).commit(row(0))
  const gateways = await Promise.all(Array.from({ length: GATEWAYS }, async () => postgres.plugin.make({ url, schema, connections: 2 })))
  if (isCut) link.holdOpen('LISTEN')
  const waits: number[] = []
  for (let step = 1; step <= promotes; step += 1) {
    const told = gateways.map((gateway) => toldOf(gateway, step))
    // At another moment of the others' polls each time.
    await new Promise((resolve) => void setTimeout(resolve, Math.random() * 100))
    const begin = performance.now()
    await first.scenario(SCENARIO).commit(row(step))
    await Promise.all(told)
    waits.push(performance.now() - begin)
  }
  const sorted = waits.toSorted((a, b) => a - b)
  const shown = ([0.5, 0.99] as const).map((share) => `p${share * 100} ${percentile(sorted, share).toFixed(0)} ms`)
  console.log(`a promote is told to ${GATEWAYS} stores, ${what}: ${shown.join(', ')}, of ${promotes}`)
  link.release()
  await Promise.all([first, ...gateways].map((store) => store.close()))
  link.close()
}

function toldOf(gateway: Store, step: number): Promise<void> {
  return new Promise((resolve) => {
    const stop = gateway.follow((change) => {
      if (change.kind !== 'landed' || change.step < step) return
      stop()
      resolve()
    })
  })
}

/** Ids ascend with time, like the service's own. */
function newRecord(): NewRecord {
  records += 1
  const agent_record_id = records.toString(16).padStart(12, '0') + hash('md5', String(records)).slice(12)
  return { agent_record_id, request_type: 'inference', created_at: records, references: [], artifact_ref: 'release', score: null, payload }
}

function row(step: number): Commit {
  const nothing = { release: null, pending: false, consumed_ids: [], metrics: {}, state: {} }
  return { step, operation: step === 0 ? 'create' : 'promote', outcome: 'published', recorded_at: 0, ...nothing }
}
