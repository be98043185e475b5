/** A scenario's own model settings. Missing fields fall back to the deployment's. The key is stored and used, never shown. */
import type { JsonObject, ModelAddress, ModelSettings, ModelView } from '../contract/index.ts'
import { modelSettingsSchema } from '../contract/wire/index.ts'
import { checkShape } from '../records/index.ts'

export function parseModelSettings(value: JsonObject): ModelSettings {
  return checkShape(modelSettingsSchema, value, 'model')
}

/** The address of a scenario's calls. A key belongs to its url: the deployment's key is never sent to another url. */
export function modelAddress(own: ModelSettings | null, deployment: ModelAddress): ModelAddress {
  if (own === null) return deployment
  const isElsewhere = own.url !== undefined && own.url !== deployment.url
  return {
    url: own.url ?? deployment.url,
    model: own.model ?? deployment.model,
    api: own.api ?? deployment.api,
    apiKey: own.api_key ?? (isElsewhere ? null : deployment.apiKey),
  }
}

export function modelView(address: ModelAddress): ModelView {
  return { url: address.url, model: address.model, api: address.api, has_api_key: address.apiKey !== null }
}
