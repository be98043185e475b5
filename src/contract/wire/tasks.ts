/** Wire shapes of the tasks that candidates are measured by, for people to look at and decide on. */
import { z } from 'zod'
import { TASK_TEXT_CHARACTERS_MAX } from '../limits.ts'
import { TASK_ROLES, TASK_STATUSES } from '../task-words.ts'
import { boundedText, newRecordId, scenario, text, type WireType } from './fields.ts'

const role = z.enum(TASK_ROLES, { error: `must be one of ${TASK_ROLES.join(', ')}` })
const status = z.enum(TASK_STATUSES, { error: `must be one of ${TASK_STATUSES.join(', ')}` })

// ── requests ─────────────────────────────────────────────────────────────────────────────────

export const taskChangeSchema = z.object({
  status: z.exactOptional(status).describe('Of a mined task: accepted ones are used.'),
  role: z.exactOptional(role).describe('Who plays it.'),
})
export type TaskChange = WireType<typeof taskChangeSchema>

const TEXT_RULE = `must be non-blank text of at most ${TASK_TEXT_CHARACTERS_MAX} characters`
const taskText = boundedText(TASK_TEXT_CHARACTERS_MAX, TEXT_RULE)

export const newTaskSchema = z.object({
  record_id: newRecordId.describe('The receipt of an exchange.'),
  prompt: z.exactOptional(taskText).describe('What the agent is asked. Left out: what the user said last in the exchange.'),
  rubric: z.exactOptional(taskText).describe('What a good answer does; a model grades by it.'),
  answer: z.exactOptional(taskText).describe('The right answer, word for word, as the last line; instead of a rubric.'),
  role: z.exactOptional(role).describe('Who plays it: gate where it is left out, or that of a task that says nearly the same.'),
})
export type NewTask = WireType<typeof newTaskSchema>

// ── answers ──────────────────────────────────────────────────────────────────────────────────

export const listedTaskSchema = z.object({
  name: text,
  role: role.nullable().describe('Null where the task cannot be read.'),
  family: text.nullable(),
  status: status.nullable().describe('Null of a task that a person wrote, which is always used.'),
  origin: text.nullable().describe('Where a mined task comes from.'),
  check: z
    .object({ at: text, passed: z.boolean(), problems: z.array(text) })
    .nullable()
    .describe('What `svc tasks check` found.'),
  problem: text.nullable().describe('Why it cannot be read.'),
})
export type ListedTask = WireType<typeof listedTaskSchema>
export const taskListSchema = z.object({ scenario, tasks: z.array(listedTaskSchema) })
export type TaskList = WireType<typeof taskListSchema>
export const shownTaskSchema = listedTaskSchema.extend({
  prompt: text,
  workspace: z.array(text).describe('Paths of the files that the agent finds.'),
  verify: z.array(text).describe('Paths of the files that decide.'),
  reference: z.array(text).describe('Paths of the files of a solution.'),
})
export type ShownTask = WireType<typeof shownTaskSchema>
