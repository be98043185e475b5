/** `npm run soak`: one service under mixed traffic for a long time; its memory must not grow, and no receipt may be lost. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Running, Site } from './contestant.ts'
import { CONTESTANT, hasListeners, serviceIsBuilt } from './contestants.ts'
import { usageOf } from './cpu.ts'
import { readEnvironment } from './environment.ts'
import { GarbageCollector, INSPECTABLE } from './garbage.ts'
import { readOptions } from './options.ts'
import { Rig, startNodeUpstream } from './rig.ts'
import { readSoakOptions, SOAK_HELP, type SoakOptions } from './soak-options.ts'
import { isStored, type Slice, SoakTraffic, sumOf } from './soak-traffic.ts'
import { slope } from './stats.ts'
import { RECIPE } from './training.ts'

const RESULTS = new URL('./results/', import.meta.url).pathname
const MIB = 1024 * 1024
const SLICE_SECONDS = 10
/** The heap grows until it has met its load; this share of the time is not judged. */
const WARM_UP_SHARE = 0.25
const SLOPE_MAX_MIB_PER_MINUTE = 0.2
/** Below it the steps of garbage collection hide any slope. */
const JUDGED_FROM_MINUTES = 10
const SETTINGS = { '--recipe': RECIPE, '--data.training_mode': 'hybrid', '--pipeline.task2batch.config.batch_size': '50' }

/** How many slices lie between two collections of all garbage. */
const COLLECT_EVERY = 6

/** Memory at the end of a slice. */
interface Look {
  readonly minute: number
  readonly rssMib: number
  /** What is left after a collection of all garbage; null at the end of most slices. */
  readonly heldMib: number | null
}

class Soak {
  readonly #options: SoakOptions
  readonly #looks: Look[] = []
  readonly #slices: Slice[] = []
  readonly #startedAt = performance.now()
  readonly #file = join(RESULTS, `soak-${new Date().toISOString().replaceAll(':', '-')}.json`)
  readonly #environment: ReturnType<typeof readEnvironment>
  lostOverKill: number | undefined

  constructor(options: SoakOptions, directory: string) {
    this.#options = options
    this.#environment = readEnvironment(directory)
    mkdirSync(RESULTS, { recursive: true })
  }

  get minutes(): number {
    return (performance.now() - this.#startedAt) / 60_000
  }

  get receipts(): readonly string[] {
    return this.#slices.flatMap(({ receipts }) => receipts)
  }

  async add(slice: Slice, running: Running, garbage: GarbageCollector): Promise<void> {
    this.#slices.push(slice)
    const { minutes } = this
    const rssMib = usageOf(running.process?.pid ?? 0).rssBytes / MIB
    const heldMib = this.#slices.length % COLLECT_EVERY === 0 ? (await garbage.collect()) / MIB : null
    this.#looks.push({ minute: minutes, rssMib, heldMib })
    this.keep()
    const left = Math.max(0, this.#options.minutes - this.minutes)
    const seen = this.#looks.at(-1)?.rssMib ?? 0
    progress(
      `soak: ${left.toFixed(1)} minutes left, ${seen.toFixed(0)} MiB, ${this.#goals()
        .map(({ got }) => got)
        .join(', ')}`,
    )
  }

  result() {
    const goals = this.#goals()
    const { minutes, perSecond, listeners } = this.#options
    const settings = { minutes, perSecond, listeners }
    return { settings, minutes: this.minutes, goals, environment: this.#environment, memory: this.#looks, failures: this.#failures }
  }

  keep(): void {
    writeFileSync(this.#file, `${JSON.stringify(this.result(), undefined, 2)}\n`)
  }

  get #failures() {
    return sumOf(this.#slices.map(({ failures }) => failures))
  }

  #goals() {
    const sum = (of: (slice: Slice) => number): number => this.#slices.reduce((total, slice) => total + of(slice), 0)
    const requests = sum((slice) => slice.requests)
    const failed = Object.values(this.#failures).reduce((a, b) => a + b, 0)
    const missing = sum((slice) => slice.missing)
    const lost = sum((slice) => slice.framesLost)
    const settled = this.#looks.filter(({ minute }) => minute > this.#options.minutes * WARM_UP_SHARE)
    const perMinute = slope(settled.flatMap(({ minute, heldMib }) => (heldMib === null ? [] : [[minute, heldMib] as const])))
    const isLong = this.minutes >= JUDGED_FROM_MINUTES
    const rate = requests / (this.#slices.length * SLICE_SECONDS)
    const wanted = this.#options.perSecond
    return [
      {
        what: 'growth of what it holds after garbage is collected, MiB per minute',
        wanted: `<= ${SLOPE_MAX_MIB_PER_MINUTE}`,
        got: `${Number.isNaN(perMinute) ? '-' : perMinute.toFixed(2)} MiB/min${isLong ? '' : ' (too short to judge)'}`,
        met: isLong ? perMinute <= SLOPE_MAX_MIB_PER_MINUTE : undefined,
      },
      { what: 'requests per second', wanted: `>= ${(wanted * 0.95).toFixed(0)}`, got: `${rate.toFixed(0)}/s`, met: rate >= wanted * 0.95 },
      { what: 'failed requests', wanted: '0', got: `${failed} of ${requests} failed`, met: failed === 0 },
      { what: 'frames lost', wanted: '0', got: `${lost} frames lost`, met: lost === 0 },
      { what: 'receipts not read back', wanted: '0', got: `${missing} of ${this.receipts.length} receipts missing`, met: missing === 0 },
      {
        what: 'receipts lost after kill -9',
        wanted: '0',
        got: this.lostOverKill === undefined ? 'not killed yet' : `${this.lostOverKill} of ${this.receipts.length} lost over kill -9`,
        met: this.lostOverKill === undefined ? undefined : this.lostOverKill === 0,
      },
    ] as const
  }
}

async function run(options: SoakOptions): Promise<number> {
  if (!serviceIsBuilt()) throw new Error('the service is not built: npm run build')
  if (options.listeners === 2 && !hasListeners()) throw new Error('this service knows no svc.listeners')
  const directory = mkdtempSync(join(options.directory, 'svc-soak-'))
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }))
  const defaults = readOptions([])
  if (defaults === undefined) throw new Error('the benchmark has no defaults')
  const rig = new Rig(defaults, directory, progress)
  const upstream = await startNodeUpstream(rig)
  const contestant = CONTESTANT[options.listeners === 2 ? 'svc-2-listeners' : 'svc-durable']
  const site: Site = rig.site(upstream.port, { settings: SETTINGS })
  process.env['NODE_OPTIONS'] = [process.env['NODE_OPTIONS'], INSPECTABLE].filter(Boolean).join(' ')
  const running = await contestant.start(site)
  const garbage = await GarbageCollector.of(running.process?.pid ?? 0, join(site.directory, 'service.log'))
  const traffic = new SoakTraffic(rig, running)
  await traffic.begin()
  const soak = new Soak(options, directory)
  onStop(() => finish(soak, options))
  while (soak.minutes < options.minutes) await soak.add(await traffic.slice(SLICE_SECONDS, options.perSecond), running, garbage)
  garbage.close()
  progress('soak: kill -9, and every receipt that was sampled is read back')
  await running.process?.kill()
  const again = await contestant.start(site)
  soak.lostOverKill = await countLost(again.port, soak.receipts)
  await again.process?.kill()
  return finish(soak, options)
}

async function countLost(port: number, receipts: readonly string[]): Promise<number> {
  let lost = 0
  for (const id of receipts) if (!(await isStored(port, id))) lost += 1
  return lost
}

/** What there is is kept and judged, also after Ctrl-C. */
function onStop(end: () => number): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.removeAllListeners(signal)
    process.once(signal, () => process.exit(end()))
  }
}

function finish(soak: Soak, { json }: SoakOptions): number {
  soak.keep()
  const result = soak.result()
  progress('')
  if (json) console.log(JSON.stringify(result, undefined, 2))
  else for (const { what, wanted, got, met } of result.goals) console.log(`${mark(met)} ${what}: ${got}, wanted ${wanted}`)
  return result.goals.some(({ met }) => met === false) ? 1 : 0
}

function mark(met: boolean | undefined): string {
  if (met === undefined) return '-     '
  return met ? 'ok    ' : 'MISSED'
}

/** Rewrites one line on a terminal; prints lines elsewhere. */
function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001B[K${text}`)
  else if (text !== '') console.error(text)
}

try {
  const options = readSoakOptions(process.argv.slice(2))
  if (options === undefined) console.log(SOAK_HELP)
  else process.exitCode = await run(options)
} catch (error) {
  console.error(`soak: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 2
}
process.exit()
