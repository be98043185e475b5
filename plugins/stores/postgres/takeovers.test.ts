/**
 * The holder of a lease is stopped (SIGSTOP), another process takes the lease and lands, and the first goes on as if nothing had been: no row
 * of a former holder is stored. `npm run test:cluster:takeovers` takes a thousand.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { counted, create } from '../../../conformance/store-samples.ts'
import { lotOf } from '../../../src/kit/index.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { startPostgres, type PostgresServer } from '../../../test/support/postgres.ts'
import { until } from '../../../test/support/wait.ts'
import postgres from './index.ts'

const TAKEOVERS = Number(process.env['TAKEOVERS'] ?? 6)
/** Of so many takeovers one waits until the server itself ends the transaction of the stopped one. */
const WAITED_FOR = 10
const HOLDERS = 4
const HOLDER = fileURLToPath(new URL('testing/holder.fixture.ts', import.meta.url))
const WAYS = ['sealed', 'sent', 'anywhere'] as const

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres({ settings: { fsync: 'off' } })
})
afterAll(() => server.stop())

interface Landed {
  readonly step: number
  readonly token: number
}

class Holder {
  readonly name: string
  readonly landed: Landed[] = []
  readonly failures: string[] = []
  refused = 0
  stops = 0
  token = 0
  isReady = false
  readonly #order: string
  readonly #process: ChildProcess

  constructor(name: string, schema: string, folder: string) {
    this.name = name
    this.#order = join(folder, name)
    this.#process = spawn(process.execPath, [HOLDER, server.url, schema, name, this.#order], { stdio: ['ignore', 'pipe', 'inherit'] })
    if (this.#process.stdout !== null) createInterface(this.#process.stdout).on('line', (line) => this.#hear(line))
  }

  /** Stops where it is told, or wherever it is. */
  async stop(way: (typeof WAYS)[number]): Promise<void> {
    if (way === 'anywhere') return void this.#process.kill('SIGSTOP')
    const before = this.stops
    writeFileSync(`${this.#order}.${way}`, '')
    await until(() => this.stops > before)
  }

  goOn(): void {
    this.#process.kill('SIGCONT')
  }

  end(): void {
    this.#process.kill('SIGKILL')
  }

  #hear(line: string): void {
    const [word, first = '', second = ''] = line.split(' ')
    if (word === 'ready') this.isReady = true
    else if (word === 'stops') this.stops += 1
    else if (word === 'holds') this.token = Number(first)
    else if (word === 'landed') this.landed.push({ step: Number(first), token: Number(second) })
    else if (word === 'refused') this.refused += 1
    else if (word !== 'unheard') this.failures.push(line)
  }
}

it(
  `${TAKEOVERS} takeovers leave no row of a former holder, and the chain is what was answered`,
  { timeout: 120_000 + TAKEOVERS * 15_000 },
  async () => {
    const store = await postgres.plugin.make({ url: server.url, schema: 'taken', connections: 2 })
    onTestFinished(() => store.close())
    await create(store, 'a')
    const folder = temporaryFolder()
    // One that counted as gone comes back with its next beat, after up to two seconds: until then another one can take the lease.
    const holders = counted(HOLDERS).map((index) => new Holder(`holder-${index}`, 'taken', folder))
    onTestFinished(() => holders.forEach((holder) => holder.end()))
    await until(() => holders.every(({ isReady }) => isReady) && holders.some(({ landed }) => landed.length > 0))
    for (let takeover = 1; takeover <= TAKEOVERS; takeover += 1) {
      const way = WAYS[takeover % WAYS.length] ?? 'sealed'
      const holder = holders.reduce((newest, each) => (each.token > newest.token ? each : newest))
      const landedByOthers = (): number => holders.reduce((sum, each) => sum + (each === holder ? 0 : each.landed.length), 0)
      const [landedBefore, refusedBefore] = [landedByOthers(), holder.refused]
      await holder.stop(way)
      // As if its lifetime were over. Its own clock does not know: nothing but the fence keeps its rows out.
      server.sql(`UPDATE taken.member SET beat_at = beat_at - interval '1 hour' WHERE id = (SELECT member FROM taken.lease)`)
      // One that was stopped within its transaction holds the lease's row until the server ends that transaction: after ten seconds, or here at once.
      if (takeover % WAITED_FOR !== 0)
        server.sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle in transaction'`)
      await until(() => landedByOthers() > landedBefore + (lotOf(`takeover ${takeover}`) % 3))
      holder.goOn()
      await until(() => holder.refused > refusedBefore)
    }
    for (const each of holders) each.end()
    const rows = await store.scenario('a').commits({ after: 0, limit: 1_000_000 })
    const chain = rows.map(({ step, metrics }) => ({ step, token: Number(metrics['token']) }))
    expect(holders.flatMap(({ failures }) => failures)).toEqual([])
    expect(chain.map(({ step }) => step)).toEqual(chain.map((_, index) => index + 1))
    expect(chain.filter(({ token }, index) => token < (chain[index - 1]?.token ?? 0))).toEqual([])
    // What was answered is there as it was answered. The last of each may have landed with nobody left to hear of it.
    const stored = new Map(chain.map(({ step, token }) => [step, token]))
    expect(holders.flatMap(({ landed }) => landed.filter(({ step, token }) => stored.get(step) !== token))).toEqual([])
    expect(chain.at(-1)?.token).toBeGreaterThan(TAKEOVERS)
  },
)
