/** What came of episodes that two workers played: how often their scores differ, and whose differ too often. */
import type { CheckRow, FleetRows } from '../contract/index.ts'

/** How unlikely it must be that a worker differs so often by chance. */
const ODD_CHANCE = 1e-6
/** Where nothing is known: plays of an agent differ by themselves. */
const DIFFERED_BEFORE = 1
const AGREED_BEFORE = 3

type Rows = Pick<FleetRows, 'now' | 'checks' | 'workers'>
type Count = Pick<CheckRow, 'checked' | 'differed'>

/** Counts a check, and sets aside whoever is found out by it, for good. */
export function addCheck(rows: Rows, one: string, other: string, agree: boolean): void {
  const [first, second] = [one, other].toSorted()
  if (first === undefined || second === undefined) return
  const id = JSON.stringify([first, second])
  const { checked, differed } = rows.checks.get(id) ?? { checked: 0, differed: 0 }
  rows.checks.set(id, { at: rows.now, workers: [first, second], checked: checked + 1, differed: differed + (agree ? 0 : 1) })
  for (const name of [first, second]) {
    const worker = rows.workers.get(name)
    if (worker !== undefined && !worker.isSetAside && isOdd(rows, name)) worker.isSetAside = true
  }
}

export const checksOf = ({ checks }: Pick<FleetRows, 'checks'>, name: string): Count =>
  sumOf([...checks.values()].filter(({ workers }) => workers.includes(name)))

export function forgetChecks({ checks }: Pick<FleetRows, 'checks'>, name: string): void {
  for (const [id, { workers }] of checks) if (workers.includes(name)) checks.delete(id)
}

/**
 * Compared with pairs that it is no part of, so that one that differs from all makes nobody else look odd. And without the partner that it
 * differs from most: of two that differ from each other alone, nobody knows which one is wrong.
 */
function isOdd(rows: Rows, name: string): boolean {
  // Those who were found out say nothing about the others.
  const trusted = [...rows.checks.values()].filter(({ workers }) => !workers.some((each) => rows.workers.get(each)?.isSetAside === true))
  const isOwn = ({ workers }: CheckRow): boolean => workers.includes(name)
  const [, ...counts] = trusted.filter(isOwn).toSorted((one, other) => other.differed - one.differed)
  const own = sumOf(counts)
  if (own.differed === 0) return false
  const others = sumOf(trusted.filter((check) => !isOwn(check)))
  const rate = (others.differed + DIFFERED_BEFORE) / (others.checked + DIFFERED_BEFORE + AGREED_BEFORE)
  return others.checked >= own.checked / 2 && atLeast(own, rate) < ODD_CHANCE
}

const sumOf = (counts: readonly Count[]): Count => ({
  checked: counts.reduce((sum, { checked }) => sum + checked, 0),
  differed: counts.reduce((sum, { differed }) => sum + differed, 0),
})

/** The chance that so many of them differ, or more, where each does with the given chance. */
function atLeast({ checked, differed }: Count, chance: number): number {
  let term = Math.log1p(-chance) * checked
  let sum = 0
  for (let k = 0; k <= checked; k += 1) {
    if (k >= differed) sum += Math.exp(term)
    term += Math.log(((checked - k) / (k + 1)) * (chance / (1 - chance)))
  }
  return sum
}
