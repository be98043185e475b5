/** One decision of a gate over simulated episodes, with a cache of known outcomes. */
import { betaOf } from '../../plugins/selections/evidence/testing.ts'
import type { Draw, Pair, Question, Selection, Task } from '../../src/contract/index.ts'
import { drawsOf } from '../../src/evolution/evaluate.ts'
import { meanOf } from '../results.ts'

/** One probability per task. */
export type Rates = readonly number[]

const TASKS = 60

const TASK_LIST = Array.from({ length: TASKS }, (_, n): Task => ({ name: `task-${n + 1}`, prompt: `task ${n + 1}`, role: 'gate' }))

/** Real agents' probabilities are mostly near 0 or 1; the mean here is 0.4. */
export const drawRates = (chance: () => number): Rates => TASK_LIST.map(() => betaOf(chance))

/** Shifts every probability by the same amount within 0 to 1, so that the mean moves by `effect` if possible. */
export function moved(rates: Rates, effect: number): Rates {
  let [low, high] = [-1, 1]
  for (let halving = 0; halving < HALVINGS; halving += 1) {
    const middle = (low + high) / 2
    if (meanOf(shifted(rates, middle)) - meanOf(rates) < effect) low = middle
    else high = middle
  }
  return shifted(rates, high)
}
const HALVINGS = 30

const shifted = (rates: Rates, by: number): Rates => rates.map((rate) => Math.min(1, Math.max(0, rate + by)))

/** The outcomes of one tree by task and repeat. */
export type Outcomes = Map<string, number>

interface Side {
  readonly rates: Rates
  readonly known: Outcomes
}
export interface Contest {
  readonly selection: Selection
  readonly current: Side
  readonly candidate: Side
  readonly history: Question['history']
  readonly seed: string
  readonly episodesMax: number
  readonly chance: () => number
}

export function decide(contest: Contest): { readonly selected: boolean; readonly episodes: number } {
  const { selection, history, seed, episodesMax } = contest
  const pairs: Pair[] = []
  let episodes = 0
  const question = (): Question => ({
    kind: 'traffic',
    tasks: TASK_LIST,
    pairs,
    // As many repeats as the budget allows, for a gate with a fixed number.
    repeats: Math.floor(episodesMax / (2 * TASK_LIST.length)),
    episodesLeft: episodesMax - episodes,
    seed,
    history,
  })
  for (;;) {
    const draws = drawsOf(selection, question())
    for (const draw of draws) {
      const cost = costOf(contest, draw)
      if (episodes + cost > episodesMax) return { selected: selection.decide(pairs, question()).selected, episodes }
      episodes += cost
      pairs.push(pairOf(contest, draw))
    }
    if (draws.length === 0) return { selected: selection.decide(pairs, question()).selected, episodes }
  }
}

const costOf = ({ current, candidate }: Contest, draw: Draw): number =>
  [current, candidate].filter(({ known }) => !known.has(keyOf(draw))).length

function pairOf({ current, candidate, chance }: Contest, draw: Draw): Pair {
  const index = TASK_LIST.findIndex(({ name }) => name === draw.task)
  const task = TASK_LIST[index]
  if (task === undefined) throw new Error(`the selection asked for task ${draw.task}, which is not in the question`)
  const play = ({ rates, known }: Side): number => {
    const outcome = known.get(keyOf(draw)) ?? (chance() < (rates[index] ?? 0) ? 1 : 0)
    known.set(keyOf(draw), outcome)
    return outcome
  }
  const weight = draw.weight === undefined ? {} : { weight: draw.weight }
  return { task, repeat: draw.repeat, current: play(current), candidate: play(candidate), ...weight }
}

const keyOf = ({ task, repeat }: Draw): string => `${task} ${repeat}`
