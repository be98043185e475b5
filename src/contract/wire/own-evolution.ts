/** Wire shapes of what people set of one scenario's training while it runs: its budgets, and who is served a change that is not proved. */
import { z } from 'zod'
import type { WireType } from './fields.ts'

const WHOLE_RULE = 'must be a whole number, 0 or more, where 0 is no limit; null for what is configured'
const COST_RULE = 'must be a number, 0 or more, where 0 is no limit; null for what is configured'
const SHARE_RULE = 'must be a number from 0 to 1; null for what is configured'
const TIER_RULE = 'must be off, shadow or canary; null for what is configured'

const tier = z.enum(['off', 'shadow', 'canary'], { error: TIER_RULE })
const share = z.number({ error: SHARE_RULE }).min(0, { error: SHARE_RULE }).max(1, { error: SHARE_RULE })
const whole = z.int({ error: WHOLE_RULE }).min(0, { error: WHOLE_RULE })
const cost = z.number({ error: COST_RULE }).min(0, { error: COST_RULE })

/** By the names of the configuration, under `evolution`. */
export const ownEvolutionSchema = z.strictObject({
  provisional: z.exactOptional(tier),
  canary_share: z.exactOptional(share),
  max_steps: z.exactOptional(whole),
  max_failure_streak: z.exactOptional(whole),
  max_episodes_per_step: z.exactOptional(whole),
  max_model_calls_per_step: z.exactOptional(whole),
  max_tokens_per_step: z.exactOptional(whole),
  max_cost_per_step: z.exactOptional(cost),
  max_tokens_per_day: z.exactOptional(whole),
  max_cost_per_day: z.exactOptional(cost),
})
export type OwnEvolution = WireType<typeof ownEvolutionSchema>
export const OWN_EVOLUTION_KEYS = ownEvolutionSchema.keyof().options

/** What is left out stays as it was. */
export const evolutionChangesSchema = z.strictObject(
  {
    provisional: z.exactOptional(tier.nullable()),
    canary_share: z.exactOptional(share.nullable()),
    max_steps: z.exactOptional(whole.nullable()),
    max_failure_streak: z.exactOptional(whole.nullable()),
    max_episodes_per_step: z.exactOptional(whole.nullable()),
    max_model_calls_per_step: z.exactOptional(whole.nullable()),
    max_tokens_per_step: z.exactOptional(whole.nullable()),
    max_cost_per_step: z.exactOptional(cost.nullable()),
    max_tokens_per_day: z.exactOptional(whole.nullable()),
    max_cost_per_day: z.exactOptional(cost.nullable()),
  },
  {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `takes ${OWN_EVOLUTION_KEYS.join(', ')} alone`
        : 'must be an object of settings under evolution, or null for what is configured',
  },
)
export type EvolutionChanges = WireType<typeof evolutionChangesSchema>
