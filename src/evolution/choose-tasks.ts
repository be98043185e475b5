/** What this step is measured by, and what its proposer may see: a task whose text reached a batch is held out no longer. */
import type { Sample, Task } from '../contract/index.ts'
import { exposedBy, promote } from './tasks/index.ts'
import type { Run } from './run.ts'

export interface Choice {
  /** Of the roles gate, regression and health. */
  readonly gate: readonly Task[]
  /** What a proposer may play. */
  readonly train: readonly Task[]
  /** The samples a proposer may read. */
  readonly shown: readonly Sample[]
}

export function chooseTasks(run: Run): Choice | { readonly skip: string } {
  const { order, workshop } = run
  const { samples, request } = order.batch
  const { shown, promoted } = promoteFailures(run)
  const all = [...workshop.tasks, ...promoted]
  const exposed = new Set([...run.state.exposed, ...exposedBy(shown, all)])
  const isHeldOut = ({ name, role }: Task): boolean => role === 'gate' && !exposed.has(name)
  const gate = all.filter((task) => isHeldOut(task) || task.role === 'regression' || task.role === 'health')
  const train = all.filter((task) => task.role === 'train' || (task.role === 'gate' && exposed.has(task.name)))
  run.state = { ...run.state, exposed: [...exposed].filter((name) => all.some((task) => task.name === name)), promoted }
  run.metrics['evaluation_task_count'] = gate.length
  const notRun = train.filter(({ role }) => role === 'gate').length
  if (notRun > 0) run.metrics['not_run_tasks'] = notRun
  if (request === null && !gate.some(isHeldOut)) return { skip: 'no task is left that no proposer has seen; add tasks of role gate' }
  if (request === null && samples.length > 0 && shown.length === 0)
    return { skip: 'what failed was kept as tasks of the gate, and nothing is left to learn from' }
  return { gate, train, shown }
}

/** Failing reports become tasks; those that join the gate are kept from the proposer. */
function promoteFailures(run: Run): { readonly shown: readonly Sample[]; readonly promoted: readonly Task[] } {
  const { settings, tasks } = run.workshop
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
