/** Model settings that several adapters share. */
import { invalid, type Adapter, type ConfigPatch, type ModelAddress } from '../../contract/index.ts'

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
