/** The families of tasks: tasks of one family share their luck, so that together they count as one. */
import type { Task } from '../../../src/contract/index.ts'

/** The number of each task's family, from 0 in the order of their first tasks. A task without a family is one of its own. */
export function familiesOf(tasks: readonly Task[]): readonly number[] {
  const numbers = new Map<string, number>()
  // A task may be named like a family of others.
  const keys = tasks.map(({ name, family }) => (family === undefined ? `task ${name}` : `family ${family}`))
  return keys.map((key) => {
    const number = numbers.get(key) ?? numbers.size
    numbers.set(key, number)
    return number
  })
}

/** How much each family counts: one that is named, whole; a task without a family, as part of as many as may be alike. */
export function sharesOf(tasks: readonly Task[], alike: number): readonly number[] {
  const shares = new Map(familiesOf(tasks).map((family, place) => [family, tasks[place]?.family === undefined ? 1 / alike : 1]))
  return [...shares.values()]
}
