/** What the rollouts of a group weigh when the best are to count for more, by as much as a fixed distance from treating all alike allows. */
import { largest, meanOf } from '../common/scores.ts'

/** How far the weights may lie from equal ones: as far as choosing one half of the group would. */
const DISTANCE = Math.LN2
const BETA_MAX = 1e6
/** Of two rollouts the better would weigh without bound, since no weight lies so far from equal: this is what it is bounded by, in groups. */
const GROUPS_MAX = 100

/** Each one's weight against the mean weight of the others, less 1. */
export function entropicAdvantages(scores: readonly number[]): readonly number[] {
  const weights = weightsOf(scores, betaFor(scores))
  const sum = weights.reduce((total, weight) => total + weight, 0)
  const least = 1 / (GROUPS_MAX * scores.length)
  return weights.map((weight) => weight / Math.max((sum - weight) / (scores.length - 1), least) - 1)
}

/** The distance grows with beta, so halving finds the one that is wanted; where ties keep the distance from being reached it is the greatest. */
function betaFor(scores: readonly number[]): number {
  let [low, high] = [0, BETA_MAX]
  if (distanceOf(scores, high) <= DISTANCE) return high
  for (;;) {
    const middle = (low + high) / 2
    if (middle === low || middle === high) return middle
    if (distanceOf(scores, middle) < DISTANCE) low = middle
    else high = middle
  }
}

/** KL(softmax(beta * scores) || uniform). */
function distanceOf(scores: readonly number[], beta: number): number {
  const weights = weightsOf(scores, beta)
  const mean = meanOf(weights)
  const terms = weights.map((weight) => (weight === 0 ? 0 : weight * Math.log(weight / mean)))
  return meanOf(terms) / mean
}

/** Against the best, so that none is above 1. */
function weightsOf(scores: readonly number[], beta: number): readonly number[] {
  const best = largest(scores)
  return scores.map((score) => Math.exp(beta * (score - best)))
}
