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

/** Of differences that stand for slopes. */
const STEP = 1e-5

/** The slopes of a published loss, by differences. For each rollout and generated token: how much the loss falls when the weights give that token more. */
export function fallsOf(rollouts: readonly Rollout[], loss: (changed: readonly Rollout[]) => number): readonly (readonly number[])[] {
  return rollouts.map(({ policyLogProbs = [] }, row) =>
    policyLogProbs.map((_, token) => {
      const at = (by: number): number =>
        loss(
          rollouts.map((one, n) =>
            n === row ? { ...one, policyLogProbs: policyLogProbs.map((value, t) => (t === token ? value + by : value)) } : one,
          ),
        )
      return (at(-STEP) - at(STEP)) / (2 * STEP)
    }),
  )
}

/** The logarithm of the ratio of an answer's probabilities with the weights and with the base. */
export const ratioOf = ({ lossMask, policyLogProbs = [], baseLogProbs = [] }: Rollout): number =>
  lossMask.reduce<number>((sum, mark, at) => sum + (mark === 0 ? 0 : (policyLogProbs[at] ?? 0) - (baseLogProbs[at] ?? 0)), 0)
