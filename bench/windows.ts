/** Measures one window: runs the load and adds a sample with its results and costs. */

import type { Failures, JsonJob } from './jobs.ts'
import { costMetrics } from './rig.ts'
import type { Turn } from './rounds.ts'

/** Shared by all windows of a turn. */
export function common({ rig, receiptsFile }: Turn): Pick<JsonJob, 'seconds' | 'receiptsFile'> {
  return { seconds: rig.options.seconds, ...(receiptsFile === undefined ? {} : { receiptsFile }) }
}

export async function jsonWindow(turn: Turn, window: string, job: JsonJob): Promise<void> {
  const { result, cost } = await turn.rig.measure(turn.running, job)
  const { p50, p90, p99, max } = result.latencyMs
  const seen = {
    requests: result.requests,
    per_second: result.requests / result.seconds,
    p50_ms: p50,
    p90_ms: p90,
    p99_ms: p99,
    max_ms: max,
  }
  note(turn, window, { ...seen, ...costMetrics(cost, result.requests) }, result.failures)
}

export function note(
  { rig, part, round, contestant }: Turn,
  window: string,
  metrics: Readonly<Record<string, number>>,
  failures: Failures = {},
): void {
  rig.samples.push({ part: part.name, round, who: contestant.name, window, metrics, failures })
}
