/** What the service ships for a person's session in Codex: the command by which they ask for a change of the harness. */
import type { Entry } from '../../../src/contract/index.ts'

const TEXT = `---
name: svc
description: Ask for a change of this harness (its rules, skills, commands or settings). Use it only when the person calls $svc.
---

The person asks for a change of this harness. Their request is what they wrote together with \`$svc\`.

1. Run \`printenv SVC_WRAPPER\`. If it prints nothing, do nothing else: say that this session was not started by the wrapper, so there is nobody to ask, and that \`svc-codex\` starts one that is.
2. If the request is empty, ask the person what should change, and wait for their answer.
3. Run this one command outside the sandbox, since it needs the network, with their words in place of \`<request>\` and a backslash before every \`"\`, \`\\\`, \`$\` and backquote in them:

       "$SVC_WRAPPER" harness "<request>" --wait

   It may take half an hour. Wait until it ends.
4. Tell the person the result it printed, and the next command it named. Change no file of this harness yourself.
`

export const requests: readonly Entry[] = [{ id: 'svc-requests', name: 'agent_command', config: { name: 'svc', text: TEXT } }]
