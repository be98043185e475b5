/** The graders of the suite beside the built-in one: a naive one, one by shares, and one that a world disturbs. */
import { draw } from '../plugins/runtimes/practice/draw.ts'
import { finalText, scoreOfEnd, type Episode, type Evaluator, type JsonObject } from '../src/contract/index.ts'
import { answerOf, scoreOfReply, type World } from './worlds/world.ts'

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

/** The grader of a world: the given one, or the world's own scores, as the world disturbs them. */
export function graderOf(world: World, given: Evaluator, played: () => number): Evaluator {
  const { seed, flakiness, regrade, scoreOf } = world
  const grader = scoreOf === undefined ? given : sharesOf(world)
  let asked = 0
  return {
    async score(task, episode, scene) {
      asked += 1
      const luck = draw(seed, 'grader', String(asked))
      if (luck < flakiness.silent) return null
      const score = await grader.score(task, episode, scene)
      if (score === null) return null
      if (luck < flakiness.silent + flakiness.wrong) return 1 - score
      return regrade === undefined ? score : regrade(score, draw(seed, 'regrade', String(asked)), played())
    },
  }
}

const sharesOf = (world: World): Evaluator => ({
  async score(task, episode) {
    const settled = scoreOfEnd(episode)
    return settled === undefined ? scoreOfReply(world, finalText(episode), answerOf(task)) : settled
  },
})
