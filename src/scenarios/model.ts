/** A scenario's own model settings: what is left out falls back to the deployment's; the key is kept, used, and never shown. */
import { readFile, rename, rm } from 'node:fs/promises'
import { hash } from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import { unavailable, type JsonObject, type ModelAddress } from '../contract/index.ts'
import { writeAtomicFile } from '../kit/index.ts'
import { checkShape } from '../records/index.ts'

// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const CONTROL = /[\u0000-\u001f\u007f]/
const URL_RULE = 'must be an http or https address without credentials, query, fragment or a trailing /v1'
const text = z
  .string({ error: 'must be a non-blank string without control characters' })
  .refine((value) => value.trim() !== '' && !CONTROL.test(value), { error: 'must be a non-blank string without control characters' })

const settings = z.strictObject(
  {
    url: text.refine(isBaseUrl, { error: URL_RULE }).optional(),
    model: text.optional(),
    api: z.enum(['openai', 'responses', 'anthropic'], { error: "must be 'openai', 'responses' or 'anthropic'" }).optional(),
    api_key: text.optional(),
  },
  {
    error: (issue) =>
      issue.code === 'unrecognized_keys' ? 'takes url, model, api and api_key alone' : 'must be an object of model settings',
  },
)
export type ModelSettings = z.infer<typeof settings>

export function parseModelSettings(value: JsonObject): ModelSettings {
  return checkShape(settings, value, 'model')
}

/** The address a scenario's calls go to. A key belongs to its url: another url is never sent the deployment's key. */
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

const kept = z.object({ created_at: z.number(), settings })

/** The settings of all scenarios, one file each, readable by the owner alone. */
export class ModelFiles {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  /** A file left by an archived scenario of the same name is of another creation, and is not read. */
  async read(scenario: string, createdAt: number): Promise<ModelSettings | null> {
    const file = await this.#readFile(scenario)
    if (file === null) return null
    const parsed = kept.safeParse(JSON.parse(file))
    return parsed.success && parsed.data.created_at === createdAt ? parsed.data.settings : null
  }

  async write(scenario: string, createdAt: number, own: ModelSettings | null): Promise<void> {
    const path = this.#pathOf(scenario)
    const file = `${JSON.stringify({ created_at: createdAt, settings: own })}\n`
    await (own === null ? rm(path, { force: true }) : writeAtomicFile(path, file, 0o600)).catch((cause: unknown) => {
      throw unavailable(
        'settings_failed',
        'the model settings cannot be kept; check the disk of the records, then send the request again',
        {
          cause,
        },
      )
    })
  }

  /** Follows its scenario into the archive, beside its records. */
  async archive(scenario: string, beside: string): Promise<void> {
    await rename(this.#pathOf(scenario), join(this.#directory, `${beside}.model.json`)).catch(() => undefined)
  }

  /** Settings that are there and cannot be read are not the same as none: the scenario's calls would go elsewhere. */
  async #readFile(scenario: string): Promise<string | null> {
    try {
      return await readFile(this.#pathOf(scenario), 'utf8')
    } catch (cause) {
      if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return null
      throw unavailable('settings_failed', 'the model settings of this scenario cannot be read; check the disk of the records', { cause })
    }
  }

  #pathOf(scenario: string): string {
    return join(this.#directory, 'models', `${hash('sha256', scenario)}.json`)
  }
}
