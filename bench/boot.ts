/**
 * How long a start with a history takes: to the first answer, to the first accepted report, and until every scenario is loaded. The previous
 * process was killed and left a log to replay; the files are in the page cache.
 */

import { get, gauge, post, until } from './asking.ts'
import { BATCH, buildHistory, countBacklog, isBehind, type History, nameOf, namesIn } from './boot-data.ts'
import type { Running, Site } from './contestant.ts'
import { CONTESTANT } from './contestants.ts'
import { usageOf } from './cpu.ts'
import { freePort } from './processes.ts'
import type { Rig } from './rig.ts'
import { RECIPE } from './training.ts'

export const HISTORIES: readonly History[] = [
  { scenarios: 1000, records: 1000 },
  { scenarios: 10, records: 100_000 },
]
/** Almost empty: the fixed cost of a start. */
export const BARE: History = { scenarios: 10, records: 20 }
const QUICK: readonly History[] = [{ scenarios: 100, records: 100 }]

/** Leaves several MiB in the log, below the service's checkpoint size. */
const LOG = { batches: 4, recordsPerBatch: 1000, recordBytes: 1024, concurrency: 2 } as const
const PATIENCE_SECONDS = 300
const PROGRESS_STEPS = 10

export const startWindow = ({ scenarios, records }: History): string =>
  `${scenarios.toLocaleString('en')} x ${records.toLocaleString('en')}`
const backlogWindow = (history: History): string => `${startWindow(history)}, backlog`

export async function takeBoot(rig: Rig): Promise<void> {
  if (!rig.options.contestants.includes('svc-durable')) return
  for (const history of rig.options.quick ? QUICK : [BARE, ...HISTORIES]) await takeHistory(rig, history)
}

async function takeHistory(rig: Rig, history: History): Promise<void> {
  // No upstream call is made.
  const site = rig.site(await freePort())
  const note = (round: number, window: string, metrics: Readonly<Record<string, number>>): void => {
    rig.samples.push({ part: 'boot', round, who: 'svc-durable', window, metrics, failures: {} })
  }
  const receipt = await buildHistory(site, history, progressOf(rig, history))
  rig.progress(`boot: ${startWindow(history)}, a start that is not counted`)
  await bootAndKill(rig, site, history, receipt)
  for (let round = 0; round < rig.options.rounds; round += 1) {
    rig.progress(`boot: ${startWindow(history)}, start ${round + 1} of ${rig.options.rounds}`)
    note(round, startWindow(history), await bootAndKill(rig, site, history, receipt))
  }
  rig.progress(`boot: ${startWindow(history)}, working off the backlog`)
  note(0, backlogWindow(history), await workOffBacklog(site, history))
  rig.clear(site)
}

function progressOf(rig: Rig, history: History): (records: number) => void {
  const total = history.scenarios * history.records
  let shown = -1
  return (records) => {
    const step = Math.floor((records / total) * PROGRESS_STEPS)
    if (step === shown) return
    shown = step
    rig.progress(`boot: building ${startWindow(history)}, ${records.toLocaleString('en')} of ${total.toLocaleString('en')} records`)
  }
}

/** Batches are larger than any backlog, so that every start finds the same. */
async function bootAndKill(rig: Rig, site: Site, history: History, receipt: string): Promise<Readonly<Record<string, number>>> {
  const startedAt = performance.now()
  const sinceStart = (): number => performance.now() - startedAt
  const { running, port } = await start(site, { batchSize: BATCH * 100, loadedMax: history.scenarios })
  await get(port, '/healthz')
  const healthMs = sinceStart()
  const last = nameOf(history.scenarios - 1)
  await post(port, '/svc/report', last, { score: 1, references: [receipt] })
  const reportMs = sinceStart()
  const isLoaded = async (): Promise<boolean> => (await gauge(port, 'svc_scenarios_loaded')) === history.scenarios
  const wasLoaded = await until(isLoaded, PATIENCE_SECONDS)
  const loadedMs = wasLoaded ? sinceStart() : Number.NaN
  const { rssBytes, cpuMicros } = usageOf(running.process?.pid ?? 0)
  const missing = await countMissing(port, history)
  const headers = { ...running.headers, 'x-svc-scenario': last }
  await rig.generator.run({ kind: 'import', port, path: '/svc/records/batch', headers, ...LOG })
  await running.process?.kill()
  return {
    health_ms: healthMs,
    report_ms: reportMs,
    loaded_ms: loadedMs,
    cpu_ms: cpuMicros / 1000,
    rss_bytes: rssBytes,
    scenarios: history.scenarios,
    scenarios_missing: missing,
  }
}

async function start(site: Site, { batchSize, loadedMax }: { readonly batchSize: number; readonly loadedMax: number }) {
  const settings = {
    '--recipe': RECIPE,
    '--pipeline.task2batch.config.batch_size': String(batchSize),
    '--svc.max_loaded_scenarios': String(loadedMax),
  }
  const running: Running = await CONTESTANT['svc-durable'].start({ ...site, settings })
  return { running, port: running.port }
}

/** Scenarios that are not listed or not loaded. */
async function countMissing(port: number, history: History): Promise<number> {
  const { scenarios } = await get(port, '/svc/scenarios')
  const rows: readonly unknown[] = Array.isArray(scenarios) ? scenarios : []
  const loaded = new Set(rows.flatMap((row) => (isListed(row) && row.loaded ? [row.scenario] : [])))
  return namesIn(history).filter((name) => !loaded.has(name)).length
}

function isListed(row: unknown): row is { readonly scenario: string; readonly loaded: boolean } {
  return typeof row === 'object' && row !== null && 'scenario' in row && 'loaded' in row
}

/** Only a quarter of the scenarios may be loaded at once; the whole backlog must be processed all the same. */
async function workOffBacklog(site: Site, history: History): Promise<Readonly<Record<string, number>>> {
  const behind = namesIn(history).filter(isBehind).length
  const startedAt = performance.now()
  const { running, port } = await start(site, { batchSize: BATCH, loadedMax: Math.ceil(history.scenarios / 4) })
  const isDone = async (): Promise<boolean> => (await gauge(port, 'svc_training_steps_total{result="published"}')) >= behind
  await until(isDone, PATIENCE_SECONDS)
  const settledMs = performance.now() - startedAt
  await running.process?.kill()
  return { backlog: behind * BATCH, backlog_left: await countBacklog(site, history), settled_ms: settledMs }
}
