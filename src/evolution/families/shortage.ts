/** Whether the tasks of a gate are enough to tell a gain from luck. */
import type { Selection, Task } from '../../contract/index.ts'
import { futileReason } from '../evaluate.ts'
import { joined } from './join.ts'
import { NO_MOVES } from './moves.ts'

/** The tasks are enough for this many decisions, and then too few. */
export interface TaskShortage {
  readonly decisions: number
  /** With how many are missing. */
  readonly reason: string
}

/** Null where they are enough for all of so many decisions on traffic. */
export function shortageOf(selection: Selection, all: readonly Task[], decisions: number, alike = 1): TaskShortage | null {
  const tasks = judged(all, alike)
  for (let decided = 0; decided < decisions; decided += 1) {
    const history = { decided, selected: 0 }
    const reason = futileReason(selection, { kind: 'traffic', tasks, repeats: 1, seed: '', history, pairs: [], episodesLeft: null })
    if (reason !== null) return { decisions: decided, reason }
  }
  return null
}

/** As the first decision on traffic sees them. */
export function judged(tasks: readonly Task[], alike: number): readonly Task[] {
  const played = tasks.filter(({ role }) => role === 'gate' || role === 'regression')
  return alike > 1 ? played : joined(played, NO_MOVES)
}
