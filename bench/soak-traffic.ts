/** The mixed traffic of a soak, in slices: each slice runs all kinds of load at once, then reads some of its receipts back. */

import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { get, post } from './asking.ts'
import { SCENARIO, type Running } from './contestant.ts'
import type { Failures, JsonJob } from './jobs.ts'
import { shapeJob, sseJob } from './parts.ts'
import type { Rig } from './rig.ts'
import { tinyJob } from './rounds.ts'

/** Shares of the rate; the rest are requests of 200 B. */
const SHARES = { tool: 0.04, context: 0.004, report: 0.02 } as const
/** A stream of 64 tokens takes about this many seconds. */
const STREAM = { plan: { tokens: 64, gapMs: 20 }, concurrency: 8, seconds: 1.3 } as const
const READ_BACK_PER_SLICE = 20

export interface Slice {
  readonly requests: number
  readonly frames: number
  readonly framesLost: number
  readonly p99Ms: number
  /** Receipts that were read back, and how many of them were not there. */
  readonly receipts: readonly string[]
  readonly missing: number
  readonly failures: Failures
}

export class SoakTraffic {
  readonly #rig: Rig
  readonly #running: Running
  readonly #receiptsFile: string
  /** The exchange that all reports quote. */
  #quoted: string | undefined
  #moves = 0

  constructor(rig: Rig, running: Running) {
    this.#rig = rig
    this.#running = running
    this.#receiptsFile = join(rig.directory, 'soak-receipts')
  }

  /** An exchange that all reports quote, a first step, and so a second release. */
  async begin(): Promise<void> {
    await this.slice(1, 50)
    await post(this.#running.port, '/svc/train', SCENARIO, { text: 'publish', session: 'bench', release_id: 'bench' })
  }

  async slice(seconds: number, perSecond: number): Promise<Slice> {
    const { generator } = this.#rig
    const streamed = generator.run({ ...sseJob(this.#turn, STREAM.plan, STREAM.concurrency), seconds })
    const results = await Promise.all(this.#jobs(seconds, perSecond).map((job) => generator.run(job)))
    const streams = await streamed
    await this.#promote()
    const receipts = this.#takeReceipts()
    const found = await Promise.all(receipts.map((id) => isStored(this.#running.port, id)))
    return {
      requests: results.reduce((sum, { requests }) => sum + requests, streams.streams),
      frames: streams.frames,
      framesLost: streams.framesLost,
      p99Ms: results[0]?.latencyMs.p99 ?? Number.NaN,
      receipts,
      missing: found.filter((is) => !is).length,
      failures: sumOf([...results, streams].map(({ failures }) => failures)),
    }
  }

  get #turn() {
    return { rig: this.#rig, running: this.#running, receiptsFile: this.#receiptsFile }
  }

  #jobs(seconds: number, perSecond: number): readonly JsonJob[] {
    const { tool, context, report } = SHARES
    const rest = perSecond * (1 - tool - context - report) - STREAM.concurrency / STREAM.seconds
    const tiny = tinyJob(this.#rig, this.#running, { concurrency: 32, seconds, receiptsFile: this.#receiptsFile })
    const jobs = [
      { ...tiny, perSecond: rest },
      { ...shapeJob(this.#turn, 'tool', 4), perSecond: perSecond * tool },
      { ...shapeJob(this.#turn, 'context', 2), perSecond: perSecond * context },
      ...this.#reports(tiny, perSecond * report),
    ]
    return jobs.map((job) => ({ ...job, seconds }))
  }

  #reports(tiny: JsonJob, perSecond: number): readonly JsonJob[] {
    if (this.#quoted === undefined) return []
    const body = JSON.stringify({ score: 1, feedback: 'as it should be', references: [this.#quoted] })
    const { receiptsFile: _, ...job } = tiny
    return [{ ...job, path: '/svc/report', body, answerBytes: 1, concurrency: 2, perSecond }]
  }

  /** To the seed and back to what the last step published, by turns; steps go on landing meanwhile. */
  async #promote(): Promise<void> {
    const { releases } = await get(this.#running.port, `/svc/scenarios/${SCENARIO}/releases?limit=10`)
    const rows: readonly unknown[] = Array.isArray(releases) ? releases : []
    const row = rows[this.#moves % 2 === 0 ? rows.length - 1 : 0]
    if (rows.length < 2 || row === undefined) return
    this.#moves += 1
    await post(this.#running.port, `/svc/scenarios/${SCENARIO}/rollback`, SCENARIO, { release_id: String(Object(row)['release_id']) })
  }

  #takeReceipts(): readonly string[] {
    const all = existsSync(this.#receiptsFile) ? readFileSync(this.#receiptsFile, 'utf8').split('\n').filter(Boolean) : []
    rmSync(this.#receiptsFile, { force: true })
    this.#quoted ??= all[0]
    return all.filter((_, index) => index % Math.ceil(all.length / READ_BACK_PER_SLICE) === 0)
  }
}

export function isStored(port: number, id: string): Promise<boolean> {
  return get(port, `/svc/scenarios/${SCENARIO}/records/${encodeURIComponent(id)}`).then(
    ({ payload }) => typeof payload === 'object' && payload !== null,
    () => false,
  )
}

export function sumOf(counts: readonly Failures[]): Failures {
  const sum: Record<string, number> = {}
  for (const [name, count] of counts.flatMap((each) => Object.entries(each))) sum[name] = (sum[name] ?? 0) + count
  return sum
}
