/** Opens the limits: memory for the counts of all threads, and in each thread what counts in it. */
import type { LoadedConfig } from '../config/index.ts'
import { TOKENS_MAX } from '../contract/index.ts'
import { allotCells, hasLimits, Limits, type LimitPlace } from '../limits/index.ts'

/** The main thread's place; null where nothing is limited. */
export function allotLimits({ config: { limits, svc } }: LoadedConfig, threads: number): LimitPlace | null {
  return hasLimits(limits) ? { memory: allotCells(TOKENS_MAX + svc.max_scenarios, threads), slot: 0 } : null
}

export const openLimits = ({ config }: LoadedConfig, place: LimitPlace | null): Limits | undefined =>
  place === null ? undefined : new Limits(config.limits, place)
