import { describe, expect, it } from 'vitest'
import { bareScene } from '../conformance/index.ts'
import type { Episode, Evaluator, Task } from '../src/contract/index.ts'
import { renderTree } from '../src/harness/index.ts'
import { ADAPTER } from './agent.ts'
import { graderOf } from './graders.ts'
import { WORLDS } from './index.ts'
import { makePlayer, reportsOn } from './player.ts'
import { answerOf, type World } from './worlds/world.ts'

const worldOf = (family: string): World => {
  const world = WORLDS[family]?.(`graders ${family}`)
  if (world === undefined) throw new Error(`there is no world ${family}`)
  return world
}
const trainOf = (world: World): readonly Task[] => world.phases[0]?.train ?? []
const taskOf = (world: World): Task => {
  const task = trainOf(world)[0]
  if (task === undefined) throw new Error('a world has train tasks')
  return task
}
const saying = (text: string): Episode => ({ exitCode: 0, stdout: text, stderr: '', trajectory: [] })
const failing: Evaluator = { score: async () => 0 }

describe('graders of worlds', () => {
  it('are silent as often as the world says', async () => {
    const grader = graderOf(worldOf('silent-grader'), failing, () => 0)
    const scores = await Promise.all(
      Array.from({ length: 200 }, () => grader.score(taskOf(worldOf('silent-grader')), saying(''), bareScene())),
    )
    expect(scores.filter((score) => score === null).length).toBeGreaterThan(20)
    expect(scores.filter((score) => score === null).length).toBeLessThan(70)
  })

  it('become lenient when they move, and not before', async () => {
    const world = worldOf('moving-grader')
    const passesAt = async (episode: number): Promise<number> => {
      const grader = graderOf(world, failing, () => episode)
      const scores = await Promise.all(Array.from({ length: 50 }, () => grader.score(taskOf(world), saying(''), bareScene())))
      return scores.filter((score) => score === 1).length
    }
    expect(await passesAt(10)).toBe(0)
    expect(await passesAt(60)).toBeGreaterThan(5)
  })

  it('give the share of an answer that is right, and nothing for more than was asked', async () => {
    const world = worldOf('continuous-scores')
    const [task, grader] = [taskOf(world), graderOf(world, failing, () => 0)]
    const answer = answerOf(task)
    const [first = '', ...others] = answer.split(' ')
    const scoreOf = (text: string): Promise<number | null> => grader.score(task, saying(text), bareScene())
    expect(await scoreOf(answer)).toBe(1)
    expect(await scoreOf(['0', ...others].join(' '))).toBeCloseTo(0.9)
    expect(await scoreOf(`${answer} ${first}`)).toBe(0)
  })
})

describe('what disturbs a world', () => {
  it('an outage is a failure of the model, and passes', () => {
    const world = worldOf('outages')
    const player = makePlayer(world)
    const failed = Array.from({ length: 70 }, () => player.play(renderTree(ADAPTER, world.start), taskOf(world).prompt, {}).modelFailure)
    expect(failed.filter((failure) => failure !== undefined).length).toBe(12)
    expect(failed.at(-1)).toBeUndefined()
  })

  it('reports that say the opposite name runs that succeeded', () => {
    const world = worldOf('ambiguous-feedback')
    const answers = new Map(trainOf(world).map((task) => [task.prompt, answerOf(task)]))
    const isSolved = (steps: number, reports: NonNullable<World['reports']>): boolean =>
      Array.from({ length: steps }, (_, step) => reportsOn({ ...world, reports }, trainOf(world), world.start, step, 0))
        .flat()
        .some((sample) =>
          [...answers].some(([prompt, answer]) => JSON.stringify(sample).includes(prompt) && JSON.stringify(sample).includes(answer)),
        )
    expect(isSolved(5, { delaySteps: 0, wrongChance: 0.4 })).toBe(true)
    expect(isSolved(5, { delaySteps: 0, wrongChance: 0 })).toBe(false)
  })
})
