/** Wire shapes of the harness: the files that clients pull, proposals, and how far an instruction is. */
import { z } from 'zod'
import { PROPOSAL_MUTATIONS_MAX, RECORD_ID_CHARACTERS_MAX } from '../limits.ts'
import { components, contentId, count, isWithin, jsonObject, releaseId, seconds, step, storedId, text, type WireType } from './fields.ts'
import { stepOutcome } from './releases.ts'
import { requiresSchema } from './requires.ts'

// ── requests ─────────────────────────────────────────────────────────────────────────────────

/** The author's account is shown on pages and kept in a row, so it is short. */
const REASON_CHARACTERS_MAX = 4000
const shown = (error: string): z.ZodString => z.string({ error }).regex(/\S/, { error })
const atMost = (charactersMax: number, value: z.ZodString): z.ZodString =>
  value
    .refine((given) => isWithin(given, charactersMax), { error: `must be at most ${charactersMax} characters` })
    .meta({ maxLength: charactersMax })

export const proposalAccount = z.object({
  // A reason may be empty: nothing depends on it.
  reason: atMost(REASON_CHARACTERS_MAX, z.string({ error: 'must be text; say in words what the change is for' })),
  session: atMost(RECORD_ID_CHARACTERS_MAX, shown('must be text; name the session that proposes')),
  release_id: atMost(RECORD_ID_CHARACTERS_MAX, shown('must be text; name the release the session runs')),
})

const id = z.string({ error: 'must be the id of the entry, as text' })
const options = z.looseObject(
  {
    name: z.string({ error: 'must be the text that names its kind' }),
    config: z.looseObject({}, { error: 'must be an object' }),
    disabled: z.exactOptional(z.boolean({ error: 'must be true or false' })),
  },
  { error: 'must be an object {name, config, disabled}' },
)

export const MUTATIONS_RULE = `must be a list of 1 to ${PROPOSAL_MUTATIONS_MAX} mutations {op, id, options}`
/** The least that a mutation must carry, whatever tree it is for. */
export const proposedMutations = z
  .array(
    z.discriminatedUnion(
      'op',
      [
        z.looseObject({ op: z.literal('create'), id, options }),
        z.looseObject({ op: z.literal('update'), id, options: options.partial() }),
        z.looseObject({ op: z.literal('remove'), id, options: z.exactOptional(z.null({ error: 'must be left out of a remove' })) }),
      ],
      { error: (issue) => (issue.code === 'invalid_union' ? 'must be create, update or remove' : 'must be an object {op, id, options}') },
    ),
    { error: MUTATIONS_RULE },
  )
  .min(1, { error: MUTATIONS_RULE })
  .max(PROPOSAL_MUTATIONS_MAX, { error: MUTATIONS_RULE })

export const proposalBodySchema = proposalAccount.extend({ mutations: proposedMutations })

// ── answers ──────────────────────────────────────────────────────────────────────────────────

const signedText = { statement: text.describe('The canonical JSON text that was signed.'), signature: text.describe('Ed25519, base64url.') }
const signed = z.object({
  ...signedText,
  rotations: z.array(z.object(signedText)).describe('What leads from the first key of the deployment to this one, oldest first.'),
})
export const manifestSchema = z.object({
  release_id: releaseId,
  content_id: contentId,
  parent_release_id: releaseId.nullable(),
  files: z.record(z.string(), text).describe('Path to text. Check the paths before writing anything.'),
  evaluation: jsonObject.describe('What the step that made it measured.'),
  requires: z.array(requiresSchema).describe('What a person must have set up.'),
  components,
  provisional: z.exactOptional(z.literal(true)).describe('It is unproven. Absent on every other release.'),
  signed: signed.describe('What the deployment says of this release, and its signature.'),
})
export type Manifest = WireType<typeof manifestSchema>

const install = z.object({
  manager: z.enum(['npm', 'git']),
  package: text,
  version: text,
  binary_path: text,
  node_least: z.exactOptional(text),
  repository: z.exactOptional(text),
  ref: z.exactOptional(text),
  commit: z.exactOptional(text),
})
export const adapterViewSchema = z.object({
  name: text,
  binary: text.nullable(),
  trajectory_format: text,
  model_bindings: z.array(text).describe('The APIs it can speak, the preferred one first.'),
  kinds: z.array(text).describe('The kinds of entries it renders.'),
  install: install.nullable(),
})
export type AdapterView = WireType<typeof adapterViewSchema>
export const adapterListSchema = z.object({ adapters: z.array(adapterViewSchema) })
export type AdapterList = WireType<typeof adapterListSchema>

const stepFile = z.object({ path: text, bytes: count })
export type StepFile = WireType<typeof stepFile>
export const stepFilesSchema = z.union([
  z.object({ status: z.literal('retained'), files: z.array(stepFile) }).describe('Without a path.'),
  z.object({ status: z.literal('retained'), path: text, text }).describe('With a path.'),
  z.object({ status: z.enum(['not_recorded', 'disabled', 'missing']), files: z.array(z.unknown()).max(0) }),
])
export type StepFiles = WireType<typeof stepFilesSchema>

const activityLine = z.object({ at: seconds, kind: text, text, failed: z.exactOptional(z.literal(true)) })
export type ActivityLine = WireType<typeof activityLine>
export const requestProgressSchema = z.object({
  request_id: storedId,
  settled: z.boolean(),
  step: step.nullable(),
  state: z.enum(['queued', 'running', 'proposing', 'evaluating', 'settling', ...stepOutcome.options]),
  meaning: text.nullable(),
  started_at: seconds.nullable(),
  episodes_total: count.nullable(),
  step_record: text.nullable(),
  activity: z.array(activityLine).describe('Oldest first; empty once settled.'),
})
export type RequestProgress = WireType<typeof requestProgressSchema>
const episodeProgress = z.object({
  at: seconds,
  side: z
    .enum(['candidate', 'current', 'baseline', 'trial'])
    .describe(
      'candidate: with the change; current: as served; baseline: as served before the changes that are added up; trial: of the proposer.',
    ),
  task: text,
  repeat: count,
  score: z.number().nullable(),
  words: text.nullable().describe("The evaluator's words, or why there is no score."),
  seconds: z.number(),
  input_tokens: count,
  output_tokens: count,
  cost: z.number().nullable().describe('Null where a price is not known.'),
  transcript: text.nullable().describe("Where its transcript lies in the step's record."),
})
export type EpisodeProgress = WireType<typeof episodeProgress>
export const stepProgressSchema = z.object({
  component: text.describe('Empty where the scenario has no components.'),
  request_id: storedId.nullable().describe('Null of a step on traffic.'),
  state: z.enum(['running', 'proposing', 'evaluating', 'settling']),
  meaning: text.nullable(),
  started_at: seconds,
  episodes_total: count.nullable().describe('At most.'),
  episodes_played: count,
  input_tokens: count,
  output_tokens: count,
  cost: z.number().nullable().describe('Of the episodes; null where a price is not known.'),
  seconds_left: z.number().nullable().describe('At most, by the episodes so far; null where it is not known.'),
  step_record: text.nullable(),
  activity: z.array(activityLine).describe('Oldest first.'),
  episodes: z.array(episodeProgress).describe('The latest, oldest first.'),
})
export type StepProgress = WireType<typeof stepProgressSchema>
export const runningStepsSchema = z.object({ scenario: text, steps: z.array(stepProgressSchema) })
export type RunningSteps = WireType<typeof runningStepsSchema>
export const admissionSchema = z.object({
  proposal_id: text,
  admitted: z.boolean(),
  reason: text.nullable().describe('The rule that refused it.'),
  release_id: releaseId.describe('The head it was checked against.'),
})
export type Admission = WireType<typeof admissionSchema>
