/** Wire shapes of the service itself: refusals, health, status. */
import { z } from 'zod'
import { count, jsonObject, jsonValue, releaseId, scenario, seconds, step, text, trainingMode, type WireType } from './fields.ts'

const errorType = text.describe('Follows the status, such as invalid_request_error with 400.')
const message = text.describe('Names the field, the rule and the cure; for people.')

export const errorSchema = z
  .object({ error: z.object({ message, type: errorType, code: text.describe('A stable word for programs.') }) })
  .describe("A refusal, on every route but those of the messages format and of Gemini's.")
export const messagesErrorSchema = z
  .object({ type: z.literal('error'), error: z.object({ type: errorType, message }) })
  .describe('A refusal on the routes of the messages format; the shape has no room for a code.')

export const geminiErrorSchema = z
  .object({
    error: z.object({
      code: count.describe('The status.'),
      message,
      status: text.describe('Follows the code, such as INVALID_ARGUMENT with 400.'),
      details: z.array(z.looseObject({ reason: text.describe('A stable word for programs.') })).optional(),
    }),
  })
  .describe("A refusal on the routes of Gemini's format.")

export const healthSchema = z.object({
  ok: z.literal(true),
  listeners: z.object({ live: count, wanted: count }).optional().describe('Listener threads, while some of them are being replaced.'),
})
export type Health = WireType<typeof healthSchema>
export const notReadySchema = z.object({ ok: z.literal(false) })
export const openApiSchema = z
  .looseObject({ openapi: text, info: jsonObject, paths: jsonObject, components: jsonObject })
  .describe('This document.')

export const configurationSchema = z.object({
  keys: z
    .array(
      z.object({
        key: text,
        value: jsonValue,
        origin: text.describe('A line of the file, the environment, the command line, or default.'),
      }),
    )
    .describe('Every setting that is in force. Secrets are masked.'),
  recipes: z
    .array(z.object({ name: text, adapter: z.exactOptional(text).describe('The agent whose harness it serves.') }))
    .describe('What a scenario may be made with, the default one first.'),
  upstream: z.object({ runtime: text, url: text.nullable(), found: text.describe('The setting that says so.') }),
})
export type Configuration = WireType<typeof configurationSchema>

const trainerStatus = {
  batch_ready: z.boolean().describe('Whether a step would start if it were its turn.'),
  training_mode: trainingMode,
  processor: jsonObject.describe("The status of the recipe's processor, and what waits for it."),
  last_committed_step: z.object({ step, recorded_at: seconds, metrics: jsonObject }).nullable().describe('The latest row that trained.'),
}
export const scenarioStatusSchema = z.object({
  ...trainerStatus,
  scenario_step: step,
  current_runtime_load_id: text.nullable().describe('The weight load that answers now; null when no weights are served.'),
  adapter_runtime_load_id: z.exactOptional(text.nullable()).describe('The same while it is an adapter; null while the base answers.'),
  trainer: z
    .exactOptional(z.object({ server: text.nullable(), version: text.nullable(), format: z.enum(['json', 'protobuf']) }).nullable())
    .describe('Who trains the weights, as of the latest job since the start: its name and the version of its calls, where it says so.'),
  checkpoint_storage: z.null(),
  inference_admission: z.enum(['open', 'closed']).nullable().describe('Whether requests begin, or wait for a weight update.'),
  components: z.exactOptional(z.record(z.string(), z.object(trainerStatus))).describe('When there are several trainers.'),
  provisional: z
    .exactOptional(
      z.object({
        release_id: releaseId,
        step,
        gain: z.number().describe('By how much of a point it seemed better.'),
        canary_share: z.number().nullable().describe('The share of sessions that are served it; null where nobody is.'),
        live_scores: jsonObject.nullable().describe('The test on live scores so far.'),
      }),
    )
    .describe('The provisional release, which is unproven. Absent while there is none.'),
})
export type ScenarioStatus = WireType<typeof scenarioStatusSchema>
const brokenStatus = z.object({ error: text }).describe('Of a recipe whose status cannot be shown.')

const webhookStatus = z.object({
  name: text,
  delivering: z.boolean().describe('False: another service over the same store delivers.'),
  delivered: count.describe('Events that the target took from this service since it started.'),
  failed: count.describe('Attempts that failed.'),
  waiting: count.describe('Scenarios with rows that the target was not told of yet.'),
  set_aside: count.describe('Events that it refused again and again: sent again every ten minutes, and by `svc webhooks retry`.'),
})
export const retryWebhooksBodySchema = z.strictObject(
  {},
  { error: ({ code }) => (code === 'unrecognized_keys' ? 'takes an empty object' : 'must be an object') },
)
export const sentAgainSchema = z.object({ set_aside: count.describe('So many events are sent again now.') })
export type SentAgain = WireType<typeof sentAgainSchema>

export const serviceStatusSchema = z.object({
  error: text.nullable().describe('Background failures that were not fixed since, one line each.'),
  preload_errors: z.record(z.string(), text).describe('Scenarios that could not be loaded at start, with the reason.'),
  last_drain_at: seconds.nullable(),
  scenarios: z.record(z.string(), z.union([scenarioStatusSchema, brokenStatus])).describe('The loaded scenarios, by name.'),
  serving: jsonObject.describe('The status of the runtime.'),
  training_job: z.object({ status: text, training_job_id: text, owner: scenario }).nullable(),
  webhooks: z.exactOptional(z.array(webhookStatus)).describe('The targets of webhooks. Absent where none is configured.'),
  storage: z.object({
    records: count,
    body_bytes: count,
    capacity_bytes: count,
    lost_records: count,
    lost_bytes: count,
    expired_records: count.optional().describe('Bodies that were removed because they were older than `recording.retention_days`.'),
    expired_bytes: count.optional(),
    error: z.object({ code: text, message: text }).nullable().describe('Why the record store refuses writes now.'),
    retention_held_until: seconds
      .optional()
      .describe('The clock moved ahead by days, so that no body is removed for its age before this time; absent while none waits.'),
  }),
})
export type ServiceStatus = WireType<typeof serviceStatusSchema>
export type StoreUsage = Omit<ServiceStatus['storage'], 'error' | 'retention_held_until'>
