/** Interleaved rounds: every contestant has a turn per round, in a changing order; a durable one is killed at its end. */
import { join } from 'node:path'
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs'
import type { Contestant, Running, Site } from './contestant.ts'
import { CONTESTANT } from './contestants.ts'
import { SHAPES } from './formats.ts'
import type { Failures, JsonJob } from './jobs.ts'
import type { ContestantName, PartName } from './options.ts'
import { checkReceipts } from './receipts.ts'
import { costMetrics, type Rig, type Upstream } from './rig.ts'
import { spread } from './stats.ts'

const APPEND_BYTES = 4096

const DISK_SECONDS = 0.5
const WARM_UP = { concurrency: 32, seconds: 1 }
const WARM_UP_REQUESTS = 20_000
const WARM_UP_SECONDS_MAX = 8
const WARM_UP_SECONDS_QUICK = 1
const KILL_CONCURRENCY = 32
const KILL_AFTER_MS = 600

export interface Part {
  readonly name: PartName
  readonly rounds: number
  readonly contestants: readonly ContestantName[]
  readonly upstream: Upstream
  /** Further settings of the service. */
  readonly settings?: Site['settings']
  /** The cores that the service may use; missing: all. */
  readonly cores?: string
}

export interface Turn {
  readonly rig: Rig
  readonly part: Part
  readonly round: number
  readonly contestant: Contestant
  readonly running: Running
  /** Missing for a contestant without durable receipts. */
  readonly receiptsFile?: string
}

export async function inRounds(rig: Rig, part: Part, take: (turn: Turn) => Promise<void>): Promise<void> {
  const lasting = new Map<ContestantName, Running>()
  const left = new Set<ContestantName>()
  for (let round = 0; round < part.rounds; round += 1) {
    for (const name of rotated(part.contestants, round).filter((each) => !left.has(each))) {
      rig.progress(`${part.name}: round ${round + 1} of ${part.rounds}, ${name}`)
      const contestant = CONTESTANT[name]
      const isPlayed = await unlessAPeerFails(rig, contestant, async () => {
        if (contestant.fresh) await freshTurn(rig, part, round, contestant, take)
        else await take({ rig, part, round, contestant, running: await lastingOne(rig, part, contestant, lasting) })
      })
      if (!isPlayed) left.add(name)
    }
  }
  for (const running of lasting.values()) await running.process?.stop()
  await part.upstream.process.stop()
}

/** A peer that fails is left out of the part; the service and its upstream must work. */
async function unlessAPeerFails(rig: Rig, { name, isPeer }: Contestant, turn: () => Promise<void>): Promise<boolean> {
  try {
    await turn()
    return true
  } catch (error) {
    if (!isPeer) throw error
    const said = error instanceof Error ? error.message : String(error)
    rig.progress(`going on without ${name}: ${said.trim().split('\n').at(-1)}`)
    return false
  }
}

export function rotated<Item>(items: readonly Item[], by: number): readonly Item[] {
  const at = by % Math.max(1, items.length)
  return [...items.slice(at), ...items.slice(0, at)]
}

function sampleDisk({ rig, part, round }: Turn, window: 'before' | 'after'): void {
  const metrics = measureDisk(rig.directory, DISK_SECONDS)
  rig.samples.push({ part: part.name, round, who: 'disk', window, metrics, failures: {} })
}

async function lastingOne(rig: Rig, part: Part, contestant: Contestant, lasting: Map<ContestantName, Running>): Promise<Running> {
  const known = lasting.get(contestant.name)
  if (known !== undefined) return known
  const running = await contestant.start(rig.site(part.upstream.port, part))
  lasting.set(contestant.name, running)
  await warmUp(rig, tinyJob(rig, running, WARM_UP))
  return running
}

async function freshTurn(rig: Rig, part: Part, round: number, contestant: Contestant, take: (turn: Turn) => Promise<void>): Promise<void> {
  const site = rig.site(part.upstream.port, part)
  const running = await contestant.start(site)
  const receipts = contestant.durable ? { receiptsFile: join(site.directory, 'receipts') } : {}
  await warmUp(rig, tinyJob(rig, running, { ...WARM_UP, ...receipts }))
  const turn: Turn = { rig, part, round, contestant, running, ...receipts }
  if (contestant.durable) await measuredAndKilled(turn, site, take)
  else await take(turn)
  await running.process?.kill()
  rig.clear(site)
}

/** Measures the disk before and after: its speed may change tenfold within a minute. */
async function measuredAndKilled(turn: Turn, site: Site, take: (turn: Turn) => Promise<void>): Promise<void> {
  sampleDisk(turn, 'before')
  await take(turn)
  sampleDisk(turn, 'after')
  await killAndCheck(turn, site)
}

/** Warms up the JIT compiler before measuring, with requests like those that are measured: larger ones take other ways through the code. */
export async function warmUp(rig: Rig, job: JsonJob): Promise<void> {
  const secondsMax = rig.options.quick ? WARM_UP_SECONDS_QUICK : WARM_UP_SECONDS_MAX
  let requests = 0
  for (let seconds = 0; seconds < secondsMax && requests < WARM_UP_REQUESTS; seconds += 1) {
    const result = await rig.generator.run({ ...job, seconds: 1 })
    requests += result.requests
  }
}

export function tinyJob(
  rig: Rig,
  running: Running,
  how: Pick<JsonJob, 'concurrency' | 'seconds' | 'receiptsFile'> & { readonly breaks?: boolean },
): JsonJob {
  const { path, request } = rig.format
  const { port, headers } = running
  return { kind: 'json', port, path, headers, body: request(SHAPES.tiny), answerBytes: SHAPES.tiny.answerBytes / 2, breaks: false, ...how }
}

/** kill -9 under load, a restart on the same data, and a check of every receipt. */
async function killAndCheck({ rig, part, round, contestant, running, receiptsFile }: Turn, site: Site): Promise<void> {
  if (receiptsFile === undefined) return
  const load = rig.generator.run(tinyJob(rig, running, { concurrency: KILL_CONCURRENCY, seconds: 10, receiptsFile, breaks: true }))
  await new Promise((resolve) => setTimeout(resolve, KILL_AFTER_MS))
  await running.process?.kill()
  await load
  const again = await contestant.start(site)
  const check = await checkReceipts(again, receiptsFile)
  await again.process?.kill()
  const metrics = {
    receipts: check.acknowledged,
    receipts_missing: check.missing + check.bodiesMissing,
    records_stored: check.stored,
    bodies_read: check.bodiesRead,
    boot_ms: running.bootMs,
    boot_again_ms: again.bootMs,
  }
  note({ rig, part, round, contestant }, 'kill -9', metrics)
}

/** The disk's own durable append, the baseline for every durable latency: for `seconds`, without other load. */
function measureDisk(directory: string, seconds: number) {
  const path = join(directory, 'append-and-sync')
  const file = openSync(path, 'w')
  const bytes = Buffer.alloc(APPEND_BYTES, 'a')
  const times: number[] = []
  const startedAt = performance.now()
  let before = startedAt
  while (before - startedAt < seconds * 1000) {
    writeSync(file, bytes)
    fdatasyncSync(file)
    const after = performance.now()
    times.push(after - before)
    before = after
  }
  closeSync(file)
  rmSync(path)
  const { p50, p99 } = spread(times)
  return { p50_ms: p50, p99_ms: p99, per_second: (times.length / (before - startedAt)) * 1000 }
}

/** Shared by all windows of a turn. */
export function common({ rig, receiptsFile }: Pick<Turn, 'rig' | 'receiptsFile'>): Pick<JsonJob, 'seconds' | 'receiptsFile'> {
  return { seconds: rig.options.seconds, ...(receiptsFile !== undefined && { receiptsFile }) }
}

export async function jsonWindow(turn: Turn, window: string, job: JsonJob): Promise<void> {
  const { result, cost } = await turn.rig.measure(turn.running, job)
  const { requests, seconds, latencyMs, failures } = result
  const { p50, p90, p99, max } = latencyMs
  const seen = { requests, per_second: requests / seconds, p50_ms: p50, p90_ms: p90, p99_ms: p99, max_ms: max }
  note(turn, window, { ...seen, ...costMetrics(cost, requests) }, failures)
}

/** Adds a sample. */
export function note(
  { rig, part, round, contestant }: Pick<Turn, 'rig' | 'part' | 'round' | 'contestant'>,
  window: string,
  metrics: Readonly<Record<string, number>>,
  failures: Failures = {},
): void {
  rig.samples.push({ part: part.name, round, who: contestant.name, window, metrics, failures })
}
