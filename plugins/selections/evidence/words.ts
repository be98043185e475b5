/** What the evidence says, in numbers that a person understands. */
import type { Tally } from './leanings.ts'

const EVIDENCE_MAX = 1e12
/** A row keeps numbers, and JSON knows no infinity. */
export const evidenceOf = (log: number): number => Number(Math.min(EVIDENCE_MAX, Math.exp(log)).toPrecision(6))

/** "better on 9 of 12 tasks, worse on none" */
export function standing(tallies: readonly Tally[]): string {
  const better = tallies.filter(({ sum }) => sum > 0).length
  const worse = tallies.filter(({ sum }) => sum < 0).length
  return `better on ${better} of ${counted(tallies.length, 'task')}, worse on ${worse === 0 ? 'none' : worse}`
}

/** "evidence 412 of the 41 needed" */
export const weighed = (log: number, threshold: number): string => `evidence ${shown(log)} of the ${shown(threshold)} needed`

/** How many more episodes it would take at the rate seen. */
export function outlook(log: number, threshold: number, episodes: number): string {
  if (log <= 0 || episodes === 0) return 'what was seen points to no gain'
  return `at this rate it would take about ${counted(Math.ceil((episodes * (threshold - log)) / log), 'more episode')}`
}

export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

function shown(log: number): string {
  const evidence = evidenceOf(log)
  return evidence >= 10 ? Math.round(evidence).toString() : evidence.toPrecision(2)
}
