/** Which trajectories of a batch a step learns from, and why not from the others. */
import type { JsonObject, Rollout } from '../../contract/index.ts'
import type { LoadId } from '../load-id.ts'
import type { Assembled, UnusableReason } from './assemble.ts'
import { freshness, type StaleReason } from './freshness.ts'

interface AdmitOptions {
  /** The load that the step starts from. */
  readonly serving: LoadId
  readonly maxStaleness: number
  /** Of the objective: without a ratio to what was sampled nothing grows stale, and imports that nobody here sampled may be used. */
  readonly needsLogProbs: boolean
}
export interface Admitted {
  readonly rollouts: readonly Rollout[]
  /** For the row: samples_fresh, samples_admitted_stale, samples_dropped, drop_reasons. */
  readonly metrics: JsonObject
}

type DropReason = UnusableReason | StaleReason | 'missing_log_probs' | 'group_dropped'
type Judged =
  | { readonly group: string | null; readonly reason: DropReason }
  | { readonly group: string | null; readonly reason: null; readonly rollout: Rollout; readonly isStale: boolean }

/** What is told apart inside its group only is worth nothing without the rest of it: who is dropped takes the group along. */
export function admitRollouts(assembled: readonly Assembled[], options: AdmitOptions): Admitted {
  const judged = assembled.map((each) => judge(each, options))
  const brokenGroups = new Set(judged.flatMap(({ group, reason }) => (group === null || reason === null ? [] : [group])))
  const isKept = ({ group }: Judged): boolean => group === null || !brokenGroups.has(group)
  const kept = judged.flatMap((each) => (each.reason === null && isKept(each) ? [each] : []))
  const stale = kept.filter(({ isStale }) => isStale).length
  return {
    rollouts: kept.map(({ rollout }) => rollout),
    metrics: {
      samples_fresh: kept.length - stale,
      samples_admitted_stale: stale,
      samples_dropped: judged.length - kept.length,
      drop_reasons: countsOf(judged.flatMap((each) => each.reason ?? (isKept(each) ? [] : ['group_dropped']))),
    },
  }
}

function judge(assembled: Assembled, { serving, maxStaleness, needsLogProbs }: AdmitOptions): Judged {
  if (assembled.kind === 'unusable') return { group: assembled.sample.group ?? null, reason: assembled.reason }
  const { rollout, spans } = assembled
  const { group } = rollout
  if (!needsLogProbs) return { group, reason: null, rollout, isStale: false }
  if (rollout.logProbs.length === 0) return { group, reason: 'missing_log_probs' }
  const reason = freshness(spans, serving, maxStaleness)
  return reason === null ? { group, reason, rollout, isStale: freshness(spans, serving, 0) !== null } : { group, reason }
}

function countsOf(reasons: readonly DropReason[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const reason of reasons) counts[reason] = (counts[reason] ?? 0) + 1
  return counts
}
