/** Simulates the gate without agents: how often a change is selected, and after how many episodes. */
import type { SelectionHistory } from '../../../src/contract/index.ts'
import { levelOf } from './levels.ts'
import { Superiority, type StopReason } from './superiority.ts'

/** A change on the tasks of one gate. */
export interface SimulatedChange {
  /** The number of each task's family, from 0. */
  readonly families: readonly number[]
  /** The difference of one pair on a task. */
  readonly play: (task: number) => number
  readonly isGraded?: boolean
}
/** Draws the tasks and the change. `ofScenario` draws the same for all changes of a scenario. */
export type SimulatedWorld = (random: () => number, ofScenario: () => number) => SimulatedChange

/** The chances of passing before and after. */
type Chances = readonly [number, number]

const indexes = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index)
const passes = (random: () => number, chance: number): number => (random() < chance ? 1 : 0)
const played = (random: () => number, [before, after]: Chances): number => passes(random, after) - passes(random, before)
const raised = (chance: number, gain: number): number => Math.min(1, Math.max(0, chance + gain))

/** Tasks that are not alike. */
const ofTasks = (play: readonly (() => number)[]): SimulatedChange => ({
  families: indexes(play.length),
  play: (task) => play[task]?.() ?? 0,
})

/** Every task gains as much, and every play is a new throw. */
export const noisy =
  (tasks: number, gain: number): SimulatedWorld =>
  (random) => {
    const chances = indexes(tasks).map(() => betaOf(random))
    return ofTasks(chances.map((chance) => () => played(random, [chance, raised(chance, gain)])))
  }

/**
 * Every task gains as much, and the sides have the same luck in this share of the pairs. The served side has the same luck in the same repeat
 * of a task with all changes of a scenario, as sampling seeds give it.
 */
export const seeded =
  (tasks: number, gain: number, share: number): SimulatedWorld =>
  (random, ofScenario) =>
    ofTasks(
      indexes(tasks).map(() => {
        const [chance, luckOf] = [betaOf(ofScenario), randomOf(Math.floor(ofScenario() * 2 ** 31))]
        return () => {
          const luck = luckOf()
          const candidates = random() < share ? luck : random()
          return Number(candidates < raised(chance, gain)) - Number(luck < chance)
        }
      }),
    )

/** Repeats of a task are all equal. */
export const settled =
  (world: SimulatedWorld): SimulatedWorld =>
  (random, ofScenario) => {
    const { families, play } = world(random, ofScenario)
    const first = families.map((_, task) => play(task))
    return { families, play: (task) => first[task] ?? 0 }
  }

/** Each task gains or loses as much, by a coin. */
export const swapped =
  (tasks: number, gain: number): SimulatedWorld =>
  (random) => {
    const chances = indexes(tasks).map((): Chances => {
      const [low, high] = upFrom(betaOf(random), gain)
      return random() < 0.5 ? [low, high] : [high, low]
    })
    return ofTasks(chances.map((both) => () => played(random, both)))
  }
const upFrom = (chance: number, gain: number): Chances => [chance, raised(chance, gain)]

/** `size` tasks that are alike in place of each task. */
export const inFamilies =
  (size: number, world: SimulatedWorld): SimulatedWorld =>
  (random, ofScenario) => {
    const { families, play } = world(random, ofScenario)
    return {
      families: families.flatMap((family) => indexes(size).map(() => family)),
      play: (task) => play(Math.floor(task / size)),
    }
  }

/** The tasks that fail most are solved, and the others go on as they do, or never differ. */
export const sparse =
  (tasks: number, fixed: number, othersDiffer: boolean): SimulatedWorld =>
  (random) => {
    const chances = indexes(tasks)
      .map(() => betaOf(random))
      .toSorted((one, other) => one - other)
    return ofTasks(
      chances.map((chance, task) => () => {
        if (!othersDiffer) return task < fixed ? 1 : 0
        return played(random, [chance, task < fixed ? 1 : chance])
      }),
    )
  }

/** Scores from 0 to 1: most tasks gain a little, and one in ten loses nine times as much. */
export const skewed =
  (tasks: number): SimulatedWorld =>
  (random) => {
    const differences = indexes(tasks).map(() => (random() < 0.9 ? 0.1 : -0.9))
    return { ...ofTasks(differences.map((one) => () => one)), isGraded: true }
  }

/** Scores from 0 to 1 that gain as much in the mean, give or take 30 points. */
export const graded =
  (tasks: number, gain: number): SimulatedWorld =>
  (random) => ({ ...ofTasks(indexes(tasks).map(() => () => gain + 0.6 * (random() - 0.5))), isGraded: true })

/** Seven tasks of ten gain, and three lose half as much. */
export const mixed =
  (tasks: number, gain: number): SimulatedWorld =>
  (random) => {
    const chances = indexes(tasks).map(() => upFrom(betaOf(random), random() < 0.7 ? gain : -gain / 2))
    return ofTasks(chances.map((both) => () => played(random, both)))
  }

export interface GateRun {
  readonly stopped: StopReason
  readonly episodes: number
}
const ALPHA = 0.05
/** Numbers of runs that no scenario has. */
const SCENARIOS = 2

/** Runs one test to its end. */
export function playOut(world: SimulatedWorld, run: number, history: SelectionHistory, pairsMax: number, scenario = run): GateRun {
  const { families, play, isGraded = false } = world(randomOf(run), randomOf(-scenario - SCENARIOS))
  const exam = new Superiority({ families, seed: `run ${run}`, level: levelOf(ALPHA, history), pairsMax })
  for (let batch = exam.next(); batch.length > 0; batch = exam.next())
    for (const { task, weight } of batch) exam.add(task, play(task), weight, isGraded)
  if (exam.stopped === null) throw new Error('the test neither drew more nor decided')
  return { stopped: exam.stopped, episodes: 2 * exam.pairs }
}

export interface GatePower {
  readonly power: number
  readonly episodes: number
}

/** How often a change is selected after `decided` others. */
export function powerIn(world: SimulatedWorld, runs: number, decided: number, pairsMax: number): GatePower {
  const ends = indexes(runs).map((run) => playOut(world, run, { decided, selected: 0 }, pairsMax))
  return {
    power: ends.filter(({ stopped }) => stopped === 'success').length / runs,
    episodes: ends.reduce((sum, { episodes }) => sum + episodes, 0) / runs,
  }
}

const CHAIN_DECISIONS = 50

/** In how many scenarios any of fifty changes is published, each with a budget as a step has it. */
export function scenariosPublishing(world: SimulatedWorld, scenarios: number, pairsMax = 300): number {
  const isSelected = (run: number, decided: number): boolean =>
    playOut(world, run, { decided, selected: 0 }, pairsMax, Math.floor(run / CHAIN_DECISIONS)).stopped === 'success'
  return indexes(scenarios).filter((scenario) =>
    indexes(CHAIN_DECISIONS).some((decided) => isSelected(scenario * CHAIN_DECISIONS + decided, decided)),
  ).length
}

/** The power of a fixed-size t-test by its size in pairs, with tasks in turn. */
export function fixedTestPowers(world: SimulatedWorld, runs: number, sizes: readonly number[], quantile: number): readonly number[] {
  const hits = sizes.map(() => 0)
  for (let run = 0; run < runs; run++) {
    const { families, play } = world(randomOf(run), randomOf(-run - SCENARIOS))
    const differences = indexes(Math.max(...sizes)).map((pair) => play(pair % families.length))
    for (const [index, size] of sizes.entries()) if (studentOf(differences.slice(0, size)) > quantile) hits[index] = (hits[index] ?? 0) + 1
  }
  return hits.map((count) => count / runs)
}

function studentOf(differences: readonly number[]): number {
  const mean = differences.reduce((sum, one) => sum + one, 0) / differences.length
  const variance = differences.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (differences.length - 1)
  return mean / Math.sqrt(variance / differences.length)
}

/** Beta(0.6, 0.9), by Jöhnk's method: many tasks always or never pass, some may do either. */
export function betaOf(random: () => number): number {
  for (;;) {
    const x = random() ** (1 / 0.6)
    const y = random() ** (1 / 0.9)
    if (x + y > 0 && x + y <= 1) return x / (x + y)
  }
}

/** A seeded generator of numbers from 0 up to 1 (mulberry32). */
export function randomOf(run: number): () => number {
  let state = Math.imul(run + 1, 0x9e3779b1)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    const mixture = Math.imul(state ^ (state >>> 15), 1 | state)
    const again = (mixture + Math.imul(mixture ^ (mixture >>> 7), 61 | mixture)) ^ mixture
    return ((again ^ (again >>> 14)) >>> 0) / 2 ** 32
  }
}
