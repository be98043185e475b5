/** How a scenario is, in one word and, where something is to be done, a line. */
import type { ScenarioRow, StatusReport } from '@svc-ai/client'

export interface ScenarioState {
  readonly tone: 'good' | 'warn' | 'bad' | 'plain'
  readonly word: string
  readonly line: string | null
}

export function stateOf({ scenario, loaded }: ScenarioRow, status: StatusReport | null): ScenarioState {
  const own = status !== null && Object.hasOwn(status.scenarios, scenario) ? status.scenarios[scenario] : undefined
  const trouble = troubleOf(scenario, status) ?? own?.error ?? null
  if (trouble !== null) return { tone: 'bad', word: 'error', line: trouble }
  if (!loaded) return { tone: 'plain', word: 'asleep', line: null }
  if (own === undefined) return { tone: 'plain', word: 'loaded', line: null }
  const { automatic_steps_stopped: stopped, pending_instructions: pending } = own.processor ?? {}
  if (own.batch_ready === true) return { tone: 'good', word: 'training', line: null }
  if (typeof stopped === 'string') return { tone: 'warn', word: 'budget used up', line: stopped }
  if (typeof pending === 'number' && pending > 0) return { tone: 'warn', word: 'instructions wait', line: null }
  return pending === undefined ? { tone: 'plain', word: 'recording', line: null } : { tone: 'plain', word: 'waiting', line: null }
}

/** What failed at its start, and what failed in its training since: lines that begin with its name, and its component's where it has several. */
function troubleOf(scenario: string, status: StatusReport | null): string | null {
  if (status === null) return null
  if (Object.hasOwn(status.preload_errors, scenario)) return status.preload_errors[scenario] ?? null
  const lines = status.error?.split('\n') ?? []
  const own = lines.find((line) => line.startsWith(`${scenario}: `) || line.startsWith(`${scenario}/`))
  return own?.slice(scenario.length + (own.startsWith(`${scenario}: `) ? 2 : 1)) ?? null
}
