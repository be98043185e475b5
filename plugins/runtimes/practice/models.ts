/** The model list: OpenAI's shape, with the fields that Anthropic's clients read beside it. */
import type { JsonObject } from '../../../src/contract/index.ts'
import { PRODUCT } from '../../../src/contract/index.ts'

const PRACTICE_MODEL = 'practice'
/** The model does not change with the process, so its date is a constant and not a clock's. */
const CREATED_AT = '2026-01-01T00:00:00Z'

/** A deployment that names its model finds it listed under that name too. */
export function modelList(configured: string | null): JsonObject {
  const ids = configured === null || configured === PRACTICE_MODEL ? [PRACTICE_MODEL] : [configured, PRACTICE_MODEL]
  return { object: 'list', data: ids.map(model), has_more: false, first_id: ids[0] ?? null, last_id: ids.at(-1) ?? null }
}

const model = (id: string): JsonObject => ({
  id,
  object: 'model',
  type: 'model',
  created: Date.parse(CREATED_AT) / 1000,
  created_at: CREATED_AT,
  owned_by: PRODUCT,
  display_name: 'Practice model',
})
