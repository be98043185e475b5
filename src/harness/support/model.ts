/** How a model is named to an agent, as far as agents agree on it. */
import { invalid, type Adapter, type ConfigPatch, type ModelAddress } from '../../contract/index.ts'

/** For an agent that asks for no model without a name. */
export function modelName(agent: string, { model }: ModelAddress): string {
  if (model !== null) return model
  throw invalid('model_missing', `${agent} asks for a model by its name: set inference.upstream_model, or the scenario's model.model`)
}

/** For the agents that ask through the library pi-ai: all three APIs, each with the library's name for it and the address it expects there. */
export function piAiBindings(bind: (api: string, baseUrl: string, model: ModelAddress) => readonly ConfigPatch[]): Adapter['bindings'] {
  return {
    openai: (model) => bind('openai-completions', `${model.url}/v1`, model),
    responses: (model) => bind('openai-responses', `${model.url}/v1`, model),
    anthropic: (model) => bind('anthropic-messages', model.url, model),
  }
}
