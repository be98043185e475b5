/** A scenario's own model settings. Missing fields fall back to the deployment's. The key is stored and used, never shown. */
import { invalid, type JsonObject, type ModelAddress, type ModelSettings, type ModelView } from '../contract/index.ts'
import { modelSettingsSchema } from '../contract/wire/index.ts'
import type { InsideAddresses } from '../kit/index.ts'
import { checkShape } from '../records/index.ts'

export function parseModelSettings(value: JsonObject): ModelSettings {
  return checkShape(modelSettingsSchema, value, 'model')
}

interface Deployment {
  readonly model: ModelAddress
  readonly inside: InsideAddresses
}

/** What a scenario asks for must be there, and a key must have one address that it belongs to. */
export function checkModelSettings(own: ModelSettings, { model: { url, upstreams }, inside }: Deployment): ModelSettings {
  if (own.url !== undefined && own.url !== url && inside.refusesHost(own.url))
    throw invalid(
      'inside_address',
      'model.url: is an address inside this network; list its host in inference.allow_inside, or give another',
    )
  if (own.upstreams !== undefined && own.url !== undefined)
    throw invalid('upstream_unclear', 'model.upstreams: stands beside model.url; give one of them')
  const unknown = own.upstreams?.find((name) => upstreams?.includes(name) !== true)
  if (unknown !== undefined)
    throw invalid('unknown_upstream', `model.upstreams: names one that is not configured; ${knownWords(upstreams)}`)
  if (own.api_key !== undefined && own.url === undefined && upstreams !== undefined)
    throw invalid('upstream_unclear', 'model.api_key: belongs to one address, and several upstreams are configured; give model.url with it')
  if (own.formats !== undefined && own.url === undefined)
    throw invalid('upstream_unclear', 'model.formats: says what an address speaks; give model.url with it')
  return own
}

const knownWords = (upstreams: readonly string[] | undefined): string =>
  upstreams === undefined ? 'the deployment has only one upstream, leave model.upstreams out' : `there are ${upstreams.join(', ')}`

/**
 * The address of a scenario's calls. A key belongs to its url: the deployment's key is never sent to another url. Of several upstreams each
 * has its own key, TLS settings and breaker, which go together: a scenario uses them by the upstream's name, not by its url.
 */
export function modelAddress(own: ModelSettings | null, deployment: ModelAddress): ModelAddress {
  if (own === null) return deployment
  const isElsewhere = own.url !== undefined && (own.url !== deployment.url || deployment.upstreams !== undefined)
  return {
    url: own.url ?? deployment.url,
    model: own.model ?? deployment.model,
    api: own.api ?? deployment.api,
    apiKey: own.api_key ?? (isElsewhere ? null : deployment.apiKey),
    ...formatsOf(own, deployment),
    ...(own.url === undefined && deployment.upstreams !== undefined && { upstreams: own.upstreams ?? deployment.upstreams }),
  }
}

function formatsOf(own: ModelSettings, deployment: ModelAddress): Pick<ModelAddress, 'formats'> {
  const { formats } = own.url === undefined ? deployment : own
  return formats === undefined ? {} : { formats }
}

export function modelView(address: ModelAddress): ModelView {
  const { url, model, api, apiKey, upstreams, formats } = address
  return {
    url,
    model,
    api,
    has_api_key: apiKey !== null,
    ...(upstreams !== undefined && { upstreams }),
    ...(formats !== undefined && { formats }),
  }
}
