/** What several adapters share: the settings of their model, and the command that asks for a change. */
import { invalid, type Adapter, type ConfigPatch, type Entry, type ModelAddress } from '../../contract/index.ts'

/** For an agent that needs a model name. */
export function modelName(agent: string, { model }: ModelAddress): string {
  if (model !== null) return model
  throw invalid('model_missing', `${agent} asks for a model by its name: set inference.upstream_model, or the scenario's model.model`)
}

/** Bindings of agents built on the pi-ai library, with its API names and base URLs. */
export function piAiBindings(bind: (api: string, baseUrl: string, model: ModelAddress) => readonly ConfigPatch[]): Adapter['bindings'] {
  return {
    openai: (model) => bind('openai-completions', `${model.url}/v1`, model),
    responses: (model) => bind('openai-responses', `${model.url}/v1`, model),
    anthropic: (model) => bind('anthropic-messages', model.url, model),
  }
}

/**
 * The command that asks for a change of the harness, for agents whose commands are prompts. `words` says where the person's words are, `how` the
 * way to run a command that takes half an hour or needs the network. The model quotes the words: they must reach the wrapper as one argument.
 */
export function requestsCommand(adapter: string, { words, how }: { readonly words: string; readonly how?: string }): Entry {
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
