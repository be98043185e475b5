/** What of a batch can be learnt from now: its samples as rollouts, those that fit and are fresh enough, and what became of the others. */
import { isObject, type JsonObject, type Objective, type Sample, type StepOrder, type WeightRuntime } from '../../contract/index.ts'
import { parseLoadId, type LoadId } from '../load-id.ts'
import { admitRollouts, type Admitted } from '../rollouts/admit.ts'
import { assembleRollout, type Assembled, type AssembleOptions } from '../rollouts/assemble.ts'
import { encodeRollout } from '../rollouts/encode.ts'
import type { StaleReason } from '../rollouts/freshness.ts'

export interface CollectOptions {
  readonly weights: WeightRuntime
  readonly objective: Objective
  readonly rollouts: AssembleOptions
  readonly maxStaleness: number
}

/** No load of anybody: whoever must know what made a sample learns nothing then. */
const NO_LOAD: LoadId = { incarnation: '', sequence: 0 }
const STALE: ReadonlySet<string> = new Set<StaleReason | 'group_dropped'>([
  'missing',
  'malformed',
  'cross_incarnation',
  'non_monotonic',
  'future',
  'policy_lag_exceeded',
  'group_dropped',
])

export async function collect(order: StepOrder, options: CollectOptions, signal: AbortSignal): Promise<Admitted> {
  const { objective, maxStaleness } = options
  const assembled: Assembled[] = []
  for (const sample of order.batch.samples) assembled.push(await assemble(sample, options, signal))
  const serving = parseLoadId(order.runtime_load_id ?? '') ?? NO_LOAD
  // A loss with a ratio divides by what was sampled, whatever its objective says of itself.
  const needsLogProbs = objective.needsLogProbs || objective.loss !== 'cross_entropy'
  return admitRollouts(assembled, { serving, maxStaleness, needsLogProbs })
}

async function assemble(sample: Sample, { weights, objective, rollouts }: CollectOptions, signal: AbortSignal): Promise<Assembled> {
  const assembled = assembleRollout(sample, rollouts)
  if (objective.encodes !== true || assembled.kind === 'rollout' || assembled.reason !== 'missing_tensors') return assembled
  return encodeRollout(sample, (body, answer) => weights.encode(body, answer, signal), rollouts)
}

/** Why there is none, with how many of each. */
export function nothingToLearn({ samples_dropped: dropped, drop_reasons: counts }: JsonObject): string {
  if (!isObject(counts) || dropped === 0) return 'the batch holds no sample'
  const reasons = Object.entries(counts)
  const word = reasons.every(([reason]) => STALE.has(reason)) ? 'stale' : 'unusable'
  return `${word}: all ${Number(dropped)} samples were dropped (${reasons.map(([reason, count]) => `${reason} ${Number(count)}`).join(', ')})`
}
