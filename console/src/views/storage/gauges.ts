/** The latest readings of a service while the view is open, and the lines they make. Pure. */
import type { PlotPoint } from '../../ui/plot-layout.ts'
import { NO_TRAFFIC, quantile, since, together, trafficByRoute, valueOf, type MetricSample } from '../../data/metrics.ts'

export type Reading = ReturnType<typeof readingOf>

/** `at` is in seconds since the epoch. */
export function readingOf(at: number, samples: readonly MetricSample[]) {
  return {
    at,
    memoryBytes: valueOf(samples, 'process_resident_memory_bytes'),
    cpuSeconds: valueOf(samples, 'process_cpu_seconds_total'),
    bodyBytes: valueOf(samples, 'svc_record_body_bytes'),
    routes: trafficByRoute(samples),
  }
}

/** Ten minutes at a reading every two seconds. */
const READINGS_MAX = 300

/** Readings from the future, after the clock was set back, are dropped. */
export const withReading = (readings: readonly Reading[], next: Reading): readonly Reading[] =>
  [...readings.filter(({ at }) => at < next.at), next].slice(-READINGS_MAX)

/** Rates and times need two readings; a time in which nothing was asked has none. */
export function linesOf(readings: readonly Reading[]) {
  const between = readings.slice(1).map((after, place) => betweenOf(readings[place] ?? after, after))
  return {
    rate: points(between, ({ rate }) => rate),
    median: points(between, ({ traffic }) => quantile(traffic, 0.5)),
    slow: points(between, ({ traffic }) => quantile(traffic, 0.95)),
    memory: points(readings, ({ memoryBytes }) => memoryBytes),
    cpu: points(between, ({ cpu }) => cpu),
  }
}

const points = <T extends { readonly at: number }>(from: readonly T[], y: (each: T) => number | null): readonly PlotPoint[] =>
  from.flatMap((each) => {
    const value = y(each)
    return value === null ? [] : [{ x: each.at, y: value }]
  })

/** `cpu` is in percent of one core. */
function betweenOf(before: Reading, after: Reading) {
  const seconds = after.at - before.at
  const traffic = since(together(before.routes.values()), together(after.routes.values()))
  const cpu =
    before.cpuSeconds === null || after.cpuSeconds === null ? null : Math.max(0, (100 * (after.cpuSeconds - before.cpuSeconds)) / seconds)
  return { at: after.at, traffic, rate: traffic.count / seconds, cpu }
}

/** By route, the busiest first; the rate is that between the last two readings. */
export function routeRows(readings: readonly Reading[]) {
  const [before, after] = [readings.at(-2), readings.at(-1)]
  if (after === undefined) return []
  const seconds = before === undefined ? Infinity : after.at - before.at
  const rows = [...after.routes].map(([route, traffic]) => ({
    route,
    count: traffic.count,
    failed: traffic.failed,
    rate: since(before?.routes.get(route) ?? NO_TRAFFIC, traffic).count / seconds,
    median: quantile(traffic, 0.5),
    slow: quantile(traffic, 0.95),
  }))
  return rows.toSorted((one, other) => other.count - one.count)
}
