/** A line of the log for each step that has settled. */
import type { Commit } from '../contract/index.ts'
import type { Log } from '../http/index.ts'
import { errorIn } from '../training/index.ts'

export function logStep(log: Log, scenario: string, commit: Commit): void {
  const { step, component, outcome } = commit
  const error = errorIn(commit)
  const named = component === undefined ? {} : { component }
  log.write(error === null ? 'info' : 'warn', 'step', { scenario, ...named, step, result: outcome, ...(error !== null && { error }) })
}
