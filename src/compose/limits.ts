/** Opens the limits: memory for the counts of all threads, and in each thread what counts in it. */
import { join } from 'node:path'
import type { LoadedConfig } from '../config/index.ts'
import { TOKENS_MAX, type ShareStore, type Store } from '../contract/index.ts'
import { allotCells, Limits, type LimitPlace } from '../limits/index.ts'

interface SpentKeeping {
  readonly store: Store
  readonly limits: Limits
  readonly warn: (message: string, error: unknown) => void
}

/** What was spent is kept beside the records, or in the store where several services count together. */
export async function keepSpent(
  { config }: LoadedConfig,
  { limits, warn, store }: SpentKeeping,
): Promise<{ close(): Promise<void> } | null> {
  if (store.shares !== undefined)
    return { close: () => limits.giveSharesBack().catch((error: unknown) => warn('shares of limits are given back later', error)) }
  const { record_backend, agent_record_dir } = config.storage
  if (record_backend === 'memory') return null
  return limits.keepSpent(join(agent_record_dir, 'spent.json'), warn)
}

/** The main thread's place. Also where the configuration limits nothing: a token can be given limits at any time. */
export function allotLimits({ config: { svc } }: LoadedConfig, threads: number): LimitPlace {
  return { memory: allotCells(TOKENS_MAX + svc.max_scenarios, threads), slot: 0 }
}

export const openLimits = ({ config }: LoadedConfig, place: LimitPlace, shares: ShareStore | undefined): Limits =>
  new Limits(config.limits, place, { shares })
