/** What the service ships for a person's session in Claude Code: the command by which they ask for a change, and the word of a newer release. */
import type { Adapter } from '../../../src/contract/index.ts'
import { requestsCommand } from '../../../src/harness/index.ts'

/** Silent unless a newer release is served, and in a session that the wrapper did not start. */
const NOTICE = '[ -z "$SVC_WRAPPER" ] || "$SVC_WRAPPER" notice --hook claude'

export const shipped: Required<Adapter>['shipped'] = {
  version_check: [
    {
      id: 'svc-version-check',
      name: 'config',
      config: { data: { hooks: { SessionStart: [{ matcher: 'startup|resume', hooks: [{ type: 'command', command: NOTICE }] }] } } },
    },
  ],
  requests: [requestsCommand('claude', { words: 'Their request:\n\n$ARGUMENTS', how: 'in the background' })],
}
