/** The second look: every task counts once, so that playing one again and again cannot pass for more tasks. */
import { DOUBT, logMean } from './wealth.ts'

/** What was seen of one task. Differences are taken without their sign wherever it is decided what to play. */
export interface Tally {
  readonly draws: number
  readonly sum: number
  readonly squares: number
}

const SCALES = [0.5, 1, 2]
/** Until so many repeats were seen, nothing is said about what further ones would show; fewer will do where not one of them differed. */
const REPEATS_MIN = 40
const REPEATS_ALIKE_MIN = 12
const ROUNDING = 1e-9

/** From -1 to 1: the mean difference by the root of the mean square. Repeats that agree leave it as it was. */
const leaningOf = ({ draws, sum, squares }: Tally): number => (squares === 0 ? 0 : sum / Math.sqrt(draws * squares))

/** The logarithm of the evidence over tasks, against a change by which each of them was as likely to lose as to gain. */
export const logEvidenceOf = (tallies: readonly Tally[]): number => evidence(tallies.filter(({ sum }) => sum !== 0).map(leaningOf))

/** The most that so many tasks can show. */
export const logEvidenceMax = (tasks: number): number => logMean(SCALES.map((scale) => tasks * logShare(scale)))

function evidence(leanings: readonly number[]): number {
  return logMean(SCALES.map((scale) => sumOf(leanings, (leaning) => logShare(scale * leaning))))
}

/** A leaning and its opposite share 2: a fair coin between the two is expected to leave things as they are. */
const logShare = (leaning: number): number => Math.LN2 - Math.log1p(Math.exp(-2 * leaning))

/** What further repeats could bring the evidence to: their noise gone, and what they lean to as high as what was seen allows. */
export function logReachOf(tallies: readonly Tally[]): number {
  const telling = tallies.filter(({ squares }) => squares > 0)
  const again = telling.filter(({ draws }) => draws > 1)
  const within = sumOf(again, ({ draws, sum, squares }) => squares - sum ** 2 / draws)
  const repeats = sumOf(again, ({ draws }) => draws - 1)
  const alike = within < ROUNDING
  if (tallies.some(({ draws }) => draws === 0) || repeats < (alike ? REPEATS_ALIKE_MIN : REPEATS_MIN)) return Infinity
  const noise = alike ? 0 : Math.min(1, within / sumOf(again, ({ draws, squares }) => (squares * (draws - 1)) / draws))
  return evidence(settled(telling, noise))
}

function settled(telling: readonly Tally[], noise: number): readonly number[] {
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
