/**
 * Chooses the tasks of a step's gate and what its proposer may see. A sample that holds the text of a held-out task is kept from the proposer, so
 * that no report can take a task out of play.
 */
import type { Sample, Task } from '../contract/index.ts'
import { weakOutcomes } from '../sessions/index.ts'
import { quotingIn } from './heldout/quoting.ts'
import { promote } from './tasks/promote.ts'
import type { StepRun } from './run.ts'

export interface TaskChoice {
  /** Of the roles gate, regression and health. */
  readonly gate: readonly Task[]
  /** What a proposer may play. */
  readonly train: readonly Task[]
  /** The samples a proposer may read. */
  readonly shown: readonly Sample[]
}

export function chooseTasks(run: StepRun): TaskChoice | { readonly skip: string } {
  const { samples, request } = run.order.batch
  const promoted = promoteFailures(run)
  const all = [...run.context.tasks, ...promoted]
  const quoting = quotingIn(samples, all)
  const shown = samples.filter((sample) => !quoting.has(sample))
  // Rows of earlier versions name tasks whose text was shown to a proposer.
  const exposed = run.state.exposed.filter((name) => all.some((task) => task.name === name))
  const isSeen = ({ name, role }: Task): boolean => role === 'gate' && exposed.includes(name)
  // A task that a proposer saw cannot show a gain, but it can show a loss: it still guards requests.
  const gate = all.filter((task) => isPlayedByGate(task) && (request !== null || !isSeen(task)))
  run.state = { ...run.state, exposed, promoted }
  run.metrics['evaluation_task_count'] = gate.length
  const notRun = all.filter((task) => isSeen(task) && !gate.includes(task)).length
  if (notRun > 0) run.metrics['not_run_tasks'] = notRun
  if (quoting.size > 0) run.metrics['withheld_samples'] = quoting.size
  const unscored = shown.filter(({ score }) => score === null)
  if (unscored.length > 0) run.metrics['seeming_failures'] = weakOutcomes(unscored).filter(({ seemsFailed }) => seemsFailed).length
  if (request === null && !gate.some(({ role }) => role === 'gate'))
    return { skip: 'proposers have seen every task of the gate; add tasks of role gate' }
  if (request === null && samples.length > 0 && shown.length === 0)
    return { skip: 'every sample holds the text of a held-out task, so none may be shown to a proposer' }
  return { gate, train: all.filter(({ role }) => role === 'train'), shown }
}

const isPlayedByGate = ({ role }: Task): boolean => role !== 'train' && role !== 'sealed'

/** Turns failing reports into tasks, but not those that hold the text of a held-out task. */
function promoteFailures(run: StepRun): readonly Task[] {
  const { settings, tasks } = run.context
  const { samples } = run.order.batch
  const before = run.state.promoted
  if (!settings.promote_failures) return before
  const limits = { tasksMax: settings.max_promoted_tasks - before.length, perClientMax: settings.max_promoted_per_client }
  const known = [...tasks, ...before]
  const quoting = quotingIn(samples, known)
  const free = samples.filter((sample) => !quoting.has(sample))
  const { tasks: made, screened, clients } = promote(free, known, limits, run.state.key, run.state.promoted_clients)
  run.state = { ...run.state, promoted_clients: clients }
  run.metrics['promoted_tasks'] = before.length + made.length
  if (screened > 0) run.metrics['screened_tasks'] = screened
  return [...before, ...made]
}
