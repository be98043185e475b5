/** The tasks of a scenario as people read them: what each is, whether it is used, and what may be decided. */
import { counted } from './numbers.ts'

export { TASK_ROLES } from '../contract/task-words.ts'

/** What the presentation needs of a task, by shape: the wire's and the client's fit it. */
interface TaskRow {
  readonly name: string
  readonly role: string | null
  readonly status: 'proposed' | 'accepted' | 'dropped' | null
  readonly check: { readonly passed: boolean; readonly problems: readonly string[] } | null
  readonly problem: string | null
}

type TaskStatusName = NonNullable<TaskRow['status']> | 'by hand' | 'broken'

const TONES: Readonly<Record<TaskStatusName, 'good' | 'warn' | 'plain' | 'bad'>> = {
  proposed: 'warn',
  accepted: 'good',
  dropped: 'plain',
  'by hand': 'good',
  broken: 'bad',
}

export function taskView({ role, status, check, problem }: TaskRow) {
  const word: TaskStatusName = problem !== null ? 'broken' : (status ?? 'by hand')
  return {
    status: { word, tone: TONES[word] },
    role: role ?? '',
    /** What the check found; of a task that cannot be read, why. */
    check: problem ?? (check === null ? 'not checked' : check.passed ? 'holds' : check.problems.join('; ')),
    isBad: problem !== null || check?.passed === false,
    /** A task that a person wrote is always used. */
    mayAccept: status !== null && status !== 'accepted',
    mayDrop: status !== null && status !== 'dropped',
    mayChangeRole: problem === null,
  }
}

/** "12 tasks: 8 used, 3 proposed, 1 dropped" */
export function tasksSummary(tasks: readonly TaskRow[]): string {
  const count = (word: TaskStatusName): number => tasks.filter((task) => taskView(task).status.word === word).length
  const parts = [
    `${count('accepted') + count('by hand')} used`,
    ...(['proposed', 'dropped', 'broken'] as const).flatMap((word) => (count(word) === 0 ? [] : [`${count(word)} ${word}`])),
  ]
  return `${counted(tasks.length, 'task')}: ${parts.join(', ')}`
}
