/** What the service ships for a person's session in Claude Code: the command by which they ask for a change, and the word of a newer release. */
import type { Entry } from '../../../src/contract/index.ts'

const TEXT = `---
description: Ask for a change of this harness
---

The person asks for a change of this harness (its rules, skills, commands, extensions or settings), in these words:

$ARGUMENTS

1. Run \`printenv SVC_WRAPPER\`. If it prints nothing, do nothing else: say that this session was not started by the wrapper, so there is nobody to ask, and that \`svc-claude\` starts one that is.
2. If the request is empty, ask the person what should change, and wait for their answer.
3. Run this one command in the background, with their words in place of \`<request>\` and a backslash before every \`"\`, \`\\\`, \`$\` and backquote in them:

       "$SVC_WRAPPER" harness "<request>" --wait

   It may take half an hour. Wait until it ends, and read what it printed.
4. Tell the person the result, and the next command it named. Change no file of this harness yourself.
`

/** Silent unless a newer release is served, and in a session that the wrapper did not start. */
const NOTICE = '[ -z "$SVC_WRAPPER" ] || "$SVC_WRAPPER" notice --hook claude'

export const requests: readonly Entry[] = [{ id: 'svc-requests', name: 'agent_command', config: { name: 'svc', text: TEXT } }]

export const versionCheck: readonly Entry[] = [
  {
    id: 'svc-version-check',
    name: 'config',
    config: { data: { hooks: { SessionStart: [{ matcher: 'startup|resume', hooks: [{ type: 'command', command: NOTICE }] }] } } },
  },
]
