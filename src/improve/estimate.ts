/** What the rest of a run costs at most, from what the baseline took. */
import type { Estimate, TaskScore } from './events.ts'

/** Of a million tokens; null where they are not known. */
export interface TokenPrices {
  readonly input: number
  readonly output: number
}

export function estimate(baseline: readonly TaskScore[], episodes: number, workers: number, prices: TokenPrices | null): Estimate {
  const mean = (value: (each: TaskScore) => number): number =>
    baseline.length === 0 ? 0 : baseline.reduce((sum, each) => sum + value(each), 0) / baseline.length
  const [input, output] = [mean((each) => each.input_tokens) * episodes, mean((each) => each.output_tokens) * episodes]
  return {
    episodes,
    model_calls: Math.ceil(mean((each) => each.model_calls) * episodes),
    input_tokens: Math.ceil(input),
    output_tokens: Math.ceil(output),
    cost: prices === null ? null : (input * prices.input + output * prices.output) / MILLION,
    seconds: Math.ceil((mean((each) => each.seconds) * episodes) / workers),
  }
}
const MILLION = 1_000_000
