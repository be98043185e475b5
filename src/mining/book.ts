/** A folder of tasks as people see it: what is there, one of them, and what they decide. The terminal and the service show the same. */
import { isObject, unknown, type ListedTask, type ShownTask, type Task, type TaskBook } from '../contract/index.ts'
import { wordsOf } from '../kit/index.ts'
import { addRecorded } from './from-record.ts'
import { decide, readMined, readMinedTask, writeRole, type MinedTaskRead } from './folder.ts'

/** What is decided counts for steps from the next start of the service on. */
export function openTaskBook(directory: string): TaskBook {
  return {
    async list() {
      const tasks: ListedTask[] = []
      for (const { name } of await readMined(directory)) tasks.push(await readMinedTask(directory, name).then(listedTask, unreadable(name)))
      return tasks
    },
    async show(name) {
      await refuseUnknown(directory, name)
      return shownTask(await readMinedTask(directory, name))
    },
    add: async (wanted) => listedTask(await readMinedTask(directory, await addRecorded(directory, wanted))),
    async change(name, { status, role }) {
      await refuseUnknown(directory, name)
      if (status !== undefined) await decide(directory, name, status)
      if (role !== undefined) await writeRole(directory, name, role)
      return listedTask(await readMinedTask(directory, name))
    },
  }
}

/** A name of a path is no name of a task, so nothing outside the folder is read. */
async function refuseUnknown(directory: string, name: string): Promise<void> {
  if ((await readMined(directory)).some((task) => task.name === name)) return
  throw unknown('unknown_task', 'the path names no task of evolution.tasks_dir; list them')
}

export function listedTask({ task: { name, role, family = name }, mined }: MinedTaskRead): ListedTask {
  const { check = null } = mined ?? {}
  return {
    name,
    role,
    family,
    status: mined?.status ?? null,
    origin: mined?.origin ?? null,
    check: check === null ? null : { at: check.at, passed: check.passed, problems: check.problems },
    problem: null,
  }
}

const unreadable =
  (name: string) =>
  (error: unknown): ListedTask => ({ name, role: null, family: null, status: null, origin: null, check: null, problem: wordsOf(error) })

const shownTask = (read: MinedTaskRead): ShownTask => ({
  ...listedTask(read),
  prompt: read.task.prompt,
  ...pathsOf(read.task),
  reference: Object.keys(read.reference?.files ?? {}),
})

const pathsOf = ({ files = {}, data = {} }: Task) => ({
  workspace: Object.keys(files),
  verify: isObject(data['verify_files']) ? Object.keys(data['verify_files']) : [],
})
