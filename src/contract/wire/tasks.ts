/** Wire shapes of the tasks that candidates are measured by, for people to look at and decide on. */
import { z } from 'zod'
import { TASK_ROLES, TASK_STATUSES } from '../task-words.ts'
import { scenario, text, type WireType } from './fields.ts'

const role = z.enum(TASK_ROLES, { error: `must be one of ${TASK_ROLES.join(', ')}` })
const status = z.enum(TASK_STATUSES, { error: `must be one of ${TASK_STATUSES.join(', ')}` })

// ── requests ─────────────────────────────────────────────────────────────────────────────────

export const taskChangeSchema = z.object({
  status: z.exactOptional(status).describe('Of a mined task: accepted ones are used.'),
  role: z.exactOptional(role).describe('Who plays it.'),
})
export type TaskChange = WireType<typeof taskChangeSchema>

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
