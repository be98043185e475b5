/** How many tokens an exchange took: as the provider says, where that can be true; else estimated by length. */

/** More than any model takes at once: a provider that says more is wrong. */
const TOKENS_MAX = 10_000_000
/** A text has about as many bytes to a token. */
export const BYTES_PER_TOKEN = 4

export interface CallUsage {
  readonly model: string | undefined
  readonly inputTokens: number | undefined
  readonly outputTokens: number | undefined
  readonly askedBytes: number
  readonly answeredBytes: number
  /** What a provider counted before the end is no count of the answer. */
  readonly isWhole: boolean
}

export interface CountedTokens {
  readonly input: number
  readonly output: number
}

export function tokensOf({ inputTokens, outputTokens, askedBytes, answeredBytes, isWhole }: CallUsage): CountedTokens {
  // No call takes nothing: such a count is as good as none.
  const saysNothing = (inputTokens ?? 0) + (outputTokens ?? 0) === 0
  const output = saysNothing ? estimate(answeredBytes) : counted(outputTokens, answeredBytes)
  return {
    input: saysNothing ? estimate(askedBytes) : counted(inputTokens, askedBytes),
    output: isWhole ? output : Math.max(output, estimate(answeredBytes)),
  }
}

const counted = (said: number | undefined, bytes: number): number =>
  said === undefined || !(said >= 0) || said > TOKENS_MAX ? estimate(bytes) : said

const estimate = (bytes: number): number => Math.ceil(bytes / BYTES_PER_TOKEN)
