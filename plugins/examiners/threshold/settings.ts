/** The settings of the threshold, under `training.examiner_config`: what is asked, and how well it must be answered. */
import { z } from 'zod'
import { invalid, type JsonObject } from '../../../src/contract/index.ts'

export type ThresholdSettings = z.infer<typeof schema>

const text = z.string({ error: 'must be text' }).refine((value) => value.trim() !== '', { error: 'must be text that is not blank' })
const share = z
  .number({ error: 'must be a number from 0 to 1' })
  .min(0, { error: 'must be at least 0' })
  .max(1, { error: 'must be at most 1' })
const count = (most: number) => {
  const error = `must be a whole number from 1 to ${most}`
  return z.int({ error }).min(1, { error }).max(most, { error })
}
const task = z.strictObject({ prompt: text, answer: text }, { error: 'must be an object of prompt and answer' })
const schema = z.strictObject(
  {
    tasks: z.array(task, { error: 'must be a list of tasks' }).min(1, { error: 'must hold at least one task' }),
    repeats: count(100).default(1),
    floor: share.default(0),
    against_current: z.boolean({ error: 'must be true or false' }).default(true),
    margin: share.default(0),
    match: z.enum(['contained', 'exact'], { error: 'must be contained or exact' }).default('contained'),
    temperature: z.number({ error: 'must be a number from 0 to 2' }).min(0).max(2).default(0),
    max_tokens: count(65_536).default(256),
  },
  { error: 'holds an unknown setting; there are: tasks, repeats, floor, against_current, margin, match, temperature, max_tokens' },
)

export function settingsIn(config: JsonObject): ThresholdSettings {
  const checked = schema.safeParse(config)
  if (checked.success) return checked.data
  const [issue] = checked.error.issues
  const path = ['training.examiner_config', ...(issue?.path ?? []).map(String)].join('.')
  throw invalid('bad_setting', `${path}: ${issue?.message ?? 'is not acceptable'}`)
}
