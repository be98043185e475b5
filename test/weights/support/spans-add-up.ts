/** Checks independently that an accepted exchange accounts for the weights of every token. */
import { ADAPTERS, BASE, INCARNATION, type Accepted, type EngineScenario } from './engine-scenario.ts'

/** All problems. */
export function problemsOf({ frozen, newest, generated, training }: Accepted): readonly string[] {
  const { tokens, loss_mask, rollout_log_probs, runtime_load_id, runtime_load_spans: spans } = training
  const sequences = spans.map((span) => sequenceOf(span.runtime_load_id))
  const covered = spans.flatMap(({ start, end }) => Array.from({ length: end - start }, (_, at) => start + at))
  const rules: Readonly<Record<string, boolean>> = {
    'as many as the client was billed': loss_mask.length === generated && rollout_log_probs.length === generated && generated > 0,
    'a prompt before them': tokens.length > generated,
    'every token in one span, in order': covered.length === generated && covered.every((place, at) => place === at),
    'loads of this life': spans.every((span) => span.runtime_load_id.startsWith(`${INCARNATION}:`)),
    'loads ascend': sequences.every((sequence, at) => at === 0 || sequence > (sequences[at - 1] ?? Infinity)),
    'none before the release that the record names': (sequences[0] ?? -1) >= frozen,
    'none that was not published yet': (sequences.at(-1) ?? Infinity) <= newest,
    'one load is named alone': runtime_load_id === (spans.length === 1 ? spans[0]?.runtime_load_id : null),
    'log-probabilities are numbers': rollout_log_probs.every((value) => Number.isFinite(value) && value <= 1e-3),
  }
  return Object.entries(rules).flatMap(([rule, holds]) => (holds ? [] : [rule]))
}

export const sequenceOf = (loadId: string): number => Number(loadId.split(':')[1])

interface Scored {
  /** The mean distance between the recorded log-probabilities and those of the span's weights. */
  readonly own: number
  /** The same for the nearest other weights. */
  readonly other: number
}

/** Scores every span with every adapter. */
export async function scoreSpans({ training }: Accepted, weights: EngineScenario): Promise<readonly Scored[]> {
  const { tokens, rollout_log_probs: recorded, runtime_load_spans: spans } = training
  const all = Array.from({ length: ADAPTERS + 1 }, (_, at) => at + BASE)
  const scores = new Map<number, readonly number[]>()
  for (const adapter of all) scores.set(adapter, (await weights.score(tokens, adapter)).slice(-recorded.length))
  return spans.map(({ start, end, runtime_load_id }) => {
    const off = (adapter: number): number => distance(recorded.slice(start, end), scores.get(adapter)?.slice(start, end) ?? [])
    const made = weights.publications[sequenceOf(runtime_load_id)] ?? Number.NaN
    return { own: off(made), other: Math.min(...all.filter((adapter) => adapter !== made).map(off)) }
  })
}

const distance = (one: readonly number[], other: readonly number[]): number =>
  one.reduce((sum, value, at) => sum + Math.abs(value - (other[at] ?? Number.NaN)), 0) / one.length
