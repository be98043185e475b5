/** How a scenario is, in one word and, where something is to be done, a line. */
import type { ScenarioRow, StatusReport } from '@svc-ai/client'
import type { StepTone } from '../../../../src/presentation/index.ts'
import { loadFailure, statusFor, trainingFailures } from '../../data/status.ts'

interface ScenarioState {
  readonly tone: StepTone
  readonly word: string
  readonly line: string | null
}

export function stateOf({ scenario, loaded }: ScenarioRow, status: StatusReport | null): ScenarioState {
  const own = statusFor(status, scenario)
  const trouble = loadFailure(status, scenario) ?? trainingFailures(status, scenario)[0] ?? own?.error ?? null
  if (trouble !== null) return { tone: 'bad', word: 'error', line: trouble }
  if (!loaded) return { tone: 'plain', word: 'asleep', line: null }
  if (own === undefined) return { tone: 'plain', word: 'loaded', line: null }
  const { automatic_steps_stopped: stopped, pending_instructions: pending } = own.processor ?? {}
  if (own.batch_ready === true) return { tone: 'good', word: 'training', line: null }
  if (typeof stopped === 'string') return { tone: 'warn', word: 'budget used up', line: stopped }
  if (typeof pending === 'number' && pending > 0) return { tone: 'warn', word: 'instructions wait', line: null }
  return pending === undefined ? { tone: 'plain', word: 'recording', line: null } : { tone: 'plain', word: 'waiting', line: null }
}
