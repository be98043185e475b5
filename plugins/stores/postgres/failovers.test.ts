/**
 * A synchronous pair whose primary is killed again and again, each time with its standby taking over: no receipt is lost.
 * `npm run test:cluster:failovers` takes a hundred.
 */
import { randomBytes } from 'node:crypto'
import { expect, it, onTestFinished } from 'vitest'
import { commit, counted, create, record, sequences, steps } from '../../../conformance/store-samples.ts'
import type { Store } from '../../../src/contract/index.ts'
import { freePort } from '../../../test/support/listen.ts'
import { startPostgres, type PostgresServer } from '../../../test/support/postgres.ts'
import { until } from '../../../test/support/wait.ts'
import postgres from './index.ts'
import { isDone } from './testing/done.ts'

const FAILOVERS = Number(process.env['FAILOVERS'] ?? 2)
const WRITERS = 6
const RECORDS_BETWEEN = 40
const BODY_BYTES = 600
const PAGE = 1000
/** What may be answered while no primary is there. */
const AWAY = new Set(['store_unreachable', 'store_read_only', 'store_busy', 'storage_failed'])

/** A commit is answered once the standby has it on its disk. */
const SETTINGS = { cluster_name: 'standby', synchronous_standby_names: 'standby', wal_keep_size: '64MB', max_wal_senders: 10 }

/** Two servers at two ports: one is the primary. */
class SynchronousPair {
  readonly #ports: readonly [number, number]
  primary: PostgresServer
  standby: PostgresServer

  static async start(): Promise<SynchronousPair> {
    const ports = [await freePort(), await freePort()] as const
    const primary = await startPostgres({ settings: SETTINGS, port: ports[0] })
    return new SynchronousPair(ports, primary, await startPostgres({ settings: SETTINGS, port: ports[1], standbyOf: primary }))
  }

  constructor(ports: readonly [number, number], primary: PostgresServer, standby: PostgresServer) {
    this.#ports = ports
    this.primary = primary
    this.standby = standby
  }

  /** With both hosts, in the order of the ports. */
  get url(): string {
    return this.primary.networkUrl.replace(/127\.0\.0\.1:\d+/, this.#ports.map((port) => `127.0.0.1:${port}`).join(','))
  }

  /** The primary is killed, its standby takes over, and a new standby is made in its place. */
  async failOver(): Promise<void> {
    const lost = this.primary
    await lost.kill()
    this.promote()
    lost.stop()
    this.standby = await startPostgres({ settings: SETTINGS, port: lost.port, standbyOf: this.primary })
  }

  promote(): void {
    this.primary = this.standby
    this.primary.sql('SELECT pg_promote()')
  }

  stop(): void {
    for (const server of [this.primary, this.standby]) server.stop()
  }
}

async function opened(url: string, schema: string): Promise<Store> {
  const store = await postgres.plugin.make({ url, schema, connections: 4 })
  onTestFinished(() => store.close())
  return store
}

async function startedPair(): Promise<SynchronousPair> {
  const pair = await SynchronousPair.start()
  onTestFinished(() => pair.stop())
  return pair
}

it(
  `no receipt is lost in ${FAILOVERS} failovers, and the stores find the new primary by themselves`,
  { timeout: 120_000 + FAILOVERS * 30_000 },
  async () => {
    const pair = await startedPair()
    const stores = [await opened(pair.url, 'pair'), await opened(pair.url, 'pair')] as const
    await create(stores[0], 'a')
    const receipts = new Map<string, Uint8Array>()
    const landed: number[] = []
    const over = new AbortController()
    const writing = counted(WRITERS).map(async (writer) => {
      const a = (stores[writer % 2] ?? stores[0]).scenario('a')
      for (let turn = 1; !over.signal.aborted; turn += 1) {
        const [id, payload] = [`${writer}-${turn}`, body()]
        if (await isDone(() => a.append([record(id, { payload })]), AWAY)) receipts.set(id, payload)
      }
    })
    const landing = (async () => {
      for (let step = 1; !over.signal.aborted;)
        if (await isDone(() => stores[0].scenario('a').commit(commit(step)), AWAY)) landed.push(step++)
    })()
    for (const _ of counted(FAILOVERS)) {
      const before = receipts.size
      await until(() => receipts.size > before + RECORDS_BETWEEN)
      await pair.failOver()
    }
    const before = receipts.size
    await until(() => receipts.size > before + RECORDS_BETWEEN)
    over.abort()
    await Promise.all([...writing, landing])
    const found = new Map<string, string>()
    const a = stores[1].scenario('a')
    for (let after = 0; ;) {
      const rows = await a.records({ after, limit: PAGE })
      if (rows.length === 0) break
      expect(sequences(rows)).toEqual(rows.map((_, index) => after + index + 1))
      for (const { agent_record_id: id } of rows) if (receipts.has(id)) found.set(id, textOf((await a.get(id))?.payload))
      after = rows.at(-1)?.sequence ?? 0
    }
    expect([...receipts].filter(([id, payload]) => found.get(id) !== textOf(payload))).toEqual([])
    expect(steps(await a.commits({ after: 0, limit: 10_000 }))).toEqual(landed)
    expect(await stores[0].verify(() => undefined)).toEqual([])
  },
)

it('what a primary kept for itself and was not answered is not acknowledged when it is asked for again', { timeout: 180_000 }, async () => {
  const pair = await startedPair()
  const store = await opened(pair.primary.url, 'alone')
  const a = await create(store, 'a')
  await pair.standby.kill()
  const ends = [
    a.commit(commit(1)).then(
      () => 'landed',
      () => 'refused',
    ),
    a.append([record('r')]).then(
      () => 'stored',
      () => 'refused',
    ),
  ]
  // Its row is on the disk of the primary, and its transaction waits for the standby.
  await until(() => pair.primary.sql(`SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`) !== '0')
  await pair.primary.kill()
  await pair.primary.start()
  await until(() => pair.primary.sql('SELECT count(*) FROM alone.commit_row') === '2')
  expect(await Promise.all(ends)).toEqual(['refused', 'refused'])
  await pair.standby.start()
  await until(async () => (await store.writing?.check()) === null)
  await until(() => isDone(() => a.append([record('r')]), AWAY))
})

const body = (): Uint8Array => Buffer.from(JSON.stringify({ random: randomBytes(BODY_BYTES).toString('base64') }))
const textOf = (payload: Uint8Array | null | undefined): string => Buffer.from(payload ?? []).toString()
