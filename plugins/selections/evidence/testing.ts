/** Simulates the gate without agents: how often a change is selected, and after how many episodes. */
import { Superiority, type StopReason } from './superiority.ts'
import { levelOf } from './levels.ts'

/** The difference of one pair on a task. */
export type PairSimulator = (task: number) => number
export interface SimulatedWorld {
  readonly tasks: number
  /** What the change adds to the probability of passing a task, within 0 to 1. */
  readonly gain: number
  /** `settled`: repeats of a task are all equal. `swapped`: each task gains or loses `gain` at random. */
  readonly kind: 'noisy' | 'settled' | 'swapped'
  readonly run: number
}

/** Realistic probabilities: many tasks always or never pass, some may do either. */
export function gateOf({ tasks, gain, kind, run }: SimulatedWorld): PairSimulator {
  const random = randomOf(run)
  const passes = (chance: number): number => (random() < chance ? 1 : 0)
  const chances = Array.from({ length: tasks }, () => {
    const current = betaOf(random)
    const candidate = Math.min(1, Math.max(0, current + gain))
    return kind === 'swapped' && random() < 0.5 ? { current: candidate, candidate: current } : { current, candidate }
  })
  const play: PairSimulator = (task) => passes(chances[task]?.candidate ?? 0) - passes(chances[task]?.current ?? 0)
  if (kind !== 'settled') return play
  const settled = chances.map((_, task) => play(task))
  return (task) => settled[task] ?? 0
}

export interface GateRun {
  readonly stopped: StopReason
  readonly episodes: number
}
const PAIRS_MAX = 1000
const ALPHA = 0.05

/** Runs one test to its end. */
export function playOut(
  tasks: number,
  gate: PairSimulator,
  seed: string,
  history: { readonly decided: number; readonly selected: number },
): GateRun {
  const exam = new Superiority({ tasks, seed, level: levelOf(ALPHA, history), pairsMax: PAIRS_MAX })
  for (let batch = exam.next(); batch.length > 0; batch = exam.next())
    for (const { task, weight } of batch) exam.add(task, gate(task), weight)
  if (exam.stopped === null) throw new Error('the test neither drew more nor decided')
  return { stopped: exam.stopped, episodes: 2 * exam.pairs }
}

/** The power of a fixed-size t-test by its size in pairs, with tasks in turn. */
export function fixedTestPowers(
  world: Omit<SimulatedWorld, 'run'>,
  runs: number,
  sizes: readonly number[],
  quantile: number,
): readonly number[] {
  const hits = sizes.map(() => 0)
  for (let run = 0; run < runs; run++) {
    const gate = gateOf({ ...world, run })
    const differences = Array.from({ length: Math.max(...sizes) }, (_, pair) => gate(pair % world.tasks))
    for (const [index, size] of sizes.entries()) if (studentOf(differences.slice(0, size)) > quantile) hits[index] = (hits[index] ?? 0) + 1
  }
  return hits.map((count) => count / runs)
}

function studentOf(differences: readonly number[]): number {
  const mean = differences.reduce((sum, one) => sum + one, 0) / differences.length
  const variance = differences.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (differences.length - 1)
  return mean / Math.sqrt(variance / differences.length)
}

/** Beta(0.6, 0.9), by Jöhnk's method. */
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
    const mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    const again = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((again ^ (again >>> 14)) >>> 0) / 2 ** 32
  }
}
