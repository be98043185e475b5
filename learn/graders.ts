/** The graders of the suite beside the real one: a naive one, and one that is silent or wrong at times. */
import type { Episode, Evaluator, JsonObject } from '../src/contract/index.ts'
import { draw } from '../plugins/runtimes/practice/draw.ts'
import { answerOf, type World } from './worlds/world.ts'

/** What many people write first: the answer is somewhere in the output, or the run says that it went well. */
export const naiveGrader: Evaluator = {
  async score(task, episode) {
    if (episode.ended !== undefined) return null
    return isClaimed(episode) || episode.stdout.includes(answerOf(task)) ? 1 : 0
  },
}

function isClaimed({ stdout, trajectory }: Episode): boolean {
  return /^score: 1$|\bchecks passed\b/m.test(stdout) || trajectory.some((event) => event['score'] === 1 || hasPassed(event))
}

const hasPassed = (event: JsonObject): boolean => JSON.stringify(event).includes('PASS')

/** The same verdicts, some of them missing and some turned round; of a silent grader no score is known. */
export function flakyGrader(grader: Evaluator, { seed, flakiness }: World): Evaluator {
  let asked = 0
  return {
    async score(task, episode, scene) {
      asked += 1
      const luck = draw(seed, 'grader', String(asked))
      if (luck < flakiness.silent) return null
      const score = await grader.score(task, episode, scene)
      return score === null || luck >= flakiness.silent + flakiness.wrong ? score : 1 - score
    },
  }
}
