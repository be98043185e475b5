/** The health tasks: every candidate must pass each of them first. */
import type { Pair, Question } from '../../../src/contract/index.ts'
import type { TestStage } from './stage.ts'
import { tasksOf } from './stage.ts'
import { counted } from './words.ts'

const PASSED_SCORE = 1

export function openHealth(pairs: readonly Pair[], question: Question): TestStage {
  const tasks = tasksOf(question, 'health')
  const played = new Map(pairs.map(({ task, candidate }) => [task.name, candidate]))
  const failed = tasks.filter(({ name }) => played.has(name) && (played.get(name) ?? 0) < PASSED_SCORE)
  const waiting = tasks.filter(({ name }) => !played.has(name))
  const passed = failed.length + waiting.length === 0
  return {
    draws: failed.length > 0 ? [] : waiting.map(({ name }) => ({ task: name, repeat: 0, sides: ['candidate'] })),
    passed,
    reason: passed
      ? `all of ${counted(tasks.length, 'health task')} passed`
      : `${failed.length} of ${counted(tasks.length, 'health task')} failed${waiting.length > 0 ? `, ${waiting.length} not played` : ''}`,
    metrics: () => ({ evidence: { stopped: failed.length > 0 ? 'health' : 'unfinished' } }),
  }
}
