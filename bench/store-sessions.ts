/**
 * Measures agent sessions in the SQLite store: bytes per session as sent, after the last receipt and once the writer was idle, and CPU per
 * record. A session whose first bytes change with every turn is written as it came, which is the cost without compression.
 * Run: node bench/store-sessions.ts [turns] [folder]
 */
import { hash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Commit, ScenarioStore, Store } from '../src/contract/index.ts'
import sqlite from '../plugins/stores/sqlite/index.ts'
import { usedBytes } from './disk.ts'
import type { FormatName } from './options.ts'
import { sessionBodies } from './session.ts'

const turns = Number(process.argv[2] ?? 100)
const CAPACITY_BYTES = 4 * 1024 ** 3
const IDLE_LOOK_MS = 500

interface MeasuredSession {
  readonly what: string
  readonly format: FormatName
  /** Each turn begins with the time, as some clients' do. */
  readonly hasClock?: boolean
}

const SESSIONS: readonly MeasuredSession[] = [
  { what: 'chat', format: 'chat' },
  { what: 'messages', format: 'messages' },
  { what: 'responses', format: 'responses' },
  { what: 'chat, the time first', format: 'chat', hasClock: true },
]

const folder = mkdtempSync(join(process.argv[3] ?? tmpdir(), 'session-bench-'))
try {
  // The first session pays for compiling.
  for (const each of [SESSIONS[0], ...SESSIONS].entries()) await measure(...each)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function measure(seed: number, options: MeasuredSession | undefined): Promise<void> {
  if (options === undefined) return
  const directory = join(folder, String(seed))
  const payloads = [...sessionBodies({ turns, seed }, options.format)].map((body, turn) => payloadOf(body, turn, options.hasClock ?? false))
  const sent = payloads.reduce((sum, payload) => sum + payload.byteLength, 0)
  const store = await sqlite.plugin.make({ directory, capacity_bytes: CAPACITY_BYTES })
  const scenario = store.scenario('bench')
  await scenario.commit(creation())
  const appendCpu = await cpuPerRecord(() => appendAll(scenario, payloads))
  const atOnce = (await store.usage()).body_bytes
  const idleCpu = await cpuPerRecord(() => untilIdle(store))
  const later = (await store.usage()).body_bytes
  const readCpu = await cpuPerRecord(() => readAll(scenario))
  await store.close()
  if (seed === 0) return
  const file = usedBytes(join(directory, 'records.sqlite3'))
  console.log(
    `${options.what.padEnd(28)} sent ${megabytes(sent)}, kept ${megabytes(atOnce)} at once and ${megabytes(later)} later ` +
      `(${(sent / later).toFixed(1)} times less), ${megabytes(file)} of the file; ` +
      `CPU µs per record: append ${appendCpu}, idle ${idleCpu}, read ${readCpu}`,
  )
}

/** The request with its answer, as the service keeps an exchange. */
function payloadOf(body: string, turn: number, hasClock: boolean): Buffer {
  const time = hasClock ? `"time":"${new Date(turn * 13_000).toISOString()}",` : ''
  const response = {
    id: hash('md5', body),
    model: 'mock',
    choices: [{ index: 0, message: { role: 'assistant', content: `turn ${turn}` } }],
  }
  return Buffer.from(`{${time}${body.slice(1, -1)},"response":${JSON.stringify(response)}}`)
}

async function appendAll(scenario: ScenarioStore, payloads: readonly Buffer[]): Promise<void> {
  const usual = { request_type: 'inference', references: [], artifact_ref: 'release', score: null } as const
  for (const [turn, payload] of payloads.entries()) {
    await scenario.append([
      { ...usual, agent_record_id: `turn ${turn}`, created_at: turn, payload, summary: { latency_ms: 1, session: 's' } },
    ])
  }
}

async function readAll(scenario: ScenarioStore): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await scenario.get(`turn ${turn}`)
}

/** Until nothing changed between two looks. */
async function untilIdle(store: Store): Promise<void> {
  for (let [before, now] = [-1, 0]; before !== now;) {
    before = now
    await sleep(IDLE_LOOK_MS)
    now = (await store.usage()).body_bytes
  }
}

async function cpuPerRecord(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return Math.round((user + system) / turns)
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(2)} MB`
}

function creation(): Commit {
  const nothing = { release: null, pending: false, consumed_ids: [], metrics: {}, state: {} }
  return { step: 0, operation: 'create', outcome: 'published', recorded_at: 0, ...nothing }
}
