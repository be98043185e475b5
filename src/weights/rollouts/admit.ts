/** Which trajectories of a batch a step learns from, and why not from the others. */
import { isObject, type JsonObject, type Objective, type Rollout, type StepOrder, type WeightRuntime } from '../../contract/index.ts'
import { parseLoadId, type LoadId } from '../load-id.ts'
import { assembleRollout, encodeRollout, type Assembled, type AssembleOptions, type UnusableReason } from './assemble.ts'
import type { LoadSpan } from './turn.ts'

interface CollectOptions {
  readonly weights: Pick<WeightRuntime, 'encode'>
  readonly objective: Objective
  readonly rollouts: AssembleOptions
  readonly maxStaleness: number
}
interface AdmitOptions {
  readonly serving: LoadId
  readonly maxStaleness: number
  /** Of the objective: without a ratio to the sampled probabilities nothing grows stale, and imports may be used. */
  readonly needsLogProbs: boolean
}
export interface Admitted {
  readonly rollouts: readonly Rollout[]
  /** For the row: samples_fresh, samples_admitted_stale, samples_dropped, drop_reasons. */
  readonly metrics: JsonObject
}

const STALE_REASONS = ['missing', 'malformed', 'cross_incarnation', 'non_monotonic', 'future', 'policy_lag_exceeded'] as const
type StaleReason = (typeof STALE_REASONS)[number]
type DropReason = UnusableReason | StaleReason | 'missing_log_probs' | 'group_dropped'
type Judged =
  | { readonly group: string | null; readonly reason: DropReason }
  | { readonly group: string | null; readonly reason: null; readonly rollout: Rollout; readonly isStale: boolean }

const STALE: ReadonlySet<string> = new Set([...STALE_REASONS, 'group_dropped'])
/** Matches no load, so that every sample which needs one is dropped. */
const NO_LOAD: LoadId = { incarnation: '', sequence: 0 }

/** Assembles the samples of a batch, by the engine's template where the objective allows it, and admits what is fresh enough. */
export async function collect({ batch, runtime_load_id }: StepOrder, options: CollectOptions, signal: AbortSignal): Promise<Admitted> {
  const { objective, weights, rollouts, maxStaleness } = options
  const assembled: Assembled[] = []
  for (const sample of batch.samples) {
    const read = assembleRollout(sample, rollouts)
    const isEncoded = objective.encodes === true && read.kind === 'unusable' && read.reason === 'missing_tensors'
    const encode = (body: JsonObject, answer: JsonObject) => weights.encode(body, answer, signal)
    assembled.push(isEncoded ? await encodeRollout(sample, encode, rollouts) : read)
  }
  const serving = parseLoadId(runtime_load_id ?? '') ?? NO_LOAD
  // A loss with a ratio divides by the sampled probabilities, whatever its objective declares.
  const needsLogProbs = objective.needsLogProbs || objective.loss !== 'cross_entropy'
  return admitRollouts(assembled, { serving, maxStaleness, needsLogProbs })
}

export function nothingToLearn({ samples_dropped: dropped, drop_reasons: counts }: JsonObject): string {
  if (!isObject(counts) || dropped === 0) return 'the batch holds no sample'
  const reasons = Object.entries(counts)
  const word = reasons.every(([reason]) => STALE.has(reason)) ? 'stale' : 'unusable'
  return `${word}: all ${Number(dropped)} samples were dropped (${reasons.map(([reason, count]) => `${reason} ${Number(count)}`).join(', ')})`
}

/** Members of a group are compared only with each other, so a group that loses one is dropped whole. */
export function admitRollouts(assembled: readonly Assembled[], options: AdmitOptions): Admitted {
  const judged = assembled.map((each) => judge(each, options))
  const brokenGroups = new Set(judged.flatMap(({ group, reason }) => (group === null || reason === null ? [] : [group])))
  const isKept = ({ group }: Judged): boolean => group === null || !brokenGroups.has(group)
  const kept = judged.flatMap((each) => (each.reason === null && isKept(each) ? [each] : []))
  const stale = kept.filter(({ isStale }) => isStale).length
  const reasons = judged.flatMap((each): DropReason | DropReason[] => each.reason ?? (isKept(each) ? [] : ['group_dropped']))
  const counts = [...Map.groupBy(reasons, (reason) => reason)].map(([reason, { length }]) => [reason, length] as const)
  return {
    rollouts: kept.map(({ rollout }) => rollout),
    metrics: {
      samples_fresh: kept.length - stale,
      samples_admitted_stale: stale,
      samples_dropped: judged.length - kept.length,
      drop_reasons: Object.fromEntries(counts),
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

/** Null when fresh enough. The lag is the number of publications since; a greatest lag of 0 admits only the load that is served. */
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
