/** What the rest of a run costs at most, from what the baseline took. */
import { estimate, NOTHING_SPENT, spentBoth, type Spent } from '../evolution/index.ts'
import type { Estimate, ImproveResult, RoundOutcome, TaskScore } from './events.ts'

export function estimateRest(baseline: readonly TaskScore[], episodes: number, workers: number): Estimate {
  const spent = baseline.map(spentIn).reduce(spentBoth, NOTHING_SPENT)
  const seconds = baseline.reduce((sum, each) => sum + each.seconds, 0)
  const rest = estimate({ episodes: baseline.length, seconds, spent }, episodes, workers)
  return {
    episodes,
    model_calls: rest.spent.calls,
    input_tokens: rest.spent.inputTokens,
    output_tokens: rest.spent.outputTokens,
    cost: rest.cost,
    seconds: rest.seconds,
  }
}

/** Of an earlier version, which did not say it, the cost is unknown. */
const spentIn = ({ model_calls: calls, input_tokens, cached_tokens = 0, output_tokens, cost = null }: KeptScore): Spent => ({
  calls,
  inputTokens: input_tokens,
  cachedTokens: cached_tokens,
  outputTokens: output_tokens,
  cost: cost ?? 0,
  unpricedCalls: cost === null ? calls : 0,
})

/** A file of an earlier version lacks some. */
type KeptScore = Omit<TaskScore, 'cached_tokens' | 'cost'> & Partial<Pick<TaskScore, 'cached_tokens' | 'cost'>>

/** All plays and all steps together. */
export function takenAltogether(
  plays: readonly TaskScore[],
  rounds: readonly RoundOutcome[],
): Pick<ImproveResult, 'model_calls' | 'input_tokens' | 'output_tokens' | 'cost'> {
  const { calls, inputTokens, outputTokens, cost, unpricedCalls } = [...plays.map(spentIn), ...rounds.map(spentInRound)].reduce(
    spentBoth,
    NOTHING_SPENT,
  )
  return { model_calls: calls, input_tokens: inputTokens, output_tokens: outputTokens, cost: unpricedCalls > 0 ? null : cost }
}

/** Of an earlier version, which counted the proposer's calls alone, the cost is unknown. */
function spentInRound({ spent, model_calls: calls }: RoundOutcome): Spent {
  if (spent === undefined) return { ...NOTHING_SPENT, calls, unpricedCalls: calls }
  const of = (name: string): number => (typeof spent[name] === 'number' ? spent[name] : 0)
  return {
    calls: of('calls'),
    inputTokens: of('input_tokens'),
    cachedTokens: of('cached_tokens'),
    outputTokens: of('output_tokens'),
    cost: of('cost'),
    unpricedCalls: of('unpriced_calls'),
  }
}
