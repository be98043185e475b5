/** What the routes answer, each shape once. Nothing is checked by them here: they are published, and a test holds live answers to them. */
import { z } from 'zod'
import { LIFTED_METRICS } from '../../releases/index.ts'

const text = z.string()
const count = z.int().nonnegative()
const step = count.describe('Steps count from 0, which creates the scenario.')
const seconds = z.number().describe('Seconds since the epoch, with a fraction.')
const jsonObject = z.record(z.string(), z.unknown())
const scenario = text.describe('The name of the scenario.')
const recordId = text.describe('A receipt, or the id that the record was sent with.')
const releaseId = text.describe('The id of a release.')
const contentId = text.describe('Equal exactly when the contents are.')
const requestType = z.enum(['inference', 'report', 'train'])
const trainingMode = z.enum(['auto', 'manual', 'hybrid'])

// ── refusals ─────────────────────────────────────────────────────────────────────────────────

const errorType = text.describe('Follows the status, such as invalid_request_error with 400.')
const message = text.describe('Names the field, the rule and the cure; for people.')

export const error = z
  .object({ error: z.object({ message, type: errorType, code: text.describe('A stable word for programs.') }) })
  .describe('A refusal, on every route but those of the messages format.')
export const messagesError = z
  .object({ type: z.literal('error'), error: z.object({ type: errorType, message }) })
  .describe('A refusal on the routes of the messages format; the shape has no room for a code.')

// ── the service ──────────────────────────────────────────────────────────────────────────────

export const health = z.object({ ok: z.literal(true) })
export const notReady = z.object({ ok: z.literal(false) })
export const openApi = z.looseObject({ openapi: text, info: jsonObject, paths: jsonObject, components: jsonObject }).describe('This page.')

const committed = z.object({ step, recorded_at: seconds, metrics: jsonObject }).nullable().describe('The latest row that trained.')
const trainerStatus = {
  batch_ready: z.boolean().describe('Whether a step would start if it were its turn.'),
  training_mode: trainingMode,
  processor: jsonObject.describe('What the processor of the recipe says of itself, and what waits for it.'),
  last_committed_step: committed,
}
export const scenarioStatus = z.object({
  ...trainerStatus,
  scenario_step: step,
  current_runtime_load_id: text.nullable().describe('The weight load that answers now; null where no weights are served.'),
  adapter_runtime_load_id: text.nullable().optional().describe('The same while it is an adapter; null while the base answers.'),
  checkpoint_storage: z.null(),
  inference_admission: z.enum(['open', 'closed']).nullable().describe('Whether requests begin, or wait for a weight update.'),
  components: z.record(z.string(), z.object(trainerStatus)).optional().describe('Where there are several trainers.'),
})
const brokenStatus = z.object({ error: text }).describe('Of a recipe whose status cannot be shown.')

export const status = z.object({
  error: text.nullable().describe('What failed beside requests and was not mended since, one line each.'),
  preload_errors: z.record(z.string(), text).describe('Scenarios that could not be loaded at start, with the reason.'),
  last_drain_at: seconds.nullable(),
  scenarios: z.record(z.string(), z.union([scenarioStatus, brokenStatus])).describe('Those that are loaded, by name.'),
  serving: jsonObject.describe('What the runtime says of itself.'),
  training_job: z.object({ status: text, training_job_id: text, owner: scenario }).nullable(),
  storage: z.object({
    records: count,
    body_bytes: count,
    capacity_bytes: count,
    lost_records: count,
    lost_bytes: count,
    error: z.object({ code: text, message: text }).nullable().describe('Why the record store refuses writes now.'),
  }),
})

// ── records ──────────────────────────────────────────────────────────────────────────────────

export const receipt = z.object({ agent_record_id: recordId, scenario, request_type: z.enum(['inference', 'report']) })
export const receipts = z.object({ records: z.array(receipt).describe('In the order sent.') })
export const trainReceipt = z.object({
  agent_record_id: recordId,
  scenario,
  request_type: z.literal('train'),
  page_path: text.describe('The page that tells about it. Carries a page key when a service token was presented.'),
})

export const exchangeSummary = z.object({
  model: text.optional(),
  latency_ms: z.number().nonnegative(),
  input_tokens: count.optional(),
  output_tokens: count.optional(),
  stream: z.boolean().optional(),
  complete: z.boolean().optional().describe('False where the answer broke off.'),
  session: text.optional().describe('The tag of that name.'),
})
export const recordRow = z.object({
  sequence: z.int().positive().describe('1, 2, 3 … in this scenario, without gaps.'),
  agent_record_id: recordId,
  request_type: requestType,
  created_at: seconds,
  references: z.array(recordId).describe('Receipts that a report quotes.'),
  artifact_ref: releaseId.nullable().describe('The release that served an inference.'),
  score: z.number().nullable(),
  summary: exchangeSummary.optional().describe('Of an exchange that was served here.'),
})
export const records = z.object({
  scenario,
  records: z.array(recordRow),
  next_after_sequence: count.nullable().optional().describe('Where the next page starts, oldest first; null at the end.'),
  next_before_sequence: count.nullable().optional().describe('Where the next page starts, newest first; null at the end.'),
})
export const record = recordRow.extend({ payload: jsonObject.describe('What was stored, as it was stored.') })

// ── scenarios ────────────────────────────────────────────────────────────────────────────────

export const modelView = z.object({
  url: text,
  model: text.nullable(),
  api: z.enum(['openai', 'responses', 'anthropic']),
  has_api_key: z.boolean().describe('The key itself is never shown.'),
})
const adapterName = text.describe('The agent whose harness it serves.').optional()
export const scenarioRow = z.object({
  scenario,
  loaded: z.boolean().describe('Whether it is in memory; some fields are known only then.'),
  recipe: text.nullable(),
  release_id: releaseId.optional(),
  content_id: contentId.optional(),
  training_mode: trainingMode.optional(),
  model: modelView.optional(),
  adapter: adapterName,
})
export const scenarios = z.object({ scenarios: z.array(scenarioRow).describe('Sorted by name.') })
export const createdScenario = z.object({
  scenario,
  release_id: releaseId,
  content_id: contentId,
  model: modelView,
  adapter: adapterName,
})
export const updatedScenario = z.object({ scenario, training_mode: trainingMode, model: modelView.optional() })
export const contract = z.object({
  scenario,
  processor: text.nullable(),
  required_request_types: z.array(requestType),
  training_mode: trainingMode,
  status: jsonObject,
})
export const archivedScenario = z.object({ scenario, archived: z.array(text).describe('Where its records and its ref went.') })

// ── releases ─────────────────────────────────────────────────────────────────────────────────

const operation = z.enum(['create', 'train', 'promote', 'rollback', 'shipped'])
const result = z.enum(['published', 'pending', 'rejected', 'skipped', 'failed'])
const metrics = jsonObject.describe('As recorded.')
const components = z.record(z.string(), contentId).optional().describe('Each component by name, where there are several.')

export const commitRow = z.object({
  step,
  operation,
  operation_verified: z.boolean(),
  recorded_at: seconds,
  artifact_ref: releaseId.nullable().describe('The release that it published or holds.'),
  pending: z.boolean().describe('Held for review.'),
  consumed_ids: z.array(recordId),
  metrics,
})
export const commits = z.object({ scenario, commits: z.array(commitRow), next_after_step: count.nullable() })

/** What a trainer measured and the interface names stands on the row too, as it was recorded. */
const lifted = Object.fromEntries(LIFTED_METRICS.map((name) => [name, z.unknown().optional()]))
export const releaseRow = z.object({
  step,
  operation,
  recorded_at: seconds,
  release_id: releaseId,
  parent_release_id: releaseId.nullable(),
  content_id: contentId,
  pending: z.boolean().describe('Held for review.'),
  restorable: z.boolean().describe('Whether a rollback may name it.'),
  current: z.boolean().describe('Served now.'),
  result,
  metrics,
  rollback_target_release_id: releaseId.optional().describe('On a promote or rollback: whose content was published again.'),
  component: text.optional().describe('Whose step it was, where there are several trainers.'),
  components,
  ...lifted,
})
export const releases = z.object({
  scenario,
  releases: z.array(releaseRow).describe('Newest first.'),
  next_before_step: count.nullable().optional().describe('Of a page: where the next one begins, null at the end.'),
})
export const head = z.object({ scenario, release_id: releaseId, content_id: contentId, step }).describe('What is served now.')

// ── harness ──────────────────────────────────────────────────────────────────────────────────

export const requires = z.object({
  name: text,
  kind: z.enum(['permission', 'env', 'service']),
  check: text.optional(),
  prompt: text.optional(),
})
export const manifest = z.object({
  release_id: releaseId,
  content_id: contentId,
  parent_release_id: releaseId.nullable(),
  files: z.record(z.string(), text).describe('Path to text.'),
  evaluation: jsonObject.describe('What the step that made it measured.'),
  requires: z.array(requires).describe('What a person must have set up.'),
  components,
})
export const listedRow = releaseRow.extend({
  page_path: text,
  composed_release_id: releaseId.optional(),
  composed_parent_release_id: releaseId.optional(),
  composed_rollback_target_release_id: releaseId.optional(),
})
export const harnessReleases = z.object({
  scenario,
  releases: z.array(listedRow).describe('Oldest first.'),
  next_after_step: count.nullable().optional().describe('Of a page: where the next one begins, null at the end.'),
})

const install = z.object({
  manager: z.enum(['npm', 'git']),
  package: text,
  version: text,
  binary_path: text,
  node_least: text.optional(),
  repository: text.optional(),
  ref: text.optional(),
})
export const adapter = z.object({
  name: text,
  binary: text,
  trajectory_format: text,
  model_bindings: z.array(text).describe('The APIs it can speak, the preferred one first.'),
  kinds: z.array(text).describe('The kinds of entries it renders.'),
  install: install.nullable(),
})
export const adapters = z.object({ adapters: z.array(adapter) })

export const stepFiles = z.union([
  z.object({ status: z.literal('retained'), files: z.array(z.object({ path: text, bytes: count })) }).describe('Without a path.'),
  z.object({ status: z.literal('retained'), path: text, text }).describe('With a path.'),
  z.object({ status: z.enum(['not_recorded', 'disabled', 'missing']), files: z.array(z.unknown()).max(0) }),
])
const line = z.object({ at: seconds, kind: text, text, failed: z.literal(true).optional() })
export const progress = z.object({
  request_id: recordId,
  settled: z.boolean(),
  step: step.nullable(),
  state: z.enum(['queued', 'running', 'proposing', 'evaluating', 'settling', ...result.options]),
  meaning: text.nullable(),
  started_at: seconds.nullable(),
  episodes_total: count.nullable(),
  step_record: text.nullable(),
  activity: z.array(line).describe('Oldest first; empty once settled.'),
})
export const admission = z.object({
  proposal_id: text,
  admitted: z.boolean(),
  reason: text.nullable().describe('The rule that refused it.'),
  release_id: releaseId.describe('The head it was held against.'),
})
