/** Wire shapes of scenarios: creating, changing and listing them. */
import { z } from 'zod'
import { FORMATS } from '../names.ts'
import { contentId, jsonObject, modelApi, notBlank, releaseId, requestType, scenario, text, trainingMode, type WireType } from './fields.ts'
import { evolutionChangesSchema, ownEvolutionSchema } from './own-evolution.ts'

// ── requests ─────────────────────────────────────────────────────────────────────────────────

// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const CONTROL = /[\u0000-\u001f\u007f]/
/** The same rule as the pattern of a JSON schema: a visible character, and no control character before or after it. */
const PRINTED = String.raw`^[^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f][^\x00-\x1f\x7f]*$`
const KEY = /^[\x21-\x7e]+$/
const URL_RULE = 'must be an http or https address without credentials, query, fragment or a trailing /v1'
const PRINTED_RULE = 'must be a non-blank string without control characters'
const FORMATS_RULE = `must be a list of ${FORMATS.join(', ')}`
const UPSTREAMS_RULE = 'must be a list of names under inference.upstreams'
const printed = z
  .string({ error: PRINTED_RULE })
  .refine((value) => value.trim() !== '' && !CONTROL.test(value), { error: PRINTED_RULE })
  .meta({ pattern: PRINTED })

export const modelSettingsSchema = z.strictObject(
  {
    url: z.exactOptional(
      printed.refine(isBaseUrl, { error: URL_RULE }).meta({ format: 'uri', description: `The base address; ${URL_RULE}.` }),
    ),
    model: z.exactOptional(printed),
    api: z.exactOptional(modelApi),
    api_key: z.exactOptional(printed.regex(KEY, { error: 'must be printable ASCII without blanks' }).meta({ pattern: KEY.source })),
    upstreams: z.exactOptional(
      z
        .array(printed, { error: UPSTREAMS_RULE })
        .min(1, { error: UPSTREAMS_RULE })
        .meta({ description: 'Which of the configured upstreams answer, by name. Unset: all of them.' }),
    ),
    formats: z.exactOptional(
      z
        .array(z.enum(FORMATS, { error: FORMATS_RULE }), { error: FORMATS_RULE })
        .min(1, { error: FORMATS_RULE })
        .meta({ description: 'What the address under `url` speaks, the best first. Unset: every call goes as it came.' }),
    ),
  },
  {
    error: (issue) =>
      strict(issue.code, 'takes url, model, api, api_key, upstreams and formats alone', 'must be an object of model settings'),
  },
)
export type ModelSettings = WireType<typeof modelSettingsSchema>

function isBaseUrl(value: string): boolean {
  if (!URL.canParse(value)) return false
  const url = new URL(value)
  const isPlain = url.username === '' && url.password === '' && url.search === '' && url.hash === '' && !/[?#]/.test(value)
  return (url.protocol === 'http:' || url.protocol === 'https:') && isPlain && !/\/v1\/*$/.test(url.pathname)
}

const strict = (code: string, extra: string, other: string): string => (code === 'unrecognized_keys' ? extra : other)

/** Model settings are checked apart, and not at all when the scenario exists. */
export const createScenarioFields = z.strictObject(
  {
    name: notBlank('must be the name of the scenario'),
    release_id: z.exactOptional(notBlank('must be a release id; leave it out for the seed')),
    recipe: z.exactOptional(notBlank('must be the name of a configured recipe; leave it out for the default one')),
    model: z.exactOptional(jsonObject),
  },
  { error: (issue) => strict(issue.code, 'takes name, release_id, recipe and model alone', 'must be an object') },
)
export const createScenarioBodySchema = createScenarioFields.extend({ model: z.exactOptional(modelSettingsSchema) })

export const updateScenarioFields = z.strictObject(
  {
    training_mode: z.exactOptional(trainingMode),
    model: z.exactOptional(
      z.union([jsonObject, z.null()], { error: 'must be an object of model settings, or null for the deployment defaults' }),
    ),
    evolution: z
      .exactOptional(evolutionChangesSchema.nullable())
      .describe('Budgets and rollout, over the configuration; null takes all of it back, and null as a value that one.'),
  },
  { error: (issue) => strict(issue.code, 'takes training_mode, model and evolution alone', 'must be an object') },
)
export const updateScenarioBodySchema = updateScenarioFields.extend({ model: z.exactOptional(modelSettingsSchema.nullable()) })

// ── answers ──────────────────────────────────────────────────────────────────────────────────

export const modelViewSchema = z.object({
  url: text,
  model: text.nullable(),
  api: modelApi,
  has_api_key: z.boolean().describe('The key itself is never shown.'),
  upstreams: z.exactOptional(z.array(text)).describe('The upstreams that answer, where several are configured.'),
  formats: z.exactOptional(z.array(z.enum(FORMATS))).describe('What the upstream speaks, where calls are translated for it.'),
})
export type ModelView = WireType<typeof modelViewSchema>

const adapter = z.exactOptional(text).describe('The agent whose harness it serves.')
export const scenarioRowSchema = z.object({
  scenario,
  loaded: z.boolean().describe('Whether it is in memory; some fields are known only then.'),
  recipe: text.nullable(),
  release_id: z.exactOptional(releaseId),
  content_id: z.exactOptional(contentId),
  training_mode: z.exactOptional(trainingMode),
  model: z.exactOptional(modelViewSchema),
  adapter,
  evolution: z
    .exactOptional(ownEvolutionSchema)
    .describe('On a scenario in memory that trains: what was set for it, over the configuration.'),
  has_tasks: z.exactOptional(z.boolean()).describe('On a scenario in memory whose recipe reads a folder of tasks.'),
})
export type ScenarioRow = WireType<typeof scenarioRowSchema>
export const scenarioListSchema = z.object({ scenarios: z.array(scenarioRowSchema).describe('Sorted by name.') })
export type ScenarioList = WireType<typeof scenarioListSchema>
export const createdScenarioSchema = z.object({ scenario, release_id: releaseId, content_id: contentId, model: modelViewSchema, adapter })
export type CreatedScenario = WireType<typeof createdScenarioSchema>
export const updatedScenarioSchema = z.object({
  scenario,
  training_mode: trainingMode,
  model: z.exactOptional(modelViewSchema),
  evolution: z.exactOptional(ownEvolutionSchema),
})
export type UpdatedScenario = WireType<typeof updatedScenarioSchema>
export const scenarioContractSchema = z.object({
  scenario,
  processor: text.nullable(),
  required_request_types: z.array(requestType),
  training_mode: trainingMode,
  status: jsonObject,
})
export type ScenarioContract = WireType<typeof scenarioContractSchema>
export const archivedScenarioSchema = z.object({ scenario, archived: z.array(text).describe('Where its records and its ref are now.') })
export type ArchivedScenario = WireType<typeof archivedScenarioSchema>
