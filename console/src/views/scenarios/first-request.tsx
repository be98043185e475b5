/** The line that makes the first record of a scenario, and the scenario with it. */
import { useSession } from '../../session.ts'
import { Command } from '../../ui/command.tsx'
import { firstCommand } from '../../data/commands.ts'

export function FirstRequest({ scenario }: { readonly scenario: string }) {
  const { token } = useSession()
  return (
    <div class="stack tight">
      <p>The first request that names a scenario creates it:</p>
      <Command line={firstCommand(location.origin, scenario, token !== null)} />
    </div>
  )
}
