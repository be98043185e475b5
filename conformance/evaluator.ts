/** Conformance suite for evaluators, for any test runner with `describe` and `it`. */
import assert from 'node:assert/strict'
import { isRefusal } from '../src/contract/index.ts'
import type { Episode, Evaluator, JsonObject, Scene, Task } from '../src/contract/index.ts'
import { assertGivenUp, assertUntouched, never, type Runner } from './support.ts'

export interface EvaluatorSuite extends Runner {
  readonly evaluator: Evaluator
  readonly task: Task
  /** An episode that solved the task, and one that did not. */
  readonly good: Episode
  readonly bad: Episode
  /** The workspace, models and executor of an episode. Absent: there are none. */
  readonly sceneOf?: (episode: Episode) => Scene
}

const CRASHED: Episode = { exitCode: 1, stdout: '', stderr: 'killed', trajectory: [] }
const NOT_STARTED: Episode = { ...CRASHED, exitCode: 127, ended: 'start' }

const GIVE_UP_MS_MAX = 1000

export function evaluatorConformance(suite: EvaluatorSuite): void {
  const { it, evaluator, task, good, bad, sceneOf = () => bareScene() } = suite
  const score = (episode: Episode): Promise<number | null> => evaluator.score(task, episode, sceneOf(episode))

  it('every finished episode gets a number, a crashed one too, unless it cannot be scored', async () => {
    for (const episode of [good, bad]) assert.ok(Number.isFinite(await score(episode)), 'it has no score for an episode that can be scored')
    for (const episode of [CRASHED, NOT_STARTED]) assertScore(await score(episode))
  })
  it('an episode that solved the task scores above one that did not, and above one that crashed or never began', async () => {
    const best = await score(good)
    assert.ok(best !== null)
    for (const episode of [bad, CRASHED, NOT_STARTED]) {
      const other = await score(episode)
      assert.ok(other === null || best > other, `${best} is not above ${other}`)
    }
  })
  it('a task of another shape is scored or refused, and nothing is changed', async () => {
    const { data: _own, ...bare } = task
    for (const other of [bare, ...ODD_DATA.map((data) => ({ ...bare, data }))])
      await assertUntouched({ task: other, episode: good }, async (given) => {
        const outcome: unknown = await evaluator.score(given.task, given.episode, sceneOf(good)).catch((error: unknown) => error)
        if (!isRefusal(outcome)) assertScore(outcome)
      })
  })
  it('after an abort it is soon over', async () => {
    await assertGivenUp(evaluator.score(task, good, { ...sceneOf(good), signal: AbortSignal.abort() }), GIVE_UP_MS_MAX)
  })
}

function assertScore(score: unknown): void {
  assert.ok(score === null || Number.isFinite(score), `${String(score)} is neither a finite number nor null`)
}

/** A scene without a workspace, models or an executor that works. */
export const bareScene = (more: Partial<Scene> = {}): Scene => ({
  workspace: null,
  models: {},
  executor: { run: () => Promise.reject(new Error('there is no executor')) },
  reference: null,
  signal: never(),
  ...more,
})

const ODD_DATA: readonly JsonObject[] = [{}, { answer: 7 }, { answer: null }, { answer: ['a'] }]
