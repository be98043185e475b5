/** Shipped entries for Claude Code: the command that asks for a change, and the notice of a newer release. */
import type { Adapter } from '../../../src/contract/index.ts'
import { requestsCommand } from '../../../src/harness/index.ts'

/** Silent without a newer release, and in sessions without the wrapper. */
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
