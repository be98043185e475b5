/** Reads the configured tasks, from a list or a folder, or the bundled ones. */
import { resolve } from 'node:path'
import { invalid, type Json, type Task } from '../../contract/index.ts'
import { readFolder } from './folder.ts'
import { bytesOf, taskFrom } from './task.ts'

/** Those that are not in use count too. */
export const TASKS_MAX = 2000
/** The files of all tasks, which each training thread holds in memory. */
const TASKS_BYTES_MAX = 256 * 1024 * 1024

export interface TaskSettings {
  readonly tasks: readonly Json[] | null
  readonly tasks_dir: string | null
  /** The evaluator of tasks that name none. */
  readonly evaluator: string
}

/** Throws Refusal 'invalid' that names the task and the field. */
export async function readTasks(settings: TaskSettings, baseDirectory: string, bundled: readonly Json[]): Promise<readonly Task[]> {
  const { tasks, tasks_dir: folder } = settings
  const listed = tasks ?? (folder === null ? bundled : [])
  const found = folder === null ? [] : await readFolder(resolve(baseDirectory, folder), TASKS_MAX)
  const all = [...listed.map(listedTask), ...found]
  checkTogether(all)
  return all.map((task) => withEvaluator(task, settings.evaluator))
}

/** A text is a gate task with that prompt. */
function listedTask(value: Json, index: number): Task {
  const fields = typeof value === 'string' ? { name: `task-${index + 1}`, prompt: value } : value
  return taskFrom(fields, `evolution.tasks[${index}]`)
}

function checkTogether(tasks: readonly Task[]): void {
  if (tasks.length > TASKS_MAX)
    throw invalid('too_many_tasks', `evolution.tasks: there are ${tasks.length} tasks; at most ${TASKS_MAX} are allowed`)
  const names = tasks.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw invalid('task_twice', `evolution.tasks: two tasks are named ${twice}; rename one of them`)
  if (tasks.reduce((sum, task) => sum + bytesOf(task), 0) > TASKS_BYTES_MAX)
    throw invalid('tasks_too_large', `evolution.tasks: the files of all tasks together must be at most ${TASKS_BYTES_MAX} bytes`)
}

function withEvaluator(task: Task, configured: string): Task {
  const evaluator = evaluatorOf(task, configured)
  return evaluator === configured ? task : { ...task, data: { ...task.data, evaluator } }
}

/** The default evaluator needs an answer; a task that names none and has no answer is scored by its verifier or a judge. */
export function evaluatorOf({ data = {} }: Task, configured: string): string {
  const { evaluator = configured } = data
  if (typeof evaluator === 'string' && (evaluator !== 'answer' || 'evaluator' in data || 'answer' in data)) return evaluator
  return 'verify' in data ? 'verify' : 'judge'
}
