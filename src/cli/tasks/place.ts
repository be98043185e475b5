/** What the commands on tasks share: the folder of a task as its place and its name, numbers as typed, what judges tasks here, and some words. */
import { basename, dirname, resolve } from 'node:path'
import { builtins } from '../../../plugins/index.ts'
import { ConfigProblem, loadPlugin, TIMER_SECONDS_MAX } from '../../config/index.ts'
import { unavailable } from '../../contract/index.ts'
import type { Judge } from '../../mining/index.ts'

export const TASKS_FOLDER = './tasks'

export interface TaskPlace {
  readonly directory: string
  readonly name: string
}

export const placeOf = (folder: string): TaskPlace => ({ directory: dirname(resolve(folder)), name: basename(resolve(folder)) })

export function countOf(option: string, typed: string): number {
  const count = Number(typed)
  if (/^\d+$/.test(typed) && count >= 1 && Number.isSafeInteger(count)) return count
  throw new ConfigProblem([`${option} must be a whole number above 0`])
}

export function secondsOf(option: string, typed: string): number {
  const seconds = countOf(option, typed)
  if (seconds <= TIMER_SECONDS_MAX) return seconds
  throw new ConfigProblem([`${option} must be at most ${TIMER_SECONDS_MAX}`])
}

/** Refuses an executor that does not work here, before anything is tried. */
export async function judgeWith(executor: string): Promise<Judge> {
  const plugin = await loadPlugin('executor', executor, builtins, resolve('.'))
  const problem = (await plugin.check?.()) ?? null
  if (problem !== null)
    throw unavailable('no_sandbox', `tests cannot be run here: ${problem}, or use --executor local, which runs them with all your rights`)
  const made = await plugin.make({})
  return {
    name: executor,
    executor: made,
    evaluator: async (name) => {
      const evaluator = await loadPlugin('evaluator', name, builtins, resolve('.'))
      return 'make' in evaluator ? evaluator.make({}) : evaluator
    },
  }
}

export const STOPPED = unavailable('stopped', 'stopped; what was found so far is kept')

/** Why the history of a repository has no more tasks. */
export const NO_COMMIT = 'there is no commit but the first one and merges, which are not looked at'
export const SHALLOW = 'the clone is shallow, and git fetch --unshallow gets the rest of its history'
