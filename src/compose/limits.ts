/** Opens the limits: memory for the counts of all threads, and in each thread what counts in it. */
import { join } from 'node:path'
import type { LoadedConfig } from '../config/index.ts'
import { TOKENS_MAX } from '../contract/index.ts'
import { allotCells, hasLimits, Limits, limitsMoney, type LimitPlace } from '../limits/index.ts'

interface SpentKeeping {
  readonly limits: Limits | undefined
  readonly warn: (message: string, error: unknown) => void
}

/** What was spent is kept beside the records. */
export async function keepSpent({ config }: LoadedConfig, { limits, warn }: SpentKeeping): Promise<{ close(): Promise<void> } | null> {
  const { record_backend, agent_record_dir } = config.storage
  if (limits === undefined || !limitsMoney(config.limits) || record_backend === 'memory') return null
  return limits.keepSpent(join(agent_record_dir, 'spent.json'), warn)
}

/** The main thread's place; null where nothing is limited. */
export function allotLimits({ config: { limits, svc } }: LoadedConfig, threads: number): LimitPlace | null {
  return hasLimits(limits) ? { memory: allotCells(TOKENS_MAX + svc.max_scenarios, threads), slot: 0 } : null
}

export const openLimits = ({ config }: LoadedConfig, place: LimitPlace | null): Limits | undefined =>
  place === null ? undefined : new Limits(config.limits, place)
