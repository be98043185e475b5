/** What the service ships for a person's session in opencode: the command by which they ask for a change of the harness. */
import type { Entry } from '../../../src/contract/index.ts'

const TEXT = `---
description: Ask for a change of this harness
---

The person asks for a change of this harness (its rules, skills, commands, plugins or settings), in these words:

$ARGUMENTS

1. Run \`printenv SVC_WRAPPER\`. If it prints nothing, do nothing else: say that this session was not started by the wrapper, so there is nobody to ask, and that \`svc-opencode\` starts one that is.
2. If the request is empty, ask the person what should change, and wait for their answer.
3. Run this one command, with their words in place of \`<request>\` and a backslash before every \`"\`, \`\\\`, \`$\` and backquote in them, and give it 1800000 milliseconds:

       "$SVC_WRAPPER" harness "<request>" --wait

4. Tell the person the result it printed, and the next command it named. Change no file of this harness yourself.
`

export const requests: readonly Entry[] = [{ id: 'svc-requests', name: 'agent_command', config: { name: 'svc', text: TEXT } }]
