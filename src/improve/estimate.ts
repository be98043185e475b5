/** What the rest of a run costs at most, from what the baseline took. */
import { estimate, NOTHING_SPENT, spentBoth, type Spent } from '../evolution/index.ts'
import type { Estimate, TaskScore } from './events.ts'

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
