/** How tasks moved under earlier candidates: a row per candidate, from which families are learnt. */
import type { Pair, Task } from '../../contract/index.ts'
import { clamp } from '../../kit/index.ts'

/** In hundredths, by task; -1: not played. */
export interface MovesRow {
  /** The candidate's rendered tree. */
  readonly tree: string
  readonly candidate: readonly number[]
  readonly current: readonly number[]
}
export interface Moves {
  readonly tasks: readonly string[]
  /** Newest last. */
  readonly rows: readonly MovesRow[]
}
export const NO_MOVES: Moves = { tasks: [], rows: [] }

const ROWS_MAX = 48
/** Every commit row holds them. */
const BYTES_MAX = 64 * 1024
const NOT_PLAYED = -1

/** With the candidate's scores so far, which replace what an earlier step had of the same tree. Tasks that are gone are forgotten. */
export function movesWith(moves: Moves, gate: readonly Task[], tree: string, pairs: readonly Pair[]): Moves {
  const tasks = gate.filter(({ role }) => role === 'gate').map(({ name }) => name)
  const played = Map.groupBy(
    pairs.filter(({ candidate, current }) => candidate !== null && current !== null),
    ({ task }) => task.name,
  )
  const meansOf = (side: 'candidate' | 'current'): readonly number[] =>
    tasks.map((name) => hundredths((played.get(name) ?? []).map((pair) => pair[side] ?? 0)))
  const rows = [
    ...rowsOf(moves, tasks).filter((row) => row.tree !== tree),
    { tree, candidate: meansOf('candidate'), current: meansOf('current') },
  ]
  return { tasks, rows: newest(rows) }
}

function hundredths(scores: readonly number[]): number {
  if (scores.length === 0) return NOT_PLAYED
  const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length
  return Math.round(100 * clamp(mean, 0, 1))
}

/** The rows by these tasks. */
export function rowsOf(moves: Moves, tasks: readonly string[]): readonly MovesRow[] {
  const places = new Map(moves.tasks.map((name, place) => [name, place]))
  const at = (values: readonly number[]): readonly number[] => tasks.map((name) => values[places.get(name) ?? NOT_PLAYED] ?? NOT_PLAYED)
  return moves.rows.map(({ tree, candidate, current }) => ({ tree, candidate: at(candidate), current: at(current) }))
}

function newest(rows: readonly MovesRow[]): readonly MovesRow[] {
  const kept = rows.slice(-ROWS_MAX)
  const bytes = Buffer.byteLength(JSON.stringify(kept))
  return bytes <= BYTES_MAX ? kept : kept.slice(-Math.floor((kept.length * BYTES_MAX) / bytes))
}
