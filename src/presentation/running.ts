/** A step while it runs, as people read it: how far it is, what it took, and its latest episodes. */
import type { EpisodeReport } from '../contract/index.ts'
import { costText } from './money.ts'
import { counted, duration, whole } from './numbers.ts'
import { scoreText } from './scores.ts'

/** What the presentation needs of a running step, by shape: the wire's and the client's fit it. */
export interface RunningStep {
  readonly episodes_total: number | null
  readonly episodes_played: number
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cost: number | null
  readonly seconds_left: number | null
  readonly episodes: readonly RunningEpisode[]
}
type RunningEpisode = Omit<EpisodeReport, 'so_far'> & { readonly at: number }

const SIDES: Readonly<Record<RunningEpisode['side'], string>> = {
  candidate: 'with the change',
  current: 'as served',
  baseline: 'before the last requests',
  trial: 'a trial',
}

export type RunningView = ReturnType<typeof runningView>

export function runningView(step: RunningStep) {
  const { episodes_total: total, episodes_played: played, seconds_left: left, episodes } = step
  return {
    /** "12 episodes, at most 40"; null where neither is known. */
    progress: progressText(played, total),
    /** "at most 3 min left"; null where it is not known. */
    left: left === null ? null : `at most ${duration(left)} left`,
    spent: tokensText(step),
    /** Newest first. */
    episodes: episodes.toReversed().map((episode) => ({
      at: episode.at,
      task: episode.repeat === 0 ? episode.task : `${episode.task} (${episode.repeat + 1})`,
      side: SIDES[episode.side],
      score: episode.score === null ? 'no score' : scoreText(episode.score),
      isBad: episode.score === null,
      words: episode.words,
      took: [duration(episode.seconds), tokensText(episode)].filter((text) => text !== null).join(', '),
      transcript: episode.transcript,
    })),
  }
}

function progressText(played: number, total: number | null): string | null {
  if (played === 0) return total === null ? null : `at most ${counted(total, 'episode')}`
  return `${counted(played, 'episode')}${total === null ? '' : `, at most ${whole(total)}`}`
}

/** Null where nothing was counted. */
function tokensText({ input_tokens: input, output_tokens: output, cost }: Pick<RunningStep, 'input_tokens' | 'output_tokens' | 'cost'>) {
  return input + output === 0 ? null : `${whole(input)} tokens in, ${whole(output)} out, ${costText(cost)}`
}
