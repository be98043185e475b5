/** The `evolution` section of a recipe. */
import { z } from 'zod'
import type { JsonObject } from '../contract/index.ts'

/** The configuration was validated when it was read; this schema gives it a type. */
const section = z.object({
  binary: z.string().nullable(),
  tasks: z.array(z.json()).nullable(),
  tasks_dir: z.string().nullable(),
  proposer: z.string(),
  evaluator: z.string(),
  evaluator_module: z.string().nullable(),
  selection: z.string(),
  executor: z.string().nullable(),
  publish: z.enum(['auto', 'review']),
  review_kinds: z.array(z.string()),
  sandbox: z.json(),
  episode_timeout_s: z.number(),
  episode_repeats: z.number(),
  episode_workers: z.number(),
  max_model_calls_per_step: z.number(),
  max_episodes_per_step: z.number(),
  promote_failures: z.boolean(),
  max_promoted_tasks: z.number(),
  max_promoted_per_client: z.number(),
  max_rejected_history: z.number(),
  proposals_dir: z.string(),
  max_pending_proposals: z.number(),
  step_record_dir: z.string().nullable(),
  step_record_bytes: z.number(),
})
export type EvolutionSettings = Readonly<z.infer<typeof section>>

export const evolutionSettings = (config: JsonObject): EvolutionSettings => section.parse(config['evolution'])
