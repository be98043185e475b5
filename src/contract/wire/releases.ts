/** Wire shapes of commits and releases, and of moving the head. */
import { z } from 'zod'
import { REVIEW_TEXT_CHARACTERS_MAX } from '../limits.ts'
import { STEP_RESULTS } from '../outcomes.ts'
import {
  boundedText,
  components,
  contentId,
  count,
  jsonObject,
  jsonValue,
  releaseId,
  scenario,
  seconds,
  step,
  storedId,
  text,
} from './fields.ts'
import type { WireType } from './fields.ts'

const RELEASE_RULE = 'must be the id of a release of this scenario'
const namedRelease = z.string({ error: RELEASE_RULE }).min(1, { error: RELEASE_RULE })

/** What a person says of a release. Lines and tabs are fine; other control characters are no words. */
const REVIEW_RULE = `must be a text of 1 to ${REVIEW_TEXT_CHARACTERS_MAX} characters that is not blank and has no control characters`
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/
const reviewText = boundedText(REVIEW_TEXT_CHARACTERS_MAX, REVIEW_RULE)
  .refine((value) => !CONTROLS.test(value), { error: REVIEW_RULE })
  .meta({ pattern: String.raw`^(?=[\s\S]*\S)[^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]*$` })

export const moveBodySchema = z.object({
  release_id: namedRelease,
  comment: z.exactOptional(reviewText).describe('Why, in the words of the person. Kept in the row.'),
})
export const commentBodySchema = z.object({
  release_id: namedRelease,
  comment: reviewText.describe('What the person says of the release. Kept in a row, and shown with the release.'),
})
export const rejectBodySchema = z.object({
  release_id: namedRelease,
  reason: reviewText.describe('Why, in the words of the person. Kept in the row, shown with the release, and told to the next proposer.'),
})

const operation = z.enum(['create', 'train', 'promote', 'rollback', 'shipped', 'withdraw', 'reject', 'comment'])
export type Operation = z.infer<typeof operation>
export const stepOutcome = z.enum(STEP_RESULTS)
const metrics = jsonObject.describe('As recorded.')

export const commitRowSchema = z.object({
  step,
  operation,
  operation_verified: z.boolean().describe('False only when the row itself says that its operation could not be confirmed.'),
  recorded_at: seconds,
  artifact_ref: releaseId.nullable().describe('The release that it published, holds or rejects.'),
  pending: z.boolean().describe('Held for review.'),
  consumed_ids: z.array(storedId),
  metrics,
})
export type CommitRow = WireType<typeof commitRowSchema>
export const commitListSchema = z.object({ scenario, commits: z.array(commitRowSchema), next_after_step: count.nullable() })
export type CommitList = WireType<typeof commitListSchema>

/** Metrics of a step that stand on its row too, as they were recorded. */
const metric = z.exactOptional(jsonValue)
const evaluationMetrics = {
  wins: metric,
  losses: metric,
  ties: metric,
  passed: metric,
  failed: metric,
  floor_score: metric,
  evaluation_sides: metric,
  current_score: metric,
  candidate_score: metric,
  episode_failures: metric,
  evaluation_task_count: metric,
  evaluation_context: metric,
}
const rowMetrics = {
  ...evaluationMetrics,
  proposal: metric,
  training_request: metric,
  proposal_notes: metric,
  skipped: metric,
  error: metric,
}
export const EVALUATION_METRICS: readonly string[] = Object.keys(evaluationMetrics)
export const ROW_METRICS: readonly string[] = Object.keys(rowMetrics)

export const releaseRowSchema = z.object({
  step,
  operation,
  recorded_at: seconds,
  release_id: releaseId,
  parent_release_id: releaseId.nullable(),
  content_id: contentId,
  pending: z.boolean().describe('Held for review.'),
  restorable: z.boolean().describe('Whether a rollback may name it.'),
  current: z.boolean().describe('On the one row whose release is served now.'),
  result: stepOutcome,
  provisional: z
    .exactOptional(z.boolean())
    .describe('On a row that made a provisional release, which is unproven: true while it is that of the scenario, false once it ended.'),
  metrics,
  rollback_target_release_id: z
    .exactOptional(releaseId)
    .describe(
      'On a promote or rollback: whose content was published again. On a withdrawal or rejection: which release that ends. On a comment: which release it is about.',
    ),
  component: z.exactOptional(text).describe('Whose step it was, when there are several trainers.'),
  components,
  ...rowMetrics,
})
export type ReleaseRow = WireType<typeof releaseRowSchema>
export const releaseListSchema = z.object({
  scenario,
  releases: z.array(releaseRowSchema).describe('Newest first.'),
  next_before_step: z.exactOptional(count.nullable()).describe('Of a page: where the next one begins, null at the end.'),
})
export type ReleaseList = WireType<typeof releaseListSchema>
export const headSchema = z
  .object({
    scenario,
    release_id: releaseId,
    content_id: contentId,
    step,
    gateways_behind: z
      .exactOptional(z.array(text).nullable())
      .describe(
        'Of a move with a store that several gateways share: which of them did not serve it within two seconds, as machine and port; null where that is not known.',
      ),
  })
  .describe('What is served now.')
export type Head = WireType<typeof headSchema>

/** Rows of the tree that clients pull: identities are those of listed releases, and `composed_…` holds the combination. */
export const listedRowSchema = releaseRowSchema.extend({
  composed_release_id: z.exactOptional(releaseId),
  composed_parent_release_id: z.exactOptional(releaseId),
  composed_rollback_target_release_id: z.exactOptional(releaseId),
})
export type ListedRow = WireType<typeof listedRowSchema>
export const catalogRowSchema = listedRowSchema.extend({ page_path: text.describe("The step's page, below the service's address.") })
export type CatalogRow = WireType<typeof catalogRowSchema>
export const catalogSchema = z.object({
  scenario,
  releases: z.array(catalogRowSchema).describe('Oldest first.'),
  next_after_step: z.exactOptional(count.nullable()).describe('Of a page: where the next one begins, null at the end.'),
})
export type Catalog = WireType<typeof catalogSchema>
