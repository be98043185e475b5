/** The suite's other graders: a naive one, and one that is sometimes silent or wrong. */
import type { Episode, Evaluator, JsonObject } from '../src/contract/index.ts'
import { draw } from '../plugins/runtimes/practice/draw.ts'
import { answerOf, type World } from './worlds/world.ts'

/** A common first attempt: passes when the answer is anywhere in the output, or the run claims success. */
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

/** The same scores, some missing and some inverted. */
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
