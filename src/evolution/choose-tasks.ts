/** Chooses the tasks of a step's gate and what its proposer may see. A task whose text reached a batch is no longer held out. */
import type { Sample, Task } from '../contract/index.ts'
import { exposedBy } from './tasks/exposed.ts'
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
  const { order, context } = run
  const { samples, request } = order.batch
  const { shown, promoted } = promoteFailures(run)
  const all = [...context.tasks, ...promoted]
  const exposed = new Set([...run.state.exposed, ...exposedBy(shown, all)])
  const isHeldOut = ({ name, role }: Task): boolean => role === 'gate' && !exposed.has(name)
  const gate = all.filter((task) => isHeldOut(task) || task.role === 'regression' || task.role === 'health')
  const train = all.filter((task) => task.role === 'train' || (task.role === 'gate' && exposed.has(task.name)))
  run.state = { ...run.state, exposed: [...exposed].filter((name) => all.some((task) => task.name === name)), promoted }
  run.metrics['evaluation_task_count'] = gate.length
  const notRun = train.filter(({ role }) => role === 'gate').length
  if (notRun > 0) run.metrics['not_run_tasks'] = notRun
  if (request === null && !gate.some(isHeldOut)) return { skip: 'proposers have seen every task of the gate; add tasks of role gate' }
  if (request === null && samples.length > 0 && shown.length === 0)
    return { skip: 'all failing samples became held-out tasks of the gate; none is left to learn from' }
  return { gate, train, shown }
}

/** Turns failing reports into tasks; samples behind tasks of the gate are hidden from the proposer. */
function promoteFailures(run: StepRun): { readonly shown: readonly Sample[]; readonly promoted: readonly Task[] } {
  const { settings, tasks } = run.context
  const { samples } = run.order.batch
  const before = run.state.promoted
  if (!settings.promote_failures) return { shown: samples, promoted: before }
  const limits = { tasksMax: settings.max_promoted_tasks - before.length, perClientMax: settings.max_promoted_per_client }
  const {
    tasks: made,
    held,
    screened,
    clients,
  } = promote(samples, [...tasks, ...before], limits, run.state.key, run.state.promoted_clients)
  run.state = { ...run.state, promoted_clients: clients }
  run.metrics['promoted_tasks'] = before.length + made.length
  if (screened > 0) run.metrics['screened_tasks'] = screened
  return { shown: samples.filter((sample) => !held.includes(sample)), promoted: [...before, ...made] }
}
