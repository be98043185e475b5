/**
 * Counts the episodes of each side that the model or the evaluator failed. Trouble that is neither side's hits both alike; where one side has
 * clearly more of it, that side's change may cause it, and it must gain nothing by it.
 */
import type { Side } from '../contract/index.ts'

/** How unlikely a share must be by chance. Looked at after each trouble, so it is small. */
const LEVEL = 0.005

/** `baseline`: what was served before the requests that are judged together. */
export type PlayedSide = Side | 'baseline' | 'trial'

/** Which side of a pair an episode is; null of a trial. */
export function sideOf(played: PlayedSide): Side | null {
  if (played === 'trial') return null
  return played === 'baseline' ? 'current' : played
}

export class Troubles {
  readonly #played = { candidate: 0, current: 0 }
  readonly #failed = { candidate: 0, current: 0 }

  /** One episode, however often it was tried. A cached one counts as it was when it was played. */
  add(played: PlayedSide, isFailed: boolean): void {
    const side = sideOf(played)
    if (side === null) return
    this.#played[side] += 1
    if (isFailed) this.#failed[side] += 1
  }

  /** Whether this side fails clearly more often than the other one: an exact test of its share, given how often each was played. */
  isOwnOf(side: Side): boolean {
    const failed = this.#failed.candidate + this.#failed.current
    const share = this.#played[side] / Math.max(1, this.#played.candidate + this.#played.current)
    return this.#failed[side] > 0 && chanceOfAtLeast(this.#failed[side], failed, share) < LEVEL
  }

  /** "12 of 40 of the candidate, 0 of 40 of the served side" */
  get words(): string {
    const { candidate, current } = this.#failed
    return `${candidate} of ${this.#played.candidate} of the candidate, ${current} of ${this.#played.current} of the served side`
  }
}

/** The chance of at least `least` successes in `trials`, each with the chance `share`. */
function chanceOfAtLeast(least: number, trials: number, share: number): number {
  if (share >= 1) return 1
  let [term, below] = [(1 - share) ** trials, 0]
  for (let successes = 0; successes < least; successes += 1) {
    below += term
    term *= ((trials - successes) / (successes + 1)) * (share / (1 - share))
  }
  return 1 - below
}
