/** What came of the kills, a line for each point: how many runs of each process held, and how long the longest took. */
import type { Attack, Outcome } from './attempt.ts'
import { POINTS, type Point } from './points.ts'
import { VICTIMS, type Victim } from './trio.ts'

export interface Result {
  readonly attack: Attack
  /** Null when it never came to rest. */
  readonly outcome: Outcome | null
  readonly broken: readonly string[]
}

const WIDTH = 32

export function printTable(results: readonly Result[]): void {
  const points = POINTS.filter((point) => results.some(({ attack }) => attack.point === point))
  const lines = [['killed at', ...VICTIMS], ...points.map((point) => [point, ...VICTIMS.map((who) => cellOf(results, point, who))])]
  for (const line of lines)
    process.stdout.write(
      `${line
        .map((cell) => cell.padEnd(WIDTH))
        .join('')
        .trimEnd()}\n`,
    )
}

function cellOf(results: readonly Result[], point: Point, who: Victim): string {
  const runs = results.filter(({ attack }) => attack.point === point && attack.who === who)
  if (runs.length === 0) return '-'
  const held = runs.filter(({ broken }) => broken.length === 0).length
  const seconds = Math.max(...runs.map(({ outcome }) => outcome?.seconds ?? Infinity))
  const again = runs.filter(({ outcome }) => (outcome?.statesSaved ?? 0) > 1).length
  return `${held}/${runs.length} held, ${seconds.toFixed(1)} s${again === 0 ? '' : `, ${again} retrained`}`
}
