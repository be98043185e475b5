/** Which tasks a run was asked for: once it has them it is measured by them to its end, and a later command may not ask for others. */
import { resolve } from 'node:path'
import { invalid, isObject } from '../../contract/index.ts'
import type { ImproveState } from '../../improve/index.ts'
import { shellWord } from '../screen/text.ts'

export const TASKS_MINED = 40

export interface TaskOptions {
  readonly tasksDir?: string
  /** How many tasks are mined. */
  readonly tasks?: number
  /** Whose recorded sessions are mined too. */
  readonly scenario?: string
}

/** As it is kept: null where a command named none. */
interface Asked {
  readonly tasksDir: string | null
  readonly tasks: number
  readonly scenario: string | null
}

export async function keepTasks(state: ImproveState, from: string, { tasksDir, tasks = TASKS_MINED, scenario }: TaskOptions) {
  const asked: Asked = { tasksDir: tasksDir === undefined ? null : resolve(tasksDir), tasks, scenario: scenario ?? null }
  await state.write('tasks', { from, asked })
}

/** What a command leaves out it does not ask for: it goes on with what is there. */
export async function refuseOtherTasks(state: ImproveState, options: TaskOptions): Promise<void> {
  const asked = askedIn(await state.read('tasks'))
  if (asked === null) return
  const { tasksDir, tasks, scenario } = options
  if (tasksDir !== undefined && resolve(tasksDir) !== asked.tasksDir) throw otherTasks('--tasks-dir', asked)
  // Beside a folder of tasks nothing is mined.
  if (tasks !== undefined && tasksDir === undefined && (tasks !== asked.tasks || asked.tasksDir !== null))
    throw otherTasks('--tasks', asked)
  if (scenario !== undefined && scenario !== asked.scenario) throw otherTasks('--scenario', asked)
}

/** Null where the run has no tasks yet, and of a run of an earlier version, which does not say. */
function askedIn(kept: unknown): Asked | null {
  return isObject(kept) && isAsked(kept['asked']) ? kept['asked'] : null
}

const isAsked = (value: unknown): value is Asked => isObject(value) && ['tasksDir', 'tasks', 'scenario'].every((name) => name in value)

function otherTasks(option: string, { tasksDir, tasks, scenario }: Asked): Error {
  const mined = scenario === null ? `--tasks ${tasks}` : `--tasks ${tasks} --scenario ${shellWord(scenario)}`
  const began = tasksDir === null ? mined : `--tasks-dir ${shellWord(tasksDir)}`
  return invalid(
    'another_run',
    `this run began with ${began} and keeps its tasks to its end; leave out ${option} to go on, or begin anew with --fresh`,
  )
}
