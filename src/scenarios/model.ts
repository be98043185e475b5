/** A scenario's own model settings. Missing fields fall back to the deployment's. The key is stored and used, never shown. */
import { z } from 'zod'
import type { JsonObject, ModelAddress } from '../contract/index.ts'
import { checkShape } from '../records/index.ts'

// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const CONTROL = /[\u0000-\u001f\u007f]/
/** The same rule as a JSON schema pattern. */
const PRINTED = String.raw`^[^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f][^\x00-\x1f\x7f]*$`
const KEY = /^[\x21-\x7e]+$/
const URL_RULE = 'must be an http or https address without credentials, query, fragment or a trailing /v1'
const text = z
  .string({ error: 'must be a non-blank string without control characters' })
  .refine((value) => value.trim() !== '' && !CONTROL.test(value), { error: 'must be a non-blank string without control characters' })
  .meta({ pattern: PRINTED })

export const modelSettings = z.strictObject(
  {
    url: text
      .refine(isBaseUrl, { error: URL_RULE })
      .meta({ format: 'uri', description: `The base address; ${URL_RULE}.` })
      .optional(),
    model: text.optional(),
    api: z.enum(['openai', 'responses', 'anthropic'], { error: "must be 'openai', 'responses' or 'anthropic'" }).optional(),
    api_key: text.regex(KEY, { error: 'must be printable ASCII without blanks' }).meta({ pattern: KEY.source }).optional(),
  },
  {
    error: (issue) =>
      issue.code === 'unrecognized_keys' ? 'takes url, model, api and api_key alone' : 'must be an object of model settings',
  },
)
export type ModelSettings = z.infer<typeof modelSettings>

export function parseModelSettings(value: JsonObject): ModelSettings {
  return checkShape(modelSettings, value, 'model')
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

export function modelView(address: ModelAddress): JsonObject {
  return { url: address.url, model: address.model, api: address.api, has_api_key: address.apiKey !== null }
}

function isBaseUrl(value: string): boolean {
  if (!URL.canParse(value)) return false
  const url = new URL(value)
  const isPlain = url.username === '' && url.password === '' && url.search === '' && url.hash === '' && !/[?#]/.test(value)
  return (url.protocol === 'http:' || url.protocol === 'https:') && isPlain && !/\/v1\/*$/.test(url.pathname)
}
