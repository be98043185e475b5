/** Tells of each episode as it ends, with the sums of the step so far. */
import type { EpisodesSoFar, Reporter } from '../contract/index.ts'
import type { EpisodeResult } from './episodes.ts'
import { NOTHING_SPENT, spentBoth, type Spent } from './money/spent.ts'

export class EpisodeTelling {
  readonly #report: Reporter
  #episodes = 0
  #spent = NOTHING_SPENT

  constructor(report: Reporter) {
    this.#report = report
  }

  /** `transcript` is its folder in the step's record. */
  tell({ side, task, repeat, score, failure, note, seconds, spent }: EpisodeResult, transcript: string | null): void {
    this.#episodes += 1
    this.#spent = spentBoth(this.#spent, spent)
    this.#report.episode?.({
      side,
      task: task.name,
      repeat,
      score,
      words: note?.words ?? failure,
      seconds,
      ...taken(spent),
      transcript,
      so_far: { episodes: this.#episodes, ...taken(this.#spent) },
    })
  }
}

const taken = ({ inputTokens, outputTokens, cost, unpricedCalls }: Spent): Omit<EpisodesSoFar, 'episodes'> => ({
  input_tokens: inputTokens,
  output_tokens: outputTokens,
  cost: unpricedCalls > 0 ? null : cost,
})
