/** Whether a candidate that is not decided yet looks better after one round of the gate. This is no proof. Pure. */
import type { Pair, Task } from '../contract/index.ts'
import { clamp } from '../kit/index.ts'

/** As many families as the first round of a gate plays at most. */
const ROUND_FAMILIES_MAX = 64

/**
 * The mean difference over the gate's families, or null: before every family was compared once, where the mean is not above 0, where a health
 * task failed, and where a protected family is worse. Protected tasks that were not played say nothing. `tasks` say which family each belongs
 * to: a pair that an earlier step played may name another one.
 */
export function gainAfterRound(pairs: readonly Pair[], tasks: readonly Task[]): number | null {
  const families = new Map(tasks.map((task) => [task.name, familyOf(task)]))
  if (pairs.some(({ task, candidate }) => task.role === 'health' && (candidate ?? 0) < 1)) return null
  if (meansOf(pairs, 'regression', families).some((mean) => mean < 0)) return null
  const wanted = new Set(tasks.filter(({ role }) => role === 'gate').map(familyOf)).size
  const means = meansOf(pairs, 'gate', families)
  if (means.length === 0 || means.length < Math.min(ROUND_FAMILIES_MAX, wanted)) return null
  const gain = means.reduce((sum, mean) => sum + mean, 0) / means.length
  return gain > 0 ? gain : null
}

/** Without a family, a task is one of its own. */
const familyOf = ({ family, name }: Task): string => JSON.stringify([family === undefined ? 'task' : 'family', family ?? name])

/** The mean difference of each family of that role. A candidate without a score has 0; a pair without the served side's shows nothing. */
function meansOf(pairs: readonly Pair[], role: Task['role'], families: ReadonlyMap<string, string>): readonly number[] {
  const grouped = Map.groupBy(
    pairs.filter(({ task, current }) => task.role === role && current !== null),
    ({ task }) => families.get(task.name) ?? familyOf(task),
  )
  return [...grouped.values()].map(
    (alike) => alike.reduce((sum, { candidate, current }) => sum + scoreOf(candidate) - scoreOf(current), 0) / alike.length,
  )
}

const scoreOf = (score: number | null): number => clamp(score ?? 0, 0, 1)
