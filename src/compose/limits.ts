/** Opens the limits: memory for the counts of all threads, and in each thread what counts in it. */
import { join } from 'node:path'
import type { LoadedConfig } from '../config/index.ts'
import { TOKENS_MAX, type ShareStore, type Store } from '../contract/index.ts'
import { allotCells, hasLimits, Limits, limitsMoney, type LimitPlace } from '../limits/index.ts'

interface SpentKeeping {
  readonly store: Store
  readonly limits: Limits | undefined
  readonly warn: (message: string, error: unknown) => void
}

/** What was spent is kept beside the records, or in the store where several services count together. */
export async function keepSpent(
  { config }: LoadedConfig,
  { limits, warn, store }: SpentKeeping,
): Promise<{ close(): Promise<void> } | null> {
  if (limits !== undefined && store.shares !== undefined)
    return { close: () => limits.giveSharesBack().catch((error: unknown) => warn('shares of limits are given back later', error)) }
  const { record_backend, agent_record_dir } = config.storage
  if (limits === undefined || !limitsMoney(config.limits) || record_backend === 'memory') return null
  return limits.keepSpent(join(agent_record_dir, 'spent.json'), warn)
}

/** The main thread's place; null where nothing is limited. */
export function allotLimits({ config: { limits, svc } }: LoadedConfig, threads: number): LimitPlace | null {
  return hasLimits(limits) ? { memory: allotCells(TOKENS_MAX + svc.max_scenarios, threads), slot: 0 } : null
}

export const openLimits = ({ config }: LoadedConfig, place: LimitPlace | null, shares: ShareStore | undefined): Limits | undefined =>
  place === null || !hasLimits(config.limits) ? undefined : new Limits(config.limits, place, { shares })
