/** The command that asks for a change of the harness, for agents whose commands are prompts. */
import type { Entry } from '../../contract/index.ts'

export interface Asking {
  /** A sentence that says where the person's words are. */
  readonly words: string
  /** How this agent must run a command that takes half an hour or needs the network. */
  readonly how?: string
}

/** The model quotes the person's words for the shell: they must reach the wrapper as one argument. */
export function requestsCommand(adapter: string, { words, how }: Asking): Entry {
  const text = `---
name: svc
description: Ask for a change of this harness (its rules, skills, commands or settings). Use it only when the person calls it.
---

The person asks for a change of this harness. ${words}

1. Run \`printenv SVC_WRAPPER\`. If it prints nothing, do nothing else: say that this session was not started by the wrapper, so there is nobody to ask, and that \`svc-${adapter}\` starts one that is.
2. If the request is empty, ask the person what should change, and wait for their answer.
3. Run this one command${how === undefined ? '' : ` ${how}`}, with their words in place of \`<request>\` and a backslash before every \`"\`, \`\\\`, \`$\` and backquote in them:

       "$SVC_WRAPPER" harness "<request>" --wait

   It may take half an hour. Wait until it ends, and read what it printed.
4. Tell the person the result, and the next command it named. Change no file of this harness yourself.
`
  return { id: 'svc-requests', name: 'agent_command', config: { name: 'svc', text } }
}
