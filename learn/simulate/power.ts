/** The power of a gate, and the cost of a fixed-size test with the same power. */
import type { Selection } from '../../src/contract/index.ts'
import { randomOf } from '../../plugins/selections/evidence/testing.ts'
import type { DetectionPower } from '../results.ts'
import { decide, drawRates, moved } from './decide.ts'

/** The budget of one decision. */
const EPISODES_MAX = 2000
/** The step between sizes of the fixed test. */
const PAIRS_STEP = 10
const PAIRS_MAX = 2000

/** `level` is the level of the gate's first decision. */
export function powerOf(selection: Selection, effect: number, level: number, runs: number): DetectionPower {
  const verdicts = Array.from({ length: runs }, (_, run) => {
    const chance = randomOf(run)
    const rates = drawRates(chance)
    const [current, candidate] = [rates, moved(rates, effect)].map((each) => ({ rates: each, known: new Map() }))
    if (current === undefined || candidate === undefined) throw new Error('a contest has two sides')
    const history = { decided: 0, selected: 0 }
    return decide({ selection, current, candidate, history, seed: `power ${run}`, episodesMax: EPISODES_MAX, chance })
  })
  const power = verdicts.filter(({ selected }) => selected).length / runs
  const episodes = verdicts.reduce((sum, verdict) => sum + verdict.episodes, 0) / runs
  return { effect, power, episodes, fixedEpisodes: fixedEpisodes(effect, level, power, runs) }
}

/** A one-sided z-test over the planned pairs, with tasks in turn. */
function fixedEpisodes(effect: number, level: number, power: number, runs: number): number | null {
  const critical = quantileOf(1 - level)
  const found = Array.from({ length: PAIRS_MAX / PAIRS_STEP }, () => 0)
  for (let run = 0; run < runs; run += 1) {
    const chance = randomOf(run)
    const rates = drawRates(chance)
    const better = moved(rates, effect)
    let [sum, squares] = [0, 0]
    for (let pairs = 1; pairs <= PAIRS_MAX; pairs += 1) {
      const task = (pairs - 1) % rates.length
      const difference = Number(chance() < (better[task] ?? 0)) - Number(chance() < (rates[task] ?? 0))
      sum += difference
      squares += difference ** 2
      if (pairs % PAIRS_STEP > 0) continue
      const deviation = Math.sqrt(Math.max(0, squares - sum ** 2 / pairs))
      if (sum > critical * deviation) found[pairs / PAIRS_STEP - 1] = (found[pairs / PAIRS_STEP - 1] ?? 0) + 1
    }
  }
  const size = found.findIndex((count) => count / runs >= power)
  return size === -1 ? null : (size + 1) * PAIRS_STEP * 2
}

/** The quantile of the normal distribution, by bisection. */
function quantileOf(share: number): number {
  let [low, high] = [-10, 10]
  for (let halving = 0; halving < 60; halving += 1) {
    const middle = (low + high) / 2
    if (below(middle) < share) low = middle
    else high = middle
  }
  return high
}

/** The normal distribution function, by Simpson's rule. */
function below(value: number): number {
  const steps = 200
  const width = value / steps
  const sum = Array.from({ length: steps + 1 }, (_, at) => density(at * width) * (at === 0 || at === steps ? 1 : at % 2 === 1 ? 4 : 2))
  return 0.5 + (sum.reduce((total, part) => total + part, 0) * width) / 3
}

const density = (at: number): number => Math.exp(-(at ** 2) / 2) / Math.sqrt(2 * Math.PI)
