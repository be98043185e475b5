/** What every evaluator must do, as a suite that any test runner with `describe` and `it` can run. */
import assert from 'node:assert/strict'
import { isRefusal } from '../src/contract/index.ts'
import type { Episode, Evaluator, JsonObject, Task } from '../src/contract/index.ts'
import { assertUntouched, type Runner } from './support.ts'

export interface EvaluatorSuite extends Runner {
  readonly evaluator: Evaluator
  readonly task: Task
  /** An episode that solved the task, and one that did not. */
  readonly good: Episode
  readonly bad: Episode
}

/** What is left of an agent that never got to work. */
const CRASHED: Episode = { exitCode: 1, stdout: '', stderr: 'killed', trajectory: [] }

export function evaluatorConformance({ it, evaluator, task, good, bad }: EvaluatorSuite): void {
  it('every episode gets a number, one that crashed too', async () => {
    for (const episode of [good, bad, CRASHED]) assert.ok(Number.isFinite(await evaluator.score(task, episode)))
  })
  it('an episode that solved the task scores above one that did not, and above one that crashed', async () => {
    const [best, worse, crashed] = await Promise.all([good, bad, CRASHED].map((episode) => evaluator.score(task, episode)))
    assert.ok(best !== undefined && worse !== undefined && crashed !== undefined)
    assert.ok(best > worse, `${best} is not above ${worse}`)
    assert.ok(best > crashed, `${best} is not above ${crashed}`)
  })
  it('a task of another shape is scored or refused, and nothing is changed', async () => {
    const { data: _own, ...bare } = task
    for (const other of [bare, ...ODD_DATA.map((data) => ({ ...bare, data }))])
      await assertUntouched({ task: other, episode: good }, async (given) => {
        const score: unknown = await evaluator.score(given.task, given.episode).catch((error: unknown) => error)
        assert.ok(Number.isFinite(score) || isRefusal(score), 'it threw what is no refusal')
      })
  })
}

const ODD_DATA: readonly JsonObject[] = [{}, { answer: 7 }, { answer: null }, { answer: ['a'] }]
