/** The shared setup of a run: upstreams, load generator, data directory, samples, and one measured window. */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type ChildProcess, fork } from 'node:child_process'
import type { Running, Site } from './contestant.ts'
import { usageOf, type Usage } from './cpu.ts'
import { FORMAT, type Format } from './formats.ts'
import { isNumbered, isResultOf, type Job, type ResultOf } from './jobs.ts'
import { nginxVersion, startNginxUpstream } from './nginx.ts'
import type { Options } from './options.ts'
import { freePort, type Process, start } from './processes.ts'
import type { Sample } from './samples.ts'

type Cost = ReturnType<typeof costBetween>

/** The prefix of per-thread CPU metrics. */
export const THREAD_METRIC = 'cpu_micros:'

export class Rig {
  readonly options: Options
  readonly directory: string
  readonly generator = new LoadGenerator()
  readonly samples: Sample[] = []
  readonly progress: (text: string) => void
  #directories = 0

  constructor(options: Options, directory: string, progress: (text: string) => void) {
    this.options = options
    this.directory = directory
    this.progress = progress
  }

  get format(): Format {
    return FORMAT[this.options.format]
  }

  /** An empty directory for one start of one contestant. */
  site(upstreamPort: number, { settings = {}, cores }: Partial<Pick<Site, 'settings' | 'cores'>> = {}): Site {
    this.#directories += 1
    const directory = join(this.directory, String(this.#directories))
    mkdirSync(directory)
    const { format, before } = this.options
    return { upstreamPort, directory, format, settings, before, ...(cores !== undefined && { cores }) }
  }

  clear(site: Site): void {
    rmSync(site.directory, { recursive: true, force: true })
  }

  /** Runs one job against a contestant and measures its cost. */
  async measure<Asked extends Job>(running: Running, job: Asked): Promise<{ result: ResultOf<Asked>; cost: Cost | undefined }> {
    const pid = running.process?.pid
    if (pid === undefined) return { result: await this.generator.run(job), cost: undefined }
    const before = usageOf(pid)
    const result = await this.generator.run(job)
    return { result, cost: costBetween(before, usageOf(pid)) }
  }
}

function costBetween(before: Usage, after: Usage) {
  const threads = [...after.threads].map(([name, micros]): [string, number] => [name, micros - (before.threads.get(name) ?? 0)])
  const { rssBytes, rssPeakBytes } = after
  return { cpuMicros: after.cpuMicros - before.cpuMicros, rssBytes, rssPeakBytes, threads: Object.fromEntries(threads) }
}

/** The cost per unit of work. */
export function costMetrics(cost: Cost | undefined, units: number): Readonly<Record<string, number>> {
  if (cost === undefined) return {}
  const threads = Object.entries(cost.threads).map(([name, micros]): [string, number] => [`${THREAD_METRIC}${name}`, micros / units])
  return { cpu_micros: cost.cpuMicros / units, rss_bytes: cost.rssBytes, rss_peak_bytes: cost.rssPeakBytes, ...Object.fromEntries(threads) }
}

export interface Upstream {
  readonly port: number
  readonly process: Process
}

/** Uses nginx where it is installed, since the upstream should be much faster than the contestants. */
export async function startJsonUpstream(rig: Rig): Promise<Upstream> {
  if (nginxVersion() === undefined) return startNodeUpstream(rig)
  const port = await freePort()
  return { port, process: await startNginxUpstream(rig.directory, port, rig.options.format) }
}

export async function startNodeUpstream(rig: Rig): Promise<Upstream> {
  const port = await freePort()
  const args = [new URL('./upstream.ts', import.meta.url).pathname, String(port)]
  return { port, process: await start({ command: process.execPath, args, port, outputFile: join(rig.directory, `upstream-${port}.log`) }) }
}

/** Controls the load generator's process, which is started once and stays warm. */
class LoadGenerator {
  readonly #child: ChildProcess = fork(new URL('./generator.ts', import.meta.url), { execArgv: [] })
  /** The running jobs, by number; all run at once. */
  readonly #asked = new Map<number, PromiseWithResolvers<unknown>>()
  #jobs = 0

  constructor() {
    this.#child.on('message', (message) => {
      if (isNumbered(message)) this.#asked.get(message.number)?.resolve(message.result)
    })
    this.#child.on('exit', () => {
      for (const asked of this.#asked.values()) asked.reject(new Error('the load generator died'))
    })
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  async run<Asked extends Job>(job: Asked): Promise<ResultOf<Asked>> {
    this.#jobs += 1
    const number = this.#jobs
    const asked = Promise.withResolvers<unknown>()
    this.#asked.set(number, asked)
    this.#child.send({ number, job })
    const result = await asked.promise
    this.#asked.delete(number)
    if (!isResultOf(job, result)) throw new Error('the load generator answered something else')
    return result
  }

  stop(): void {
    this.#child.disconnect()
  }
}
