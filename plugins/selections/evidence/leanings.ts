/** Evidence over tasks: every task counts once, so that repeats of one task do not count as more tasks. */
import { DOUBT, logMean } from './wealth.ts'

/** Sums over the pairs of one task. */
export interface TaskTally {
  readonly draws: number
  readonly sum: number
  readonly squares: number
}

const SCALES = [0.5, 1, 2]
/** Repeats needed before the effect of more is predicted; fewer are enough where none of them differed. */
const REPEATS_MIN = 40
const REPEATS_ALIKE_MIN = 12
const ROUNDING = 1e-9

/** From -1 to 1: the mean difference divided by the root mean square. Equal repeats do not change it. */
const leaningOf = ({ draws, sum, squares }: TaskTally): number => (squares === 0 ? 0 : sum / Math.sqrt(draws * squares))

/** The log e-value over tasks, against the hypothesis that each task is as likely to lose as to gain. */
export const logEvidenceOf = (tallies: readonly TaskTally[]): number => evidence(tallies.filter(({ sum }) => sum !== 0).map(leaningOf))

/** The largest log e-value that this number of tasks can reach. */
export const logEvidenceMax = (tasks: number): number => logMean(SCALES.map((scale) => tasks * logShare(scale)))

function evidence(leanings: readonly number[]): number {
  return logMean(SCALES.map((scale) => sumOf(leanings, (leaning) => logShare(scale * leaning))))
}

/** A leaning and its opposite sum to 2, so that the expectation under a fair coin is 1. */
const logShare = (leaning: number): number => Math.LN2 - Math.log1p(Math.exp(-2 * leaning))

/** The largest log e-value that more repeats could plausibly reach, without noise. */
export function logReachOf(tallies: readonly TaskTally[]): number {
  const telling = tallies.filter(({ squares }) => squares > 0)
  const again = telling.filter(({ draws }) => draws > 1)
  const within = sumOf(again, ({ draws, sum, squares }) => squares - sum ** 2 / draws)
  const repeats = sumOf(again, ({ draws }) => draws - 1)
  const alike = within < ROUNDING
  if (tallies.some(({ draws }) => draws === 0) || repeats < (alike ? REPEATS_ALIKE_MIN : REPEATS_MIN)) return Infinity
  const noise = alike ? 0 : Math.min(1, within / sumOf(again, ({ draws, squares }) => (squares * (draws - 1)) / draws))
  return evidence(settled(telling, noise))
}

function settled(telling: readonly TaskTally[], noise: number): readonly number[] {
  const leanings = telling.map(leaningOf)
  const mean = sumOf(leanings, (leaning) => leaning) / leanings.length
  const spread = sumOf(leanings, (leaning) => (leaning - mean) ** 2) / leanings.length
  const error = noise * sumOf(telling, ({ draws }) => 1 / draws)
  const kept = spread === 0 ? 0 : Math.sqrt(Math.max(0, spread - error / leanings.length) / spread)
  const hoped = mean + (DOUBT * Math.sqrt(error)) / leanings.length
  return leanings.map((leaning) => Math.min(1, Math.max(-1, hoped + kept * (leaning - mean))))
}

function sumOf<T>(items: readonly T[], numberOf: (item: T) => number): number {
  let sum = 0
  for (const item of items) sum += numberOf(item)
  return sum
}
