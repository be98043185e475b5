/** Describes the evidence for people. */
import type { TaskTally } from './leanings.ts'

const EVIDENCE_MAX = 1e12
/** Bounded, since JSON has no infinity. */
export const evidenceOf = (log: number): number => Number(Math.min(EVIDENCE_MAX, Math.exp(log)).toPrecision(6))

/** "better on 9 of 12 tasks, worse on none" */
export function standing(tallies: readonly TaskTally[]): string {
  const better = tallies.filter(({ sum }) => sum > 0).length
  const worse = tallies.filter(({ sum }) => sum < 0).length
  return `better on ${better} of ${counted(tallies.length, 'task')}, worse on ${worse === 0 ? 'none' : worse}`
}

/** "the evidence is strong enough (1 in 412 by luck, 1 in 41 needed)" */
export function weighed(log: number, threshold: number): string {
  const strength = log >= threshold ? 'strong enough' : 'not strong enough'
  return `the evidence is ${strength} (${log > 0 ? `1 in ${shown(log)} by luck` : 'none so far'}, 1 in ${shown(threshold)} needed)`
}

/** How many more episodes it would take at the rate seen. */
export function outlook(log: number, threshold: number, episodes: number): string {
  if (log <= 0 || episodes === 0) return 'the pairs so far show no gain'
  return `at this rate it would take about ${counted(Math.ceil((episodes * (threshold - log)) / log), 'more episode')}`
}

export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

function shown(log: number): string {
  const evidence = evidenceOf(log)
  return evidence >= 10 ? Math.round(evidence).toString() : evidence.toPrecision(2)
}
