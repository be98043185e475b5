/** Rows as a trainer takes them: shifted by one, zero in the prompt and where masked, in calls of a bounded size. */
import type { Loss } from '../../contract/index.ts'
import type { Row } from './job-id.ts'
import type { Datum } from './tinker.ts'

/** Fits the memory of a small machine; rows are never split, so a longer one is a call of its own. */
const CALL_TOKENS_MAX = 65_536
const PROBE_TOKENS_MAX = 64

/** Gradients add up over calls until the optimizer step, so the split does not change the result. */
export function callsOf<T extends Pick<Row, 'tokens'>>(rows: readonly T[], tokensMax = CALL_TOKENS_MAX): readonly (readonly T[])[] {
  const calls: T[][] = []
  let room = 0
  for (const row of rows) {
    if (row.tokens.length > room) {
      calls.push([])
      room = tokensMax
    }
    calls.at(-1)?.push(row)
    room -= row.tokens.length
  }
  return calls
}

export function datumOf(row: Row, loss: Loss): Datum {
  const weights = row.advantages.map((advantage, at) => (row.lossMask[at] === 1 ? advantage : 0))
  const numbers =
    loss === 'cross_entropy' ? { weights: placed(row, weights) } : { logprobs: placed(row, row.logProbs), advantages: placed(row, weights) }
  return { ...shifted(row.tokens), numbers }
}

export function questionOf(tokens: readonly number[]): Datum {
  const question = shifted(tokens)
  return { ...question, numbers: { weights: question.targets.map(() => 1) } }
}

/** Identifies the exported adapter in the engine. */
export const probeOf = ([first]: readonly Row[]): readonly number[] => first?.tokens.slice(0, PROBE_TOKENS_MAX) ?? []

export function trainedTokens(rows: readonly Row[]): number {
  return rows.reduce((sum, { lossMask }) => sum + lossMask.filter((mask) => mask === 1).length, 0)
}

/** A row whose tokens all have weight 0 changes nothing. */
export const isLearntFrom = ({ advantages, lossMask }: Row): boolean =>
  advantages.some((advantage, at) => advantage !== 0 && lossMask[at] === 1)

/** The generated tokens' part of the log-probabilities of all targets. */
export const generatedOf = (logProbs: readonly number[], { lossMask }: Pick<Row, 'lossMask'>): readonly number[] =>
  logProbs.slice(logProbs.length - lossMask.length)

const shifted = (tokens: readonly number[]): Pick<Datum, 'inputs' | 'targets'> => ({
  inputs: tokens.slice(0, -1),
  targets: tokens.slice(1),
})

/** The generated tokens are the last ones, after a prompt that is never empty. */
const placed = ({ tokens }: Row, values: readonly number[]): readonly number[] => [
  ...Array.from({ length: tokens.length - 1 - values.length }, () => 0),
  ...values,
]
