/** Evidence over families: every family counts once, so that repeats, and tasks that are alike, do not count as more. */
import { logMean } from '../../../src/kit/index.ts'
import { DOUBT } from './wealth.ts'

/** Sums over the pairs of one family. */
export interface FamilyTally {
  readonly draws: number
  readonly sum: number
  readonly squares: number
  /** Whether it has scores other than 0 and 1. */
  readonly isGraded: boolean
  /** How much its evidence counts, up to 1: less where it may share its luck with others. */
  readonly share: number
}

/** One guess at the size of a change. The sizes of the differences, without their signs, say which of them fits. */
interface Guess {
  /** A pair of a family that moves, where its sides differ, goes its way with odds of e^(2 lean). */
  readonly lean: number
  /** The share of families that move. */
  readonly moving: number
}
const GUESSES: readonly Guess[] = [0.1, 0.2, 0.35, 0.6, 1, 2.5].flatMap((lean) => [0.15, 0.99].map((moving) => ({ lean, moving })))

/** How many of the families that move gain, in a change that helps. */
const GAINING = [
  { gaining: 0.999, share: 0.7 },
  { gaining: 0.8, share: 0.3 },
]

/** Bets on the mean of each family, for graded scores. Means of a family are small beside 1, so most is on the large stake. */
const STAKES = [
  { stake: 0.5, share: 0.2 },
  { stake: 0.99, share: 0.8 },
]

/** The log e-value over families: against fair coins for their signs, or where scores are graded against a mean of 0. */
export function logEvidenceOf(tallies: readonly FamilyTally[]): number {
  return tallies.some(({ isGraded }) => isGraded) ? logMeans(tallies) : logSigns(tallies)
}

/** How likely the differences are if most families that move gain, over how likely they are if a coin decides for each. */
function logSigns(tallies: readonly FamilyTally[]): number {
  const moved = tallies.filter(({ squares }) => squares > 0)
  const guessed = GUESSES.map((guess) => likelihoodsOf(moved, guess))
  const gained = guessed.flatMap(({ logGains }) => GAINING.map(({ share }, index) => ({ share, log: logGains[index] ?? 0 })))
  return logMean(gained) - logMean(guessed.map(({ logCoins }) => ({ share: 1, log: logCoins })))
}

interface Likelihoods {
  readonly logCoins: number
  /** One for each of `GAINING`. */
  readonly logGains: readonly number[]
}

function likelihoodsOf(moved: readonly FamilyTally[], { lean, moving }: Guess): Likelihoods {
  const logGains = GAINING.map(() => 0)
  const [still, spread] = [1 - moving, logCosh(lean)]
  let logCoins = 0
  for (const { sum, squares, share } of moved) {
    const up = moving * Math.exp(lean * sum - squares * spread)
    const down = moving * Math.exp(-lean * sum - squares * spread)
    const coin = Math.log(still + (up + down) / 2)
    logCoins += coin
    for (const [index, { gaining }] of GAINING.entries()) {
      const gain = Math.log(still + gaining * up + (1 - gaining) * down)
      logGains[index] = (logGains[index] ?? 0) + coin + share * (gain - coin)
    }
  }
  return { logCoins, logGains }
}

const logCosh = (value: number): number => value + Math.log1p(Math.exp(-2 * value)) - Math.LN2

const logMeans = (tallies: readonly FamilyTally[]): number =>
  logMean(
    STAKES.map(({ stake, share }) => ({
      share,
      log: sumOf(tallies, ({ sum, draws, share: each }) => each * Math.log1p((stake * sum) / Math.max(1, draws))),
    })),
  )

/** What families show that count so much, when every pair of each is won. */
export const logEvidenceMax = (shares: readonly number[]): number =>
  logEvidenceOf(shares.map((share) => ({ draws: 20, sum: 20, squares: 20, isGraded: false, share })))

/** Repeats needed before the effect of more is predicted; fewer are enough where none of them differed. */
const REPEATS_MIN = 40
const REPEATS_ALIKE_MIN = 12
const ROUNDING = 1e-9

/** The log e-value that this many pairs of each family could plausibly reach. */
export function logReachOf(tallies: readonly FamilyTally[], drawsEach: number): number {
  const telling = tallies.filter(({ squares }) => squares > 0)
  const again = telling.filter(({ draws }) => draws > 1)
  const within = sumOf(again, ({ draws, sum, squares }) => squares - sum ** 2 / draws)
  const repeats = sumOf(again, ({ draws }) => draws - 1)
  const alike = within < ROUNDING
  if (tallies.some(({ draws }) => draws === 0) || repeats < (alike ? REPEATS_ALIKE_MIN : REPEATS_MIN)) return Infinity
  return logEvidenceOf(projected(telling, alike ? 0 : within / repeats, drawsEach))
}

/** Every family at the end, its mean as seen but for the noise, and all of them as much better as is plausible. */
function projected(telling: readonly FamilyTally[], noise: number, drawsEach: number): readonly FamilyTally[] {
  const means = telling.map(({ sum, draws }) => sum / draws)
  const mean = sumOf(means, (one) => one) / means.length
  const spread = sumOf(means, (one) => (one - mean) ** 2) / means.length
  const error = noise * sumOf(telling, ({ draws }) => 1 / draws)
  const kept = spread === 0 ? 0 : Math.sqrt(Math.max(0, spread - error / means.length) / spread)
  const hoped = mean + (DOUBT * Math.sqrt(error)) / means.length
  return telling.map(({ draws, squares, isGraded, share }, index) => {
    const most = squares / draws
    const rate = Math.min(most, Math.max(-most, hoped + kept * ((means[index] ?? 0) - mean)))
    const end = Math.max(draws, drawsEach)
    return { draws: end, sum: rate * end, squares: most * end, isGraded, share }
  })
}

function sumOf<T>(items: readonly T[], numberOf: (item: T) => number): number {
  let sum = 0
  for (const item of items) sum += numberOf(item)
  return sum
}
