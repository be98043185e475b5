/** Chooses the few tasks of a step: hard and unseen ones that differ from each other, each with its most similar task. */
import { hash } from 'node:crypto'
import type { Brief, Task } from '../../../src/contract/index.ts'
import type { ReflectArchive } from './archive.ts'
import { similarity, wordsIn } from './words.ts'

/** The full score. */
export const WON = 1
const PROMPT_CHARACTERS_COMPARED = 4000

/**
 * Hard and unseen tasks alternate, so that a few unsolvable ones do not crowd out the others. Each comes with its most similar task: what they
 * share is worth learning, and where one passes and the other fails, so is the difference.
 */
export function chooseTasks(brief: Brief, archive: ReflectArchive, size: number): readonly Task[] {
  const { hard, unseen, others } = sorted(brief, archive)
  const likeness = likenessOf(brief.tasks)
  const taken = new Set<Task>()
  const left = (list: readonly Task[]): readonly Task[] => list.filter((task) => !taken.has(task))
  for (let turn = 0; taken.size < Math.min(size, brief.tasks.length); turn += 1) {
    const [first, second] = turn % 2 === 0 ? [left(hard), left(unseen)] : [left(unseen), left(hard)]
    const list = [first, second, left(others)].find(({ length }) => length > 0) ?? []
    const anchor = least(list, (task) => Math.max(0, ...[...taken].map((other) => likeness(task, other))))
    if (anchor === null) break
    taken.add(anchor)
    const like = least(left(brief.tasks), (task) => -likeness(task, anchor))
    if (like !== null) taken.add(like)
  }
  return [...taken].slice(0, size)
}

interface Sorted {
  readonly hard: readonly Task[]
  readonly unseen: readonly Task[]
  readonly others: readonly Task[]
}

/** In random order, so that every task gets its turn; seeded by the step's samples, so that a retried step is the same. */
function sorted({ tasks, samples, request }: Brief, { tasks: past, candidates, base }: ReflectArchive): Sorted {
  const failing = new Set(samples.filter(({ score }) => score !== null && score < WON).flatMap(({ task }) => task?.['name'] ?? []))
  const recent = new Map(past.map((each) => [each.task, each.recent]))
  const isHard = ({ name }: Task): boolean => failing.has(name) || (recent.get(name)?.some((score) => score < WON) ?? false)
  const seed = [...samples.flatMap(({ record_ids }) => record_ids), request?.id ?? ''].join('\n')
  const drawn = tasks.toSorted((a, b) => (rank(seed, a) < rank(seed, b) ? -1 : 1))
  const efforts = candidates.filter((candidate) => candidate.base === base).flatMap(({ scores }) => scores)
  const failedEdits = ({ name }: Task): number => efforts.filter(({ task, score, current }) => task === name && score <= current).length
  const hard = drawn.filter(isHard).toSorted((a, b) => failedEdits(a) - failedEdits(b))
  const fewest = Math.min(...hard.map(failedEdits))
  return {
    // Those with the fewest failed edits on this tree.
    hard: hard.filter((task) => failedEdits(task) === fewest),
    unseen: drawn.filter((task) => !isHard(task) && !recent.has(task.name)),
    others: [...hard.filter((task) => failedEdits(task) > fewest), ...drawn.filter((task) => !isHard(task) && recent.has(task.name))],
  }
}

const rank = (seed: string, { name }: Task): string => hash('sha256', `${seed}\n${name}`)

function likenessOf(tasks: readonly Task[]): (one: Task, other: Task) => number {
  const words = new Map(tasks.map((task) => [task, wordsIn(task.prompt.slice(0, PROMPT_CHARACTERS_COMPARED))]))
  return (one, other) => similarity(words.get(one) ?? new Set(), words.get(other) ?? new Set())
}

/** The first item with the smallest number. */
function least<T>(list: readonly T[], number: (one: T) => number): T | null {
  const [best] = list.map((one) => ({ one, size: number(one) })).toSorted((a, b) => a.size - b.size)
  return best?.one ?? null
}
