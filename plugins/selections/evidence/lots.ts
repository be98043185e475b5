/** Draws the tasks to play next, seeded by the step. */
import { hash } from 'node:crypto'
import type { TaskTally } from './leanings.ts'

const LOT_HEX_DIGITS = 12

/** All tasks in random order. */
export function orderOf(seed: string, tasks: number): readonly number[] {
  const lots = Array.from({ length: tasks }, (_, task) => ({ task, lot: lotOf(`${seed} order`, task) }))
  return lots.toSorted((a, b) => a.lot - b.lot).map(({ task }) => task)
}

export interface ChosenTask {
  readonly task: number
  /** The inverse of the task's relative probability; at most 2. */
  readonly weight: number
}

/** Draws `count` tasks. Tasks whose sides differed, and unseen ones, are more likely; none is less than half as likely as uniform. */
export function choose(seed: string, drawn: number, count: number, tallies: readonly TaskTally[]): readonly ChosenTask[] {
  const tellings = tallies.map(({ draws, squares }) => Math.sqrt((squares + 0.5) / (draws + 1)))
  const all = tellings.reduce((sum, telling) => sum + telling, 0)
  const chances = tellings.map((telling) => 0.5 / tallies.length + (0.5 * telling) / all)
  return Array.from({ length: count }, (_, n) => {
    const task = taskAt(lotOf(seed, drawn + n), chances)
    return { task, weight: 1 / (tallies.length * (chances[task] ?? 1)) }
  })
}

function taskAt(lot: number, chances: readonly number[]): number {
  let above = 0
  for (const [task, chance] of chances.entries()) {
    above += chance
    if (lot < above) return task
  }
  return chances.length - 1
}

const lotOf = (seed: string, drawn: number): number =>
  Number.parseInt(hash('sha256', `${seed} ${drawn}`).slice(0, LOT_HEX_DIGITS), 16) / 16 ** LOT_HEX_DIGITS
