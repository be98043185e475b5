/** SGLang's own words for sampling, and for what was sampled. */
import type { Json, JsonObject, Sampling } from '../../../src/contract/index.ts'
import { isList, listOf, objectOf } from '../common/json.ts'
import { broken, checkCount, idsOf, logProbsOf } from '../common/numbers.ts'

export function samplingParams({ maxTokens, temperature, topP, topK, seed, stop }: Sampling): JsonObject {
  return {
    max_new_tokens: maxTokens,
    temperature,
    ...(topP !== undefined && { top_p: topP }),
    ...(topK !== undefined && { top_k: topK }),
    ...(seed !== undefined && { sampling_seed: seed }),
    ...(stop !== undefined && { stop }),
  }
}

export interface Sampled {
  readonly tokens: readonly number[]
  readonly logProbs: readonly number[]
}

/** Rows of log-probability, id and text, one per generated token. */
export function sampledOf(meta: JsonObject): Sampled {
  if (!isList(meta['output_token_logprobs'])) throw broken('it came without log-probabilities')
  const rows = meta['output_token_logprobs'].map(listOf)
  const tokens = idsOf(
    rows.map((row) => row[1] ?? null),
    'generated ids',
  )
  checkCount(tokens, meta['completion_tokens'], 'generated ids')
  return { tokens, logProbs: logProbsOf(rows.map((row) => row[0])) }
}

/** A word on one route, an object with a `type` on the other. */
export const isAborted = (reason: Json | undefined): boolean => reason === 'abort' || objectOf(reason)['type'] === 'abort'
