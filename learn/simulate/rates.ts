/** Tasks as a gate sees them: each with a chance of its own to be solved, which a change moves. */
import type { Task } from '../../src/contract/index.ts'
import { betaOf, type Chance } from './chance.ts'

/** One chance per task. */
export type Rates = readonly number[]

const TASKS = 60
/** Measured on real agents, chances lie near 0 and near 1 more often than between; the mean of these is 0.4. */
const BETA = [0.6, 0.9] as const

export const TASK_LIST: readonly Task[] = Array.from({ length: TASKS }, (_, index) => ({
  name: `task-${index + 1}`,
  prompt: `task ${index + 1}`,
  role: 'gate',
}))

export const drawRates = (chance: Chance): Rates => TASK_LIST.map(() => betaOf(chance, ...BETA))

export const meanOf = (rates: Rates): number => rates.reduce((sum, rate) => sum + rate, 0) / rates.length

/** Every chance is moved by the same amount, as far as chances go, so that the mean moves by `effect` where it can. */
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
