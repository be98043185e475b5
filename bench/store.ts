/**
 * Measures the stores: appends per second at several concurrencies, imported records per second, and a bare append-and-sync loop on the same
 * disk. Run: node bench/store.ts [seconds per measurement] [folder]
 */
import { hash } from 'node:crypto'
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { BODY_BYTES_MAX, IMPORT_BATCH_RECORDS_MAX, type Commit, type NewRecord, type Store } from '../src/contract/index.ts'
import memory from '../plugins/stores/memory/index.ts'
import sqlite from '../plugins/stores/sqlite/index.ts'

const PAYLOAD_BYTES = 1024
const CONCURRENCIES = [1, 8, 64]
const SCENARIO = 'bench'
const CAPACITY_BYTES = 64 * BODY_BYTES_MAX

const seconds = Number(process.argv[2] ?? 2)
const folder = mkdtempSync(join(process.argv[3] ?? tmpdir(), 'store-bench-'))
const payload = Buffer.from(JSON.stringify({ request: { text: 'x'.repeat(PAYLOAD_BYTES - 24) } }))
let records = 0

interface Measured {
  readonly what: string
  readonly perSecond: number
  readonly cpuMicroseconds: number
}

try {
  report(await measure('raw append + fdatasync', rawAppend()))
  for (const [name, store] of [
    ['memory', await memory.plugin.make({ capacity_bytes: CAPACITY_BYTES })],
    ['sqlite', await sqlite.plugin.make({ directory: join(folder, 'sqlite'), capacity_bytes: CAPACITY_BYTES })],
  ] as const) {
    await measureStore(name, store)
    await store.close()
  }
  report(await measure('raw append + fdatasync, again', rawAppend()))
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function measureStore(name: string, store: Store): Promise<void> {
  const scenario = store.scenario(SCENARIO)
  await scenario.commit(creation())
  const appendOne = async () => void (await scenario.append([newRecord()]))
  for (const concurrency of CONCURRENCIES) {
    report(await measure(`${name} append, concurrency ${concurrency}`, appendOne, concurrency))
  }
  const batch = async () => void (await scenario.append(Array.from({ length: IMPORT_BATCH_RECORDS_MAX }, newRecord)))
  report(await measure(`${name} import of ${IMPORT_BATCH_RECORDS_MAX}`, batch, 1, IMPORT_BATCH_RECORDS_MAX))
}

/** A closed loop of `concurrency` clients. */
async function measure(what: string, work: () => Promise<void> | void, concurrency = 1, unitsPerCall = 1): Promise<Measured> {
  const cpuBefore = process.cpuUsage()
  const begin = performance.now()
  let calls = 0
  const client = async () => {
    while (performance.now() - begin < seconds * 1000) {
      await work()
      calls += 1
      // The memory store never yields, so the timer and the other clients need a turn.
      if (calls % 256 === 0) await nextTurn()
    }
  }
  await Promise.all(Array.from({ length: concurrency }, client))
  const elapsed = (performance.now() - begin) / 1000
  const { user, system } = process.cpuUsage(cpuBefore)
  const units = calls * unitsPerCall
  return { what, perSecond: units / elapsed, cpuMicroseconds: (user + system) / units }
}

function report({ what, perSecond, cpuMicroseconds }: Measured): void {
  console.log(`${what.padEnd(34)} ${perSecond.toFixed(0).padStart(9)}/s ${cpuMicroseconds.toFixed(1).padStart(8)} CPU µs each`)
}

function rawAppend(): () => void {
  const file = openSync(join(folder, `raw-${records}`), 'a')
  process.once('exit', () => closeSync(file))
  return () => {
    writeSync(file, payload)
    fdatasyncSync(file)
  }
}

/** Ids ascend with time, like the service's own. */
function newRecord(): NewRecord {
  records += 1
  const agent_record_id = records.toString(16).padStart(12, '0') + hash('md5', String(records)).slice(12)
  return { agent_record_id, request_type: 'inference', created_at: records, references: [], artifact_ref: 'release', score: null, payload }
}

function creation(): Commit {
  const nothing = { release: null, pending: false, consumed_ids: [], metrics: {}, state: {} }
  return { step: 0, operation: 'create', outcome: 'published', recorded_at: 0, ...nothing }
}
