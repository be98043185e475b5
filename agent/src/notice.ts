/** `notice`: for an agent's own start hook, word of a release that is newer than the installed one. It never gets in the agent's way. */
import { showHiddenLine } from '@svc-ai/client/hidden'
import { commandOf } from './places.ts'
import { serviceOf, type Install } from './service.ts'
import type { Terminal } from './terminal.ts'

const TIMEOUT_SECONDS = 5

/** Always 0: to a hook anything else would be a failure of the session. */
export async function notice(install: Install, args: readonly string[], terminal: Terminal): Promise<number> {
  if (args[0] !== '--hook' || args[1] !== 'claude') return 0
  const context = await newer(install).catch(() => null)
  if (context !== null) terminal.printJson({ hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: context } })
  return 0
}

/** Null when the installed release is the one that is served, or holds the same. */
async function newer(install: Install): Promise<string | null> {
  const { adapter, release_id, content_id } = install.record
  const rows = await (await serviceOf(install, TIMEOUT_SECONDS)).catalog()
  const head = rows.find(({ current }) => current)
  if (head === undefined || head.release_id === release_id || head.content_id === content_id) return null
  // A person chose the provisional release; there is nothing newer until it ends.
  if (rows.some((row) => row.provisional === true && row.release_id === release_id)) return null
  const command = commandOf(adapter)
  return `A newer release of this harness is served: ${showHiddenLine(head.release_id)} (installed: ${release_id}). Tell the person once that '${command} update' installs it, and do not run it unasked.`
}
