/** Numbers for a monitor, read out of Prometheus' text form, and what two readings say about the time between them. Pure. */

export interface MetricSample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** Lines that are no sample are passed over. */
export function readMetrics(text: string): readonly MetricSample[] {
  return text.split('\n').flatMap((line) => sampleOf(line) ?? [])
}

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?[ \t]+([+-]?Inf|NaN|[+-]?[\d.]+(?:[eE][+-]?\d+)?)(?:[ \t]+-?\d+)?[ \t]*$/
const LABEL = /(?<!\w)([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g

function sampleOf(line: string): MetricSample | null {
  const [, name, labels = '', number = ''] = SAMPLE.exec(line) ?? []
  if (name === undefined) return null
  const value = number === '+Inf' ? Infinity : number === '-Inf' ? -Infinity : Number(number)
  return {
    name,
    labels: Object.fromEntries(Array.from(labels.matchAll(LABEL), ([, key = '', text = '']) => [key, unescaped(text)])),
    value,
  }
}

const unescaped = (text: string): string => text.replaceAll(/\\(.)/g, (_, letter: string) => (letter === 'n' ? '\n' : letter))

export const valueOf = (samples: readonly MetricSample[], name: string): number | null =>
  samples.find((sample) => sample.name === name)?.value ?? null

export interface RouteTraffic {
  readonly count: number
  readonly failed: number
  readonly seconds: number
  /** By upper limit in seconds, ascending: how many took no longer. */
  readonly buckets: readonly (readonly [limit: number, count: number])[]
}

export function trafficByRoute(samples: readonly MetricSample[]): ReadonlyMap<string, RouteTraffic> {
  const own = samples.filter(({ name, labels }) => labels['route'] !== undefined && name.startsWith('svc_request_seconds_'))
  const routes = Map.groupBy(own, ({ labels }) => labels['route'] ?? '')
  return new Map([...routes].map(([route, counted]) => [route, trafficOf(counted)]))
}

const sumOf = (samples: readonly MetricSample[], part: string): number =>
  samples.reduce((sum, { name, value }) => (name === `svc_request_seconds_${part}` ? sum + value : sum), 0)

function trafficOf(samples: readonly MetricSample[]): RouteTraffic {
  const buckets = new Map<number, number>()
  for (const { name, labels, value } of samples) {
    if (name !== 'svc_request_seconds_bucket') continue
    const limit = labels['le'] === '+Inf' ? Infinity : Number(labels['le'])
    buckets.set(limit, (buckets.get(limit) ?? 0) + value)
  }
  return {
    count: sumOf(samples, 'count'),
    failed: sumOf(
      samples.filter(({ labels }) => labels['status']?.startsWith('5') === true),
      'count',
    ),
    seconds: sumOf(samples, 'sum'),
    buckets: [...buckets].toSorted(([one], [other]) => one - other),
  }
}

export function together(traffics: Iterable<RouteTraffic>): RouteTraffic {
  return [...traffics].reduce((all, traffic) => combined(all, traffic, 1), NO_TRAFFIC)
}

export const NO_TRAFFIC: RouteTraffic = { count: 0, failed: 0, seconds: 0, buckets: [] }

/** What came in between two readings. A service that was started again counts from nothing, and so does this. */
export function since(before: RouteTraffic, after: RouteTraffic): RouteTraffic {
  return after.count < before.count ? after : combined(after, before, -1)
}

function combined(one: RouteTraffic, other: RouteTraffic, sign: 1 | -1): RouteTraffic {
  const buckets = new Map(one.buckets)
  for (const [limit, count] of other.buckets) buckets.set(limit, (buckets.get(limit) ?? 0) + sign * count)
  return {
    count: one.count + sign * other.count,
    failed: one.failed + sign * other.failed,
    seconds: one.seconds + sign * other.seconds,
    buckets: [...buckets].toSorted(([left], [right]) => left - right),
  }
}

/** The time within which this share of the requests was answered, as near as the buckets show; null without any. */
export function quantile({ buckets }: RouteTraffic, share: number): number | null {
  const total = buckets.at(-1)?.[1] ?? 0
  if (total <= 0) return null
  const wanted = total * share
  let [below, from] = [0, 0]
  for (const [limit, count] of buckets) {
    // What took longer than the last limit took at least that long; more is not known.
    if (limit === Infinity) return from
    if (count >= wanted) return from + (limit - from) * ((wanted - below) / Math.max(1, count - below))
    below = count
    from = limit
  }
  return from
}
