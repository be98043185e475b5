/** What the service ships for a person's session in DeepSeek Harness: a command by which a wish about the harness is filed. */
import type { Entry } from '../../../src/contract/index.ts'

const TEXT = `---
name: svc
description: Ask for a change of this agent's own rules, commands or skills.
---

The person wants something about this agent itself changed. What they want stands after the command's name.

1. Look at the variable \`SVC_WRAPPER\`. If it is empty, say that changes cannot be asked for here, and do nothing else.
2. If it is unclear what they want, ask once. Do not try to make the change yourself.
3. Run \`"$SVC_WRAPPER" harness "<request>" --wait\`, with what they want as one quoted word, in their own words. This may take up to half an hour.
4. Tell them what it printed: whether the change was made, refused or is held for review, and the command it names as the next step. Do not run that command unless they ask for it.
`

export const requests: readonly Entry[] = [{ id: 'svc-requests', name: 'agent_command', config: { name: 'svc', text: TEXT } }]
