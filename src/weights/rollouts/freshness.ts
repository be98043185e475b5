/** Whether weights that are served now may still learn from what earlier ones said. */
import { parseLoadId, type LoadId } from '../load-id.ts'
import type { LoadSpan } from './turn.ts'

export type StaleReason = 'missing' | 'malformed' | 'cross_incarnation' | 'non_monotonic' | 'future' | 'policy_lag_exceeded'

/**
 * Null when it may. The lag is how often the scenario published since; with a greatest lag of 0 that leaves the one load that is served.
 */
export function freshness(spans: readonly Pick<LoadSpan, 'runtime_load_id'>[], serving: LoadId, maxStaleness: number): StaleReason | null {
  if (spans.length === 0) return 'missing'
  const loads = spans.flatMap(({ runtime_load_id }) => parseLoadId(runtime_load_id) ?? [])
  if (loads.length < spans.length) return 'malformed'
  if (loads.some(({ incarnation }) => incarnation !== serving.incarnation)) return 'cross_incarnation'
  const sequences = loads.map(({ sequence }) => sequence)
  if (sequences.some((sequence, at) => sequence < (sequences[at - 1] ?? 0))) return 'non_monotonic'
  const [oldest = 0] = sequences
  if ((sequences.at(-1) ?? 0) > serving.sequence) return 'future'
  return serving.sequence - oldest > maxStaleness ? 'policy_lag_exceeded' : null
}
