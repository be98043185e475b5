/** Percentiles and medians. */

/** NaN for an empty list. */
function percentile(sorted: ArrayLike<number>, share: number): number {
  if (sorted.length === 0) return Number.NaN
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle]
  if (upper === undefined) return Number.NaN
  const lower = sorted.length % 2 === 0 ? (sorted[middle - 1] ?? upper) : upper
  return (lower + upper) / 2
}

export interface Spread {
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly max: number
}

export function spread(values: readonly number[]): Spread {
  const sorted = Float64Array.from(values).sort()
  return { p50: percentile(sorted, 0.5), p90: percentile(sorted, 0.9), p99: percentile(sorted, 0.99), max: percentile(sorted, 1) }
}
