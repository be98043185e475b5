/** Which task is played next: by lot, the same lots for the same step. */
import { hash } from 'node:crypto'
import type { Tally } from './leanings.ts'

const LOT_HEX_DIGITS = 12

/** Every task once, in an order by lot. */
export function orderOf(seed: string, tasks: number): readonly number[] {
  const lots = Array.from({ length: tasks }, (_, task) => ({ task, lot: lotOf(`${seed} order`, task) }))
  return lots.toSorted((a, b) => a.lot - b.lot).map(({ task }) => task)
}

export interface Chosen {
  readonly task: number
  /** Makes up for how likely this task was to be drawn; at most 2. */
  readonly weight: number
}

/**
 * So many lots at once. A task whose sides differed before is more likely to be drawn, and so is one not seen yet; none is ever less than half
 * as likely as by plain chance.
 */
export function choose(seed: string, drawn: number, count: number, tallies: readonly Tally[]): readonly Chosen[] {
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

/** From 0 up to 1. */
const lotOf = (seed: string, drawn: number): number =>
  Number.parseInt(hash('sha256', `${seed} ${drawn}`).slice(0, LOT_HEX_DIGITS), 16) / 16 ** LOT_HEX_DIGITS
