/** Evidence over families: every family counts once, so that repeats, and tasks that are alike, do not count as more. */
import { DOUBT, logMean } from './wealth.ts'

/** Sums over the pairs of one family. */
export interface FamilyTally {
  readonly draws: number
  readonly sum: number
  readonly squares: number
  /** Whether it has scores other than 0 and 1: then its mean counts, and not its sign. */
  readonly isGraded: boolean
}
export const UNPLAYED: FamilyTally = { draws: 0, sum: 0, squares: 0, isGraded: false }

/** One guess at what a real gain looks like; all of them bet side by side. */
interface Guess {
  /** How much of the money it starts with. */
  readonly share: number
  /** How many of the families move. */
  readonly moving: number
  /** A pair of a moving family that is no tie is won with odds of e^(2 lean). */
  readonly lean: number
  /** The most that is lost on a family, and the stake on the mean of one with graded scores. */
  readonly stake: number
}
const GUESSES: readonly Guess[] = [
  { share: 0.3, moving: 0.99, lean: 2, stake: 0.99 },
  { share: 0.15, moving: 0.99, lean: 0.5, stake: 0.99 },
  { share: 0.25, moving: 0.99, lean: 0.2, stake: 0.9 },
  { share: 0.15, moving: 0.99, lean: 0.5, stake: 0.4 },
  { share: 0.15, moving: 0.15, lean: 1, stake: 0.99 },
]
/** Repeats needed before the effect of more is predicted; fewer are enough where none of them differed. */
const REPEATS_MIN = 40
const REPEATS_ALIKE_MIN = 12
const ROUNDING = 1e-9

/** The log e-value over families, against the hypothesis that each is as likely to lose as to gain, or gains nothing in the mean. */
export const logEvidenceOf = (tallies: readonly FamilyTally[]): number =>
  mixtureOf(GUESSES.map((guess) => sumOf(movedIn(tallies), (tally) => logFactor(tally, guess))))

const movedIn = (tallies: readonly FamilyTally[]): readonly FamilyTally[] => tallies.filter(({ sum }) => sum !== 0)
const mixtureOf = (logs: readonly number[]): number => logMean(GUESSES.map(({ share }, index) => ({ share, log: logs[index] ?? 0 })))

/** How much sharper than the e-value the chance that it bounds may be, and mostly is. */
const SHARPER = Math.log(20)
export const SHARPER_MOSTLY = Math.log(6)
/** Throws, per one that may reach it. */
const FLIPS_PER_THRESHOLD = 8
const FLIPS_MAX = 60_000
/** The coins have half of the level: the e-value is looked at beside them. */
const HALVES = 2

/**
 * The log of one over the chance that fair coins, one for each family, reach an e-value as large; at least the log e-value, which bounds it. The
 * coins are thrown only where they could decide, and not for graded scores, whose sign is no fair coin.
 */
export function logRarityOf(tallies: readonly FamilyTally[], threshold: number, random: () => number): number {
  const log = logEvidenceOf(tallies)
  const flips = Math.ceil(FLIPS_PER_THRESHOLD * HALVES * Math.exp(threshold))
  if (log >= threshold || log < threshold - SHARPER || flips > FLIPS_MAX || tallies.some(({ isGraded }) => isGraded)) return log
  const moved = movedIn(tallies)
  const heads = GUESSES.map((guess) => moved.map((tally) => logFactor(tally, guess)))
  const tails = GUESSES.map((guess) => moved.map((tally) => logFactor({ ...tally, sum: -tally.sum }, guess)))
  let [reached, thrown] = [0, 0]
  // As soon as too many reach it, more coins cannot help.
  for (; thrown < flips && reached < FLIPS_PER_THRESHOLD; thrown += 1) {
    const coins = moved.map(() => (random() < 0.5 ? heads : tails))
    const logs = GUESSES.map((_, guess) => coins.reduce((sum, side, place) => sum + (side[guess]?.[place] ?? 0), 0))
    if (mixtureOf(logs) >= log - ROUNDING) reached += 1
  }
  return Math.max(log, Math.log((thrown + 1) / (reached + 1) / HALVES))
}

/** The largest log e-value that this number of families can reach. */
export const logEvidenceMax = (families: number): number => families * Math.LN2

/**
 * What the sign of a family is worth under a guess. The factors of a sum and of its opposite add up to 2, whatever the number of pairs, so that
 * the expectation under a fair coin between them is 1.
 */
function logFactor({ sum, squares, draws, isGraded }: FamilyTally, { moving, lean, stake }: Guess): number {
  if (isGraded) return Math.log1p((stake * sum) / draws)
  const odds = Math.log(moving / (1 - moving)) - squares * logCosh(lean)
  const gain = Math.expm1(log1pExp(odds + lean * sum) - log1pExp(odds + logCosh(lean * sum)))
  return Math.log1p(stake * gain)
}

const logCosh = (value: number): number => Math.abs(value) + Math.log1p(Math.exp(-2 * Math.abs(value))) - Math.LN2
const log1pExp = (value: number): number => Math.max(0, value) + Math.log1p(Math.exp(-Math.abs(value)))

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
  return telling.map(({ draws, squares, isGraded }, index) => {
    const most = squares / draws
    const rate = Math.min(most, Math.max(-most, hoped + kept * ((means[index] ?? 0) - mean)))
    const end = Math.max(draws, drawsEach)
    return { draws: end, sum: rate * end, squares: most * end, isGraded }
  })
}

function sumOf<T>(items: readonly T[], numberOf: (item: T) => number): number {
  let sum = 0
  for (const item of items) sum += numberOf(item)
  return sum
}
