/** The line that installs the agent of a scenario on another machine, as the service writes it. */
import { usePolled } from '../../poll.ts'
import { Command } from '../../ui/command.tsx'

export function Install({ scenario }: { readonly scenario: string }) {
  const { value: line } = usePolled(`install ${scenario}`, (service) => service(scenario).text('/svc/harness/install/line'), null)
  if (line === null || line === '') return null
  return (
    <details>
      <summary>Install this agent on a machine</summary>
      <div class="stack tight">
        <Command line={line.trimEnd()} />
        <p class="muted small">The line carries the fingerprint of this service's key: nothing that another key signed is installed.</p>
      </div>
    </details>
  )
}
