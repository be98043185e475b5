/**
 * Joins tasks of the gate that nobody gave a family: those whose texts are nearly the same, and those that moved together under earlier
 * candidates. Joining only makes a decision more careful. A family that a person or a miner named is never split, and no two of them are joined.
 */
import type { Task } from '../../contract/index.ts'
import { compact, sharedShare, shinglesOf } from '../../kit/index.ts'
import { rowsOf, type Moves } from './moves.ts'
import { movingPairs } from './together.ts'

/** Where sixty tasks have nothing in common, two to five pairs of them are joined by chance. */
const STRENGTH_MIN = 2.5
/** Texts are nearly the same when they share this much of what both say. */
const ALIKE_SHARE = 0.9

/** The tasks, with the family of those that were joined. `tree`: the candidate that is decided on, whose own scores must not tell. */
export function joined(tasks: readonly Task[], moves: Moves, tree?: string): readonly Task[] {
  const gate = tasks.filter(({ role }) => role === 'gate')
  const groups = new Groups(gate)
  for (const [one, other] of alikePairs(gate)) groups.join(one, other)
  const rows = rowsOf(
    moves,
    gate.map(({ name }) => name),
  ).filter((row) => row.tree !== tree)
  for (const { one, other } of movingPairs(rows, STRENGTH_MIN)) groups.join(one, other)
  const families = new Map(gate.map((task, place) => [task, groups.familyOf(place)]))
  return tasks.map((task) => {
    const family = families.get(task)
    return family === undefined || family === task.family ? task : { ...task, family }
  })
}

/** The families of tasks that were joined. */
export const joinedFamilies = (before: readonly Task[], after: readonly Task[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    after.flatMap(({ name, family }, place) => (family === undefined || family === before[place]?.family ? [] : [[name, family] as const])),
  )

/** The tasks, joined as they were. */
export const joinedAs = (tasks: readonly Task[], families: Readonly<Record<string, string>>): readonly Task[] =>
  tasks.map((task) => (Object.hasOwn(families, task.name) ? { ...task, family: families[task.name] ?? '' } : task))

const JOINED_MAX = 50

/** The names of tasks that were joined, for the row: one list for each family. */
export function joinedNames(before: readonly Task[], after: readonly Task[]): readonly (readonly string[])[] {
  const changed = new Set(after.flatMap(({ family }, place) => (family === before[place]?.family ? [] : (family ?? []))))
  return [...changed].slice(0, JOINED_MAX).map((family) => after.filter((task) => task.family === family).map(({ name }) => name))
}

/** Tasks by their places, and the groups they are in. */
class Groups {
  readonly #tasks: readonly Task[]
  readonly #parents: number[]
  /** Roots of groups that hold more than one task. */
  readonly #shared = new Set<number>()

  constructor(tasks: readonly Task[]) {
    this.#tasks = tasks
    const firsts = new Map<string, number>()
    this.#parents = tasks.map(({ family }, place) => {
      if (family === undefined) return place
      const first = firsts.get(family) ?? place
      firsts.set(family, first)
      return first
    })
  }

  join(one: number, other: number): void {
    const [first, second] = [this.#rootOf(one), this.#rootOf(other)]
    const [named, alsoNamed] = [this.#nameAt(first), this.#nameAt(second)]
    if (first === second || (named !== undefined && alsoNamed !== undefined)) return
    // The root of a named family keeps its name.
    const [root, under] = alsoNamed === undefined ? [first, second] : [second, first]
    this.#parents[under] = root
    this.#shared.add(root)
  }

  familyOf(place: number): string | undefined {
    const root = this.#rootOf(place)
    // No name of a family has a space.
    return this.#nameAt(root) ?? (this.#shared.has(root) ? `like ${this.#tasks[root]?.name ?? ''}` : undefined)
  }

  #nameAt(root: number): string | undefined {
    return this.#tasks[root]?.family
  }

  #rootOf(place: number): number {
    let root = place
    while (this.#parents[root] !== root) root = this.#parents[root] ?? root
    return root
  }
}

/** Prompts and files both: one prompt may be asked about many folders, and many things about one folder. */
function alikePairs(tasks: readonly Task[]): readonly (readonly [number, number])[] {
  const prompts = tasks.map(({ prompt }) => shinglesIn(prompt))
  return prompts.flatMap((one, place) =>
    prompts
      .slice(place + 1)
      .map((other, further) => [place, place + 1 + further, sharedShare(one, other)] as const)
      .filter(([, other, share]) => share >= ALIKE_SHARE && areFilesAlike(tasks[place], tasks[other]))
      .map(([first, second]) => [first, second] as const),
  )
}

function areFilesAlike(one: Task | undefined, other: Task | undefined): boolean {
  const [files, others] = [one, other].map((task) =>
    Object.entries(task?.files ?? {})
      .flat()
      .join('\n'),
  )
  return files === others || sharedShare(shinglesIn(files ?? ''), shinglesIn(others ?? '')) >= ALIKE_SHARE
}

const shinglesIn = (text: string): ReadonlySet<number> => shinglesOf(compact(text)).hashes
