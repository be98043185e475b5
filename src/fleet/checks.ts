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
    if (worker !== undefined && !worker.isSetAside && isOdd(rows, name, (each) => each)) worker.isSetAside = true
    const holder = holderOf(name)
    if (holder === name || !isOdd(rows, holder, holderOf)) continue
    for (const [each, row] of rows.workers) if (holderOf(each) === holder) Object.assign(row, { isSetAside: true, isHolderSetAside: true })
  }
}

/** Whose worker it is: those of one token stand for each other. */
export const holderOf = (name: string): string => name.split('/', 1)[0] ?? name

export const checksOf = ({ checks }: Pick<FleetRows, 'checks'>, name: string): Count =>
  sumOf([...checks.values()].filter(({ workers }) => workers.includes(name)))

export function forgetChecks({ checks }: Pick<FleetRows, 'checks'>, name: string): void {
  for (const [id, { workers }] of checks) if (workers.includes(name)) checks.delete(id)
}

/**
 * A worker, or all of one token together, since a liar may take another name for every episode. Compared with pairs that it is no part of, so
 * that one that differs from all makes nobody else look odd. And without the partner that it differs from most: of two that differ from each
 * other alone, nobody knows which one is wrong.
 */
function isOdd(rows: Rows, name: string, idOf: (worker: string) => string): boolean {
  // Those who were found out say nothing about the others.
  const trusted = together(
    [...rows.checks.values()].filter(({ workers }) => !workers.some((each) => rows.workers.get(each)?.isSetAside === true)),
    idOf,
  )
  const isOwn = ({ workers }: CheckRow): boolean => workers.includes(name)
  const [, ...counts] = trusted.filter(isOwn).toSorted((one, other) => other.differed - one.differed)
  const own = sumOf(counts)
  if (own.differed === 0) return false
  const others = sumOf(trusted.filter((check) => !isOwn(check)))
  const rate = (others.differed + DIFFERED_BEFORE) / (others.checked + DIFFERED_BEFORE + AGREED_BEFORE)
  return others.checked >= own.checked / 2 && atLeast(own, rate) < ODD_CHANCE
}

/** By the ids of both; what one has checked itself says nothing. */
function together(checks: readonly CheckRow[], idOf: (worker: string) => string): readonly CheckRow[] {
  const rows = new Map<string, CheckRow>()
  for (const { at, workers, checked, differed } of checks) {
    const [one, other] = [idOf(workers[0]), idOf(workers[1])]
    if (one === other) continue
    const pair: CheckRow['workers'] = one < other ? [one, other] : [other, one]
    const known = rows.get(JSON.stringify(pair)) ?? { checked: 0, differed: 0 }
    rows.set(JSON.stringify(pair), { at, workers: pair, checked: known.checked + checked, differed: known.differed + differed })
  }
  return [...rows.values()]
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
