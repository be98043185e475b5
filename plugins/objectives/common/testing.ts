/** Rollouts for the tests of objectives. */
import type { JsonObject, Make, Objective, Prepared, Rollout } from '../../../src/contract/index.ts'

/** Two generated tokens after one of the prompt, unless changed. */
export function rollout(change: Partial<Rollout> = {}): Rollout {
  const usual = { record_ids: ['x', 'r'], group: null, score: null, tokens: [1, 2, 3], lossMask: [1, 1], logProbs: [-1, -1] } as const
  const sample = { record_ids: ['x', 'r'], exchanges: [{}], score: null, feedback: null }
  return { ...usual, sample, ...change }
}

export const scored = (scores: readonly (number | null)[], change: Partial<Rollout> = {}): readonly Rollout[] =>
  scores.map((score) => rollout({ score, ...change }))

export async function prepared(
  { plugin }: { readonly plugin: Make<Objective> },
  config: JsonObject,
  rollouts: readonly Rollout[],
  state: JsonObject = {},
): Promise<Prepared> {
  const objective = await plugin.make(config)
  return objective.prepare(rollouts, state)
}

/** The weight of each rollout; throws for a skip. */
export function weightsOf(answer: Prepared): readonly (number | readonly number[])[] {
  if (answer.kind === 'skip') throw new Error(`it trains nothing: ${answer.reason}`)
  return answer.advantages
}
