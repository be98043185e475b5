/** The latest exchanges in numbers over time: how many, how quick, how large. */
import type { RecordRow } from '@svc-ai/client'
import type { PlotPoint } from '../../ui/plot-layout.ts'

/** Stretches that people read off a clock. */
const STRETCHES: readonly number[] = [1, 5, 15, 60, 300, 900, 3600, 4 * 3600, 86_400, 7 * 86_400]
const STRETCHES_MAX = 48

/** Each point stands at the begin of its stretch, in seconds since the epoch. */
export function statsOf(all: readonly RecordRow[]) {
  const rows = all.filter(({ created_at: at }) => Number.isFinite(at))
  const times = rows.map(({ created_at: at }) => at)
  const [from, to] = [times.reduce((a, b) => Math.min(a, b), Infinity), times.reduce((a, b) => Math.max(a, b), -Infinity)]
  const stretchSeconds = STRETCHES.find((seconds) => (to - from) / seconds <= STRETCHES_MAX) ?? (to - from) / STRETCHES_MAX
  const groups = [...Map.groupBy(rows, ({ created_at: at }) => Math.floor(at / stretchSeconds))]
  const inOrder = groups.sort(([a], [b]) => a - b).map(([stretch, members]) => ({ x: stretch * stretchSeconds, members }))
  const points = (value: (members: readonly RecordRow[]) => number | null): readonly PlotPoint[] =>
    inOrder.flatMap(({ x, members }) => {
      const y = value(members)
      return y === null ? [] : [{ x, y }]
    })
  return {
    stretchSeconds,
    requests: withQuiet(
      points(({ length }) => length),
      stretchSeconds,
    ),
    failures: points((members) => members.filter(({ summary }) => summary?.complete === false).length || null),
    latencyMedian: points((members) => quantile(latencies(members), 0.5)),
    latencySlow: points((members) => quantile(latencies(members), 0.95)),
    tokensIn: points((members) => sum(members, 'input_tokens')),
    tokensOut: points((members) => sum(members, 'output_tokens')),
  }
}

/** Where nothing came in there were none; that is a value too. */
function withQuiet(points: readonly PlotPoint[], stretchSeconds: number): readonly PlotPoint[] {
  return points.flatMap((point, at) => {
    const before = points[at - 1]
    const missing = before === undefined ? 0 : Math.round((point.x - before.x) / stretchSeconds) - 1
    const quiet = Array.from({ length: missing }, (_, step) => ({ x: (before?.x ?? 0) + (step + 1) * stretchSeconds, y: 0 }))
    return [...quiet, point]
  })
}

const latencies = (rows: readonly RecordRow[]): readonly number[] =>
  rows.flatMap(({ summary }) => (summary === undefined ? [] : [summary.latency_ms / 1000])).sort((a, b) => a - b)

/** Of numbers in order: the smallest that so large a part of them does not exceed. */
function quantile(sorted: readonly number[], part: number): number | null {
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? null
}

/** Null where tokens were not counted, which is not the same as none. */
function sum(rows: readonly RecordRow[], field: 'input_tokens' | 'output_tokens'): number | null {
  const counts = rows.flatMap(({ summary }) => summary?.[field] ?? [])
  return counts.length === 0 ? null : counts.reduce((total, count) => total + count, 0)
}
