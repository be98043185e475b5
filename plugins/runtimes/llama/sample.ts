/** Picks the next token: temperature, filters, and a random draw that is the same for the same seed. */
import type { Sampling } from '../../../src/contract/index.ts'
import { chanceOf } from '../../../src/kit/index.ts'

/** The likeliest tokens, likeliest first, with their log-probabilities at the temperature of the call. */
export interface Outlook {
  readonly tokens: readonly number[]
  readonly logProbs: readonly number[]
  /** Whether these are all the tokens there are. */
  readonly isWhole: boolean
}

export interface Pick {
  readonly token: number
  readonly logProb: number
}

/** A number from 0 up to 1 that depends only on the seed and the place, so that a seeded call is repeatable. */
export const draw = (seed: number, place: number): number => chanceOf(`${seed}:${place}`)

/** Null when the draw is not among these tokens, so that the whole vocabulary is needed. */
export function pick(outlook: Outlook, { temperature, topK, topP }: Sampling, chance: number): Pick | null {
  if (isGreedy(temperature)) return pickAt(outlook, 0)
  const limit = topK === undefined || topK <= 0 ? Infinity : topK
  const kept = outlook.logProbs.slice(0, limit).map(Math.exp)
  const isComplete = outlook.isWhole || outlook.tokens.length >= limit
  const mass = isComplete ? total(kept) : 1
  const nucleus = topP === undefined || topP >= 1 ? null : massUntil(kept, topP * mass)
  if (nucleus === null && topP !== undefined && topP < 1 && !isComplete) return null
  const at = placeOf(kept, chance * (nucleus ?? mass))
  if (at !== null) return pickAt(outlook, at)
  // Rounding may leave a little beyond the last one.
  return isComplete ? pickAt(outlook, kept.length - 1) : null
}

/** Below this the likeliest is all there is, and dividing by it would overflow. */
export const isGreedy = (temperature: number): boolean => temperature < 1e-4

function pickAt({ tokens, logProbs }: Outlook, at: number): Pick | null {
  const [token, logProb] = [tokens[at], logProbs[at]]
  return token === undefined || logProb === undefined ? null : { token, logProb }
}

const total = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0)

/** The mass of the fewest likeliest tokens that reach the wanted mass; null when all together do not. */
function massUntil(probabilities: readonly number[], wanted: number): number | null {
  let sum = 0
  for (const one of probabilities) {
    sum += one
    if (sum >= wanted) return sum
  }
  return null
}

function placeOf(probabilities: readonly number[], target: number): number | null {
  let sum = 0
  for (const [at, one] of probabilities.entries()) {
    sum += one
    if (target < sum) return at
  }
  return null
}
