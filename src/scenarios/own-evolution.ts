/** What people set of one scenario's training, over the configuration of its recipe. */
import { unsupported, type Binding, type EvolutionChanges, type OwnEvolution, type Surface } from '../contract/index.ts'
import { OWN_EVOLUTION_KEYS } from '../contract/wire/index.ts'
import type { Budgets } from '../training/index.ts'

/** What is asked of a scenario here. */
interface Bounded {
  readonly recipeName: string
  readonly ownEvolution: OwnEvolution
  readonly surface: Surface
  readonly binding: Pick<Binding, 'proposals'>
  /** Null where it trains nothing. */
  readonly makeWorkers: unknown
}

/** What is set once these are made. Null takes all of it back. */
export function changedEvolution(scenario: Bounded, changes: EvolutionChanges | null): OwnEvolution {
  if (changes === null) return {}
  const known = knownTo(scenario)
  const stray = Object.keys(changes).find((key) => !known.includes(key))
  if (stray !== undefined)
    throw unsupported(
      'unsupported_setting',
      `evolution.${stray}: recipe ${scenario.recipeName} has no use for it; ${known.length === 0 ? 'it trains nothing' : `it knows ${known.join(', ')}`}`,
    )
  return withoutNull({ ...scenario.ownEvolution, ...changes })
}

/** Steps are counted of every trainer; what a step takes is bounded of those that play episodes. */
function knownTo({ makeWorkers, surface, binding }: Bounded): readonly string[] {
  if (makeWorkers === null) return []
  const of = { steps: ['max_steps', 'max_failure_streak'], rollout: ['provisional', 'canary_share'] }
  if (binding.proposals !== undefined) return OWN_EVOLUTION_KEYS
  return [...(surface.files === undefined ? [] : of.rollout), ...of.steps]
}

/** Null stands for what is configured. */
function withoutNull(changes: EvolutionChanges): OwnEvolution {
  const { provisional, canary_share, max_steps, max_failure_streak, max_episodes_per_step, max_model_calls_per_step } = changes
  const { max_tokens_per_step, max_cost_per_step, max_tokens_per_day, max_cost_per_day } = changes
  return {
    ...(provisional != null && { provisional }),
    ...(canary_share != null && { canary_share }),
    ...(max_steps != null && { max_steps }),
    ...(max_failure_streak != null && { max_failure_streak }),
    ...(max_episodes_per_step != null && { max_episodes_per_step }),
    ...(max_model_calls_per_step != null && { max_model_calls_per_step }),
    ...(max_tokens_per_step != null && { max_tokens_per_step }),
    ...(max_cost_per_step != null && { max_cost_per_step }),
    ...(max_tokens_per_day != null && { max_tokens_per_day }),
    ...(max_cost_per_day != null && { max_cost_per_day }),
  }
}

export const budgetsWith = ({ maxSteps, maxFailureStreak }: Budgets, own: OwnEvolution): Budgets => ({
  maxSteps: own.max_steps ?? maxSteps,
  maxFailureStreak: own.max_failure_streak ?? maxFailureStreak,
})

/** The share of sessions that are served a provisional release; null: nobody is. Where none is named, only those who ask for it are. */
export function canaryShare({ ownEvolution: own, surface }: Pick<Bounded, 'ownEvolution' | 'surface'>): number | null {
  const configured = surface.provisional?.share
  const tier = own.provisional ?? (configured === undefined ? 'off' : 'canary')
  return tier === 'canary' ? (own.canary_share ?? configured ?? 0) : null
}
