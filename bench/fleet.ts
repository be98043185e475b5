/**
 * Real steps of a harness whose episodes wait for the model, played by processes of `svc worker`.
 *
 *   node bench/fleet.ts                       how much faster four workers are than one, on the time of a whole step
 *   node bench/fleet.ts --kill --minutes 10   a worker is killed every five seconds: the verdicts must be those of an undisturbed run,
 *                                             no episode scored twice, no budget exceeded
 *
 * Exit code 1 where that does not hold.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { JsonObject } from '../src/contract/index.ts'
import { openSteps, TOKENS_PER_CALL, type Steps, type StepsOptions } from './fleet/steps.ts'

const { values } = parseArgs({ options: { kill: { type: 'boolean', default: false }, minutes: { type: 'string', default: '1' } } })
const WORKERS = 4
const KILL_EVERY_MS = 5000
const FASTER_LEAST = 3.6
const PLAYED: StepsOptions = { modelMs: 500, tasks: 12, pairsAtOnce: 4 }
/** A cap that the step reaches in the middle. */
const CAP = PLAYED.tasks * TOKENS_PER_CALL

/** The same step twice, in services of their own: a second one of the same service would know scores of the first. */
async function speed(): Promise<boolean> {
  say('a step by one worker, which takes about six minutes …')
  const one = await stepBy(1)
  say('the same step by four, which takes about one and a half …')
  const four = await stepBy(WORKERS)
  const times = one.seconds / four.seconds
  say(
    `a step of ${one.episodes} episodes: one worker ${one.seconds.toFixed(1)} s, four ${four.seconds.toFixed(1)} s, ${times.toFixed(2)} times as fast`,
  )
  return times >= FASTER_LEAST && one.episodes === four.episodes
}

async function stepBy(workers: number): Promise<{ readonly seconds: number; readonly episodes: number }> {
  const steps = await openSteps({ modelMs: 4000, tasks: 40, pairsAtOnce: 8 })
  await steps.workers(workers)
  const began = performance.now()
  const row = await steps.step(0)
  const seconds = (performance.now() - began) / 1000
  await steps.close()
  return { seconds, episodes: Number(metricsOf(row)['episodes_used']) }
}

async function amidKills(ms: number): Promise<boolean> {
  const disturbed = await openSteps(PLAYED)
  const rows: JsonObject[] = []
  const killed = await killing(disturbed, async () => {
    for (const until = Date.now() + ms; Date.now() < until;) rows.push(await disturbed.step(rows.length))
  })
  const answered = disturbed.model.answered
  await disturbed.close()
  const quiet = await openSteps({ ...PLAYED, modelMs: 1 })
  await quiet.workers(WORKERS)
  const expected: JsonObject[] = []
  while (expected.length < rows.length) expected.push(await quiet.step(expected.length))
  await quiet.close()
  const others = rows.flatMap((row, at) => differences(verdictOf(row), verdictOf(expected[at] ?? {})).map((each) => `step ${at}: ${each}`))
  const twice = rows.flatMap(scoredTwice)
  // One that was out when its worker was killed counts too, answered or not.
  const counted = rows.reduce((sum, row) => sum + spentBy(row).calls, 0)
  const poor = await openSteps({ ...PLAYED, settings: { 'evolution.max_tokens_per_step': CAP } })
  const capped: JsonObject[] = []
  await killing(poor, async () => void capped.push(await poor.step(0)))
  await poor.close()
  const spent = Math.max(...capped.map((row) => spentBy(row).tokens))
  say(`${killed} workers killed in ${rows.length} steps; differences from the verdicts of an undisturbed run: ${others.length}`)
  for (const each of others) say(`  ${each}`)
  say(`episodes scored twice: ${twice.length}; calls that the model answered: ${answered}, counted: ${counted}`)
  say(`a step with a cap of ${CAP} tokens used ${spent}`)
  return others.length === 0 && twice.length === 0 && counted >= answered && counted <= answered + killed && spent <= CAP && spent > 0
}

/** Kills a worker every five seconds while the work goes on; answers how many. */
async function killing(steps: Steps, work: () => Promise<void>): Promise<number> {
  await steps.workers(WORKERS)
  const over = new AbortController()
  let killed = 0
  const kills = (async () => {
    for (;;) {
      await sleep(KILL_EVERY_MS, undefined, { signal: over.signal })
      steps.killOne()
      killed += 1
    }
  })().catch(() => undefined)
  await work()
  over.abort()
  await kills
  return killed
}

const metricsOf = ({ metrics }: JsonObject): JsonObject => Object(metrics)

/** What the step decided, and by which scores. */
function verdictOf(row: JsonObject): Readonly<Record<string, unknown>> {
  const { selected, published, selection, task_scores } = metricsOf(row)
  const scores = listOf(task_scores).map(({ task, candidate, current }) => [typeof task === 'string' ? task : '', [candidate, current]])
  return { selected, published, selection, ...Object.fromEntries(scores) }
}

function differences(one: Readonly<Record<string, unknown>>, other: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.keys({ ...one, ...other })
    .map((name) => ({ name, is: JSON.stringify(one[name]), was: JSON.stringify(other[name]) }))
    .flatMap(({ name, is, was }) => (is === was ? [] : [`${name} is ${is}, and was ${was}`]))
}

/** Tasks of which one side counts more than once. */
function scoredTwice(row: JsonObject): readonly unknown[] {
  const { task_scores, candidate_episodes } = metricsOf(row)
  const names = listOf(candidate_episodes).map(({ task }) => task)
  return [...listOf(task_scores).filter(({ pairs }) => pairs !== 1), ...names.filter((name, at) => names.indexOf(name) !== at)]
}

function spentBy(row: JsonObject): { readonly calls: number; readonly tokens: number } {
  const { calls = 0, input_tokens: input = 0, output_tokens: output = 0 } = Object(metricsOf(row)['spent'])
  return { calls, tokens: input + output }
}

const listOf = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value : [])

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

process.exitCode = (await (values.kill ? amidKills(Number(values.minutes) * 60_000) : speed())) ? 0 : 1
