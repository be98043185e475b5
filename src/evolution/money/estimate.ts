/** What further episodes take, from what earlier ones took. */
import { tokensOf, type Spent } from './spent.ts'

/** Episodes that were played. */
export interface PlayedEpisodes {
  readonly episodes: number
  readonly seconds: number
  readonly spent: Spent
}

export interface PlayEstimate {
  readonly episodes: number
  readonly spent: Spent
  /** Null where prices are not known. */
  readonly cost: number | null
  readonly seconds: number
}

export function estimate({ episodes: played, seconds, spent }: PlayedEpisodes, episodes: number, workers: number): PlayEstimate {
  const share = played === 0 ? 0 : episodes / played
  return {
    episodes,
    spent: {
      calls: Math.ceil(spent.calls * share),
      inputTokens: Math.ceil(spent.inputTokens * share),
      cachedTokens: Math.ceil(spent.cachedTokens * share),
      outputTokens: Math.ceil(spent.outputTokens * share),
      cost: spent.cost * share,
      unpricedCalls: Math.ceil(spent.unpricedCalls * share),
    },
    cost: spent.unpricedCalls > 0 ? null : spent.cost * share,
    seconds: Math.ceil((seconds * share) / workers),
  }
}

/** `isEach`: of one episode, where it is not known how many there are. */
export function estimateWords({ episodes, spent, cost, seconds }: PlayEstimate, isEach: boolean): string {
  const subject = isEach ? 'an episode takes' : `${episodes} episodes at most take`
  const money = cost === null ? 'cost unknown' : `cost ${cost.toFixed(2)}`
  return `${subject} about ${tokensOf(spent)} tokens, ${money}, ${seconds} s, by the episodes of the last days`
}
