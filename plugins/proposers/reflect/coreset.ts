/** Which few tasks a step looks at: hard ones and unknown ones, unlike each other, each with the task most like it. */
import { hash } from 'node:crypto'
import type { Brief, Task } from '../../../src/contract/index.ts'
import type { Archive } from './archive.ts'
import { similarity, wordsIn } from './words.ts'

/** A score of a task that leaves nothing to gain. */
export const WON = 1
const PROMPT_CHARACTERS_COMPARED = 4000

/**
 * Hard and unseen ones take turns, so that a few that nothing helps with never keep all others away. What is most like a task comes with it:
 * what both have in common is worth learning, and if one is won and the other lost, what they have not.
 */
export function chooseTasks(brief: Brief, archive: Archive, size: number): readonly Task[] {
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

/** In an order drawn by lot, so that every task gets its turn, and by the step's own evidence, so that a step done again is the same. */
function sorted({ tasks, samples, request }: Brief, { tasks: past, candidates, base }: Archive): Sorted {
  const failing = new Set(samples.filter(({ score }) => score !== null && score < WON).flatMap(({ task }) => task?.['name'] ?? []))
  const recent = new Map(past.map((each) => [each.task, each.recent]))
  const isHard = ({ name }: Task): boolean => failing.has(name) || (recent.get(name)?.some((score) => score < WON) ?? false)
  const seed = [...samples.flatMap(({ record_ids }) => record_ids), request?.id ?? ''].join('\n')
  const drawn = tasks.toSorted((a, b) => (lot(seed, a) < lot(seed, b) ? -1 : 1))
  const efforts = candidates.filter((candidate) => candidate.base === base).flatMap(({ scores }) => scores)
  const vain = ({ name }: Task): number => efforts.filter(({ task, score, current }) => task === name && score <= current).length
  const hard = drawn.filter(isHard).toSorted((a, b) => vain(a) - vain(b))
  const fewest = Math.min(...hard.map(vain))
  return {
    // Those on which the fewest edits of this tree were tried in vain.
    hard: hard.filter((task) => vain(task) === fewest),
    unseen: drawn.filter((task) => !isHard(task) && !recent.has(task.name)),
    others: [...hard.filter((task) => vain(task) > fewest), ...drawn.filter((task) => !isHard(task) && recent.has(task.name))],
  }
}

const lot = (seed: string, { name }: Task): string => hash('sha256', `${seed}\n${name}`)

function likenessOf(tasks: readonly Task[]): (one: Task, other: Task) => number {
  const words = new Map(tasks.map((task) => [task, wordsIn(task.prompt.slice(0, PROMPT_CHARACTERS_COMPARED))]))
  return (one, other) => similarity(words.get(one) ?? new Set(), words.get(other) ?? new Set())
}

/** The first of those for which the number is smallest. */
function least<T>(list: readonly T[], number: (one: T) => number): T | null {
  const [best] = list.map((one) => ({ one, size: number(one) })).toSorted((a, b) => a.size - b.size)
  return best?.one ?? null
}
