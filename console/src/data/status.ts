/** What the status of the service says of one scenario. Its name may be that of a member that every object has. Pure. */
import type { StatusReport } from '@svc-ai/client'

export const statusFor = (status: StatusReport | null, scenario: string): StatusReport['scenarios'][string] | undefined =>
  status !== null && Object.hasOwn(status.scenarios, scenario) ? status.scenarios[scenario] : undefined

/** Why the scenario could not be loaded at the start of the service. */
export const loadFailure = (status: StatusReport | null, scenario: string): string | null =>
  status !== null && Object.hasOwn(status.preload_errors, scenario) ? (status.preload_errors[scenario] ?? null) : null

/** What failed in its training: lines that begin with its name, then the component where it has several. */
export const trainingFailures = (status: StatusReport | null, scenario: string): readonly string[] =>
  (status?.error?.split('\n') ?? [])
    .filter((line) => line.startsWith(`${scenario}: `) || line.startsWith(`${scenario}/`))
    .map((line) => line.slice(scenario.length).replace(/^: |^\//, ''))
