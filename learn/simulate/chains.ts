/** Simulated scenarios of fifty changes. */
import type { Selection } from '../../src/contract/index.ts'
import { randomOf } from '../../plugins/selections/evidence/testing.ts'
import { meanOf } from '../results.ts'
import { decide, drawRates, moved, type Outcomes, type Rates } from './decide.ts'

const STEPS = 50
/** Like `evolution.max_episodes_per_step`. */
const EPISODES_PER_STEP_MAX = 600

export interface Chain {
  readonly published: number
  readonly episodes: number
  /** The total gain, as a share of solved tasks. */
  readonly gain: number
  /** The largest drop below the best. */
  readonly drawdown: number
}

/** Fifty changes that change nothing. */
export const noOpChain = (selection: Selection, seed: number): Chain => chainOf(selection, seed, () => 0)

/** Half of the changes do harm, a quarter does nothing, a quarter helps. */
export const harmfulChain = (selection: Selection, seed: number, episodesMax = Infinity): Chain =>
  chainOf(
    selection,
    seed,
    (chance) => {
      const kind = chance()
      if (kind < 0.5) return between(chance, -0.1, -0.02)
      return kind < 0.75 ? 0 : between(chance, 0.02, 0.15)
    },
    episodesMax,
  )

const between = (chance: () => number, low: number, high: number): number => low + chance() * (high - low)

/** Ends early when the episodes are spent. */
function chainOf(selection: Selection, seed: number, effectOf: (chance: () => number) => number, episodesMax = Infinity): Chain {
  const chance = randomOf(seed)
  const start = drawRates(chance)
  let current: { readonly rates: Rates; readonly known: Outcomes } = { rates: start, known: new Map() }
  let [published, episodes, best, drawdown] = [0, 0, meanOf(start), 0]
  for (let decided = 0; decided < STEPS && episodes < episodesMax; decided += 1) {
    const candidate = { rates: moved(current.rates, effectOf(chance)), known: new Map() }
    const history = { decided, selected: published }
    const contest = {
      selection,
      current,
      candidate,
      history,
      seed: `${seed} ${decided}`,
      episodesMax: Math.min(EPISODES_PER_STEP_MAX, episodesMax - episodes),
      chance,
    }
    const verdict = decide(contest)
    episodes += verdict.episodes
    if (!verdict.selected) continue
    published += 1
    current = candidate
    best = Math.max(best, meanOf(current.rates))
    drawdown = Math.max(drawdown, best - meanOf(current.rates))
  }
  return { published, episodes, gain: meanOf(current.rates) - meanOf(start), drawdown }
}
