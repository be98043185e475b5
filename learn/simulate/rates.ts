/** Simulated tasks: each has a probability of being solved, which a change shifts. */
import type { Task } from '../../src/contract/index.ts'
import { betaOf } from '../../plugins/selections/evidence/testing.ts'
import { meanOf } from '../results.ts'

/** One probability per task. */
export type Rates = readonly number[]

const TASKS = 60

export const TASK_LIST = Array.from({ length: TASKS }, (_, n): Task => ({ name: `task-${n + 1}`, prompt: `task ${n + 1}`, role: 'gate' }))

/** Real agents' probabilities are mostly near 0 or 1; the mean here is 0.4. */
export const drawRates = (chance: () => number): Rates => TASK_LIST.map(() => betaOf(chance))

/** Shifts every probability by the same amount within 0 to 1, so that the mean moves by `effect` if possible. */
export function moved(rates: Rates, effect: number): Rates {
  let [low, high] = [-1, 1]
  for (let halving = 0; halving < HALVINGS; halving += 1) {
    const middle = (low + high) / 2
    if (meanOf(shifted(rates, middle)) - meanOf(rates) < effect) low = middle
    else high = middle
  }
  return shifted(rates, high)
}
const HALVINGS = 30

const shifted = (rates: Rates, by: number): Rates => rates.map((rate) => Math.min(1, Math.max(0, rate + by)))
