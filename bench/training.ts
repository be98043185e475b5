/**
 * Measures whether accepting a record waits for trainers: the same paced load with no, one and the most busy trainers. The first of them
 * trains the scenario under load.
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gauge, post, until } from './asking.ts'
import { SCENARIO } from './contestant.ts'
import { CONTESTANT } from './contestants.ts'
import { cpuAtNice, cpuOfOthers } from './cpu.ts'
import type { JsonJob } from './jobs.ts'
import { burnUntil, reachedFile } from './recipe.ts'
import { common, jsonWindow, note, rotated, tinyJob, type Turn } from './rounds.ts'

export const RECIPE = new URL('./recipe.ts', import.meta.url).pathname
/** The default of `svc.training_threads`. */
const THREADS = 4
export const TRAINING_SETTINGS = { '--recipe': RECIPE, '--data.training_mode': 'manual', '--svc.training_threads': String(THREADS) }

/** Numbers of busy trainers. */
export const STATES = [0, 1, THREADS] as const
export const LOADS = ['report', 'inference', 'upstream alone'] as const
type Load = (typeof LOADS)[number]
export const windowOf = (load: Load, busy: number): string => `${load}, ${busy} busy`
export const trainersWindow = (busy: number): string => `trainers, ${busy} busy`

/** Far below the service's capacity, so that waiting is not caused by the load. */
export const PACE = { concurrency: 8, perSecond: 400 } as const
const WARM_UP_SECONDS = 1
/** The trainers' priority. */
const NICE = 15
/** At their priority, beside two busy processes on two cores, each gets a thirtieth of a core to start with. */
const PATIENCE_SECONDS = 600

export async function takeTraining(turn: Turn): Promise<void> {
  const { rig, round, running } = turn
  for (const name of trainedScenarios(THREADS)) await post(running.port, '/svc/scenarios', name, { name })
  const report = reportJob(turn)
  await rig.generator.run({ ...report, seconds: WARM_UP_SECONDS, concurrency: 32 })
  for (const busy of rig.options.quick ? [THREADS] : rotated(STATES, round)) {
    const trainers = await startTrainers(turn, busy)
    await jsonWindow(turn, windowOf('report', busy), paced(report))
    await jsonWindow(turn, windowOf('inference', busy), paced(tinyJob(rig, running, { concurrency: 1, ...common(turn) })))
    if (!rig.options.quick) await upstreamAlone(turn, busy)
    await trainers.stop()
  }
}

const paced = (job: JsonJob): JsonJob => ({ ...job, ...PACE })

function trainedScenarios(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => (index === 0 ? SCENARIO : `${SCENARIO}-${index}`))
}

/** Every report quotes the same exchange; in manual mode no step consumes them. */
function reportJob({ rig, running, receiptsFile = '' }: Turn): JsonJob {
  const [receipt = ''] = readFileSync(receiptsFile, 'utf8').split('\n', 1)
  const body = JSON.stringify({ score: 1, feedback: 'as it should be', references: [receipt] })
  const { seconds } = rig.options
  return { ...tinyJob(rig, running, { concurrency: 1, seconds }), path: '/svc/report', body, answerBytes: receipt.length }
}

/** Measures the upstream alone beside busy trainers: the machine's share of the slowdown. */
async function upstreamAlone(turn: Turn, busy: number): Promise<void> {
  const { rig, part, round } = turn
  const running = { name: 'direct', port: part.upstream.port, headers: {}, bootMs: 0 } as const
  const direct: Turn = { rig, part, round, contestant: CONTESTANT.direct, running }
  const { seconds } = rig.options
  await jsonWindow(direct, windowOf('upstream alone', busy), paced(tinyJob(rig, running, { concurrency: 1, seconds })))
}

async function startTrainers(turn: Turn, count: number) {
  const { running, rig, round } = turn
  const pid = running.process?.pid ?? 0
  const stopFile = (scenario: string): string => join(rig.directory, `stop-${round}-${count}-${scenario}`)
  const files = trainedScenarios(count).map(stopFile)
  for (const [index, name] of trainedScenarios(count).entries()) {
    const text = burnUntil(files[index] ?? '')
    await post(running.port, '/svc/train', name, { text, session: 'bench', release_id: 'bench' })
  }
  if (!(await until(() => files.every((file) => existsSync(reachedFile(file))), PATIENCE_SECONDS)))
    throw new Error(`of ${count} trainers not all began their step`)
  const isRested = async (): Promise<boolean> => (await gauge(running.port, 'svc_training_steps_running')) === 0
  const before = { own: cpuAtNice(pid, NICE), others: cpuOfOthers(), at: performance.now() }
  return {
    /** Lets them end their steps, and records their CPU use. */
    async stop() {
      const micros = (performance.now() - before.at) * 1000
      // Only living threads count; ended ones did no work.
      const own = [...cpuAtNice(pid, NICE)].reduce((sum, [thread, used]) => sum + used - (before.own.get(thread) ?? 0), 0)
      const cores = { cores: own / micros, others_cores: (cpuOfOthers() - before.others) / micros }
      const eager = files.filter((file) => Number(readFileSync(reachedFile(file), 'utf8')) !== NICE).length
      note(turn, trainersWindow(count), { trainers: count, trainers_eager: eager, ...cores })
      for (const file of files) writeFileSync(file, '')
      if (!(await until(isRested, PATIENCE_SECONDS))) throw new Error('the trainers did not end')
    },
  }
}
