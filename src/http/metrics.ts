/** Counts requests and training steps, and prints them in Prometheus' text format. */
import { isObject, type Commit, type Fleet, type StepOutcome, type StoreUsage } from '../contract/index.ts'

const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

/** What steps took, as their rows name it. */
const SPENT = ['input_tokens', 'cached_tokens', 'output_tokens', 'cost', 'unpriced_calls'] as const

/** Refusals that are counted by their codes. These are printed from the start: Prometheus sees no growth in a series that begins above 0. */
const CODES = {
  limited: ['requests_limit', 'tokens_limit', 'cost_limit', 'concurrency_limit', 'upstream_queue', 'wrong_tokens'],
  unauthorized: ['unauthorized', 'token_expired', 'role_forbids', 'other_scenario'],
} as const
const REFUSED = ['limited', 'unauthorized'] as const
type RefusedKind = (typeof REFUSED)[number]

interface Series {
  count: number
  sum: number
  readonly buckets: number[]
}

/** What a listener thread counted since it last said so, and its requests in flight. Plain data. */
export interface Counted {
  readonly series: readonly (readonly [route: string, status: number, counted: Series])[]
  readonly incompleteStreams: number
  readonly relayed: number
  readonly refused: readonly (readonly [kind: RefusedKind, code: string, count: number])[]
  readonly inFlight: number
}

/** How the listener threads are. */
export interface ListenerCounts {
  readonly wanted: number
  readonly live: number
  readonly lost: number
  readonly inFlight: number
}

/** How a target of webhooks is. */
export interface WebhookCounts {
  readonly name: string
  readonly delivered: number
  readonly failed: number
  readonly waiting: number
  readonly setAside: number
}

/** What workers on other machines do. */
type FleetCounts = Pick<Fleet, 'workers' | 'waiting' | 'unplayable' | 'running' | 'waited_seconds' | 'last_hour'>

export class Metrics {
  readonly #byRoute = new Map<string, Map<number, Series>>()
  readonly #steps: Record<StepOutcome, number> = { published: 0, pending: 0, rejected: 0, skipped: 0, failed: 0 }
  readonly #spent = { input_tokens: 0, cached_tokens: 0, output_tokens: 0, cost: 0, unpriced_calls: 0 }
  #inFlight = 0
  #incompleteStreams = 0
  #relayed = 0
  readonly #refused: Readonly<Record<RefusedKind, Map<string, number>>> = { limited: new Map(), unauthorized: new Map() }

  begin(): void {
    this.#inFlight += 1
  }

  end(route: string, status: number, seconds: number): void {
    this.#inFlight -= 1
    const series = this.#seriesOf(route, status)
    series.count += 1
    series.sum += seconds
    const bucket = BUCKETS_SECONDS.findIndex((limit) => seconds <= limit)
    if (bucket !== -1) series.buckets[bucket] = (series.buckets[bucket] ?? 0) + 1
  }

  streamInterrupted(): void {
    this.#incompleteStreams += 1
  }

  /** A listener thread passed a request on to the main thread, which counts it too. */
  relayed(): void {
    this.#relayed += 1
  }

  /** A request was refused for a limit, or for its token. */
  refused(kind: RefusedKind, code: string, count = 1): void {
    const byCode = this.#refused[kind]
    byCode.set(code, (byCode.get(code) ?? 0) + count)
  }

  step({ outcome, metrics: { spent } }: Pick<Commit, 'outcome' | 'metrics'>): void {
    this.#steps[outcome] += 1
    if (!isObject(spent)) return
    for (const name of SPENT) this.#spent[name] += typeof spent[name] === 'number' ? spent[name] : 0
  }

  /** Answers with what was counted, and starts over. */
  take(): Counted {
    const series = [...this.#byRoute].flatMap(([route, byStatus]) => [...byStatus].map(([status, each]) => [route, status, each] as const))
    const refused = REFUSED.flatMap((kind) => [...this.#refused[kind]].map(([code, count]) => [kind, code, count] as const))
    const counted = {
      series,
      incompleteStreams: this.#incompleteStreams,
      relayed: this.#relayed,
      refused,
      inFlight: this.#inFlight,
    }
    this.#byRoute.clear()
    this.#incompleteStreams = 0
    this.#relayed = 0
    for (const kind of REFUSED) this.#refused[kind].clear()
    return counted
  }

  /** Adds what another thread counted; its requests in flight are not its alone to count. */
  add({ series, incompleteStreams, relayed, refused }: Counted): void {
    for (const [kind, code, count] of refused) this.refused(kind, code, count)
    this.#incompleteStreams += incompleteStreams
    this.#relayed += relayed
    for (const [route, status, { count, sum, buckets }] of series) {
      const own = this.#seriesOf(route, status)
      own.count += count
      own.sum += sum
      for (const [at, inBucket] of buckets.entries()) own.buckets[at] = (own.buckets[at] ?? 0) + inBucket
    }
  }

  #seriesOf(route: string, status: number): Series {
    const byStatus = this.#byRoute.get(route) ?? new Map<number, Series>()
    this.#byRoute.set(route, byStatus)
    const series = byStatus.get(status) ?? { count: 0, sum: 0, buckets: BUCKETS_SECONDS.map(() => 0) }
    byStatus.set(status, series)
    return series
  }

  print(
    usage: StoreUsage,
    isWritable: boolean,
    scenarios: { known: number; loaded: number; training: number; waiting: number },
    http: {
      readonly logLinesDropped: number
      readonly bodyBytes: number
      readonly certificateExpiresAt: number | null
      readonly isRetentionHeld: boolean
    },
    spans?: { readonly exported: number; readonly dropped: number },
    listeners?: ListenerCounts,
    webhooks?: readonly WebhookCounts[],
    fleet?: FleetCounts,
  ): string {
    const lines = [
      ...this.#requests(),
      ...gauge('svc_requests_in_flight', 'Requests being answered now.', this.#inFlight + (listeners?.inFlight ?? 0)),
      ...listenerLines(listeners, this.#relayed),
      ...this.#refusals('svc_requests_limited_total', 'Requests refused for a limit.', 'limited'),
      ...this.#refusals('svc_requests_unauthorized_total', 'Requests refused for their token.', 'unauthorized'),
      ...gauge('svc_large_body_bytes_in_flight', 'Bytes of large request bodies held now.', http.bodyBytes),
      ...certificateLines(http.certificateExpiresAt),
      ...counter('svc_log_lines_dropped_total', 'Log lines dropped because they were not read in time.', http.logLinesDropped),
      ...counter('svc_streams_interrupted_total', 'Streams kept as incomplete.', this.#incompleteStreams),
      ...gauge('svc_scenarios', 'Scenarios that exist.', scenarios.known),
      ...gauge('svc_scenarios_loaded', 'Scenarios loaded in this process.', scenarios.loaded),
      ...gauge('svc_training_steps_running', 'Training steps that run now.', scenarios.training),
      ...gauge('svc_training_steps_waiting', 'Trainers that have work and wait for their turn.', scenarios.waiting),
      ...this.#stepsByResult(),
      ...this.#spentBySteps(),
      ...gauge('svc_store_writable', '1 while the record store takes writes, 0 while it refuses them.', isWritable ? 1 : 0),
      ...gauge('svc_records', 'Records kept, evicted ones included.', usage.records),
      ...gauge('svc_record_body_bytes', 'Bytes that the record bodies kept take in the store.', usage.body_bytes),
      ...gauge('svc_record_capacity_bytes', 'Bytes that record bodies may take in this store.', usage.capacity_bytes),
      ...counter('svc_records_lost_total', 'Record bodies evicted by capacity.', usage.lost_records),
      ...counter('svc_record_bytes_lost_total', 'Bytes of record bodies evicted by capacity.', usage.lost_bytes),
      ...counter('svc_records_expired_total', 'Record bodies removed because of their age.', usage.expired_records ?? 0),
      ...counter('svc_record_bytes_expired_total', 'Bytes of record bodies removed because of their age.', usage.expired_bytes ?? 0),
      ...gauge(
        'svc_retention_held',
        '1 while no body is removed for its age, because the clock moved ahead by days.',
        http.isRetentionHeld ? 1 : 0,
      ),
      ...(spans === undefined ? [] : counter('svc_spans_exported_total', 'Spans the collector took.', spans.exported)),
      ...(spans === undefined ? [] : counter('svc_spans_dropped_total', 'Spans that were made and not delivered.', spans.dropped)),
      ...webhookLines(webhooks),
      ...fleetLines(fleet),
      ...gauge('process_resident_memory_bytes', 'Resident memory.', process.memoryUsage.rss()),
      ...counter('process_cpu_seconds_total', 'CPU time of all threads.', cpuSeconds()),
    ]
    return `${lines.join('\n')}\n`
  }

  #refusals(name: string, help: string, kind: RefusedKind): string[] {
    const counts = new Map([...CODES[kind].map((code): [string, number] => [code, 0]), ...this.#refused[kind]])
    const series = [...counts].map(([code, count]) => `${name}{code="${code}"} ${count}`)
    return [`# HELP ${name} ${help}`, `# TYPE ${name} counter`, ...series]
  }

  #stepsByResult(): string[] {
    const name = 'svc_training_steps_total'
    const series = Object.entries(this.#steps).map(([result, count]) => `${name}{result="${result}"} ${count}`)
    return [`# HELP ${name} Training steps that settled.`, `# TYPE ${name} counter`, ...series]
  }

  #spentBySteps(): string[] {
    const { input_tokens: input, cached_tokens: cached, output_tokens: output, cost, unpriced_calls: unpriced } = this.#spent
    const name = 'svc_training_tokens_total'
    return [
      `# HELP ${name} Tokens that settled steps took; cached ones are among those in.`,
      `# TYPE ${name} counter`,
      ...Object.entries({ input, cached, output }).map(([kind, count]) => `${name}{kind="${kind}"} ${count}`),
      ...counter('svc_training_cost_total', 'Money that they took, of calls with a price.', cost),
      ...counter('svc_training_unpriced_calls_total', 'Model calls of them without a price.', unpriced),
    ]
  }

  #requests(): string[] {
    const lines = ['# HELP svc_request_seconds Time from a request to the end of its answer.', '# TYPE svc_request_seconds histogram']
    for (const [route, byStatus] of this.#byRoute)
      for (const [status, series] of byStatus) lines.push(...histogram(`route="${route}",status="${status}"`, series))
    return lines
  }
}

function fleetLines(fleet: FleetCounts | undefined): string[] {
  if (fleet === undefined || (fleet.workers.length === 0 && fleet.waiting === 0)) return []
  return [
    ...gauge('svc_workers', 'Workers that were heard of in the last ten minutes.', fleet.workers.length),
    ...gauge('svc_episodes_waiting', 'Episodes that wait for a worker.', fleet.waiting),
    ...gauge(
      'svc_episodes_unplayable',
      'Episodes that have waited for more than a minute and that no worker can play.',
      fleet.unplayable.reduce((sum, { episodes }) => sum + episodes, 0),
    ),
    ...gauge('svc_episodes_running', 'Episodes that workers play now.', fleet.running),
    ...gauge('svc_episodes_waited_seconds', 'How long the oldest episode has waited for a worker.', fleet.waited_seconds),
    ...gauge('svc_episodes_last_hour', 'Episodes that workers played in the last hour.', fleet.last_hour.episodes),
    ...gauge('svc_episodes_mean_wait_seconds', 'How long those waited for a worker, on average.', fleet.last_hour.mean_wait_seconds),
    ...gauge('svc_episodes_cost_last_hour', 'What their model calls cost, by limits.prices.', fleet.last_hour.cost),
  ]
}

function webhookLines(webhooks: readonly WebhookCounts[] | undefined): string[] {
  if (webhooks === undefined) return []
  const name = 'svc_webhook_deliveries_total'
  const results = webhooks.flatMap(({ name: webhook, delivered, failed }) =>
    Object.entries({ delivered, failed }).map(([result, count]) => `${name}{webhook="${webhook}",result="${result}"} ${count}`),
  )
  const waiting = 'svc_webhook_scenarios_waiting'
  const aside = 'svc_webhook_events_set_aside'
  return [
    `# HELP ${name} Attempts to tell a target of an event.`,
    `# TYPE ${name} counter`,
    ...results,
    `# HELP ${waiting} Scenarios with rows that a target was not told of yet.`,
    `# TYPE ${waiting} gauge`,
    ...webhooks.map((each) => `${waiting}{webhook="${each.name}"} ${each.waiting}`),
    `# HELP ${aside} Events that a target refused again and again, which are sent again later.`,
    `# TYPE ${aside} gauge`,
    ...webhooks.map((each) => `${aside}{webhook="${each.name}"} ${each.setAside}`),
  ]
}

const certificateLines = (expiresAt: number | null): string[] =>
  expiresAt === null ? [] : gauge('svc_tls_certificate_expiry_timestamp_seconds', 'When the certificate of the service expires.', expiresAt)

function listenerLines(listeners: ListenerCounts | undefined, relayed: number): string[] {
  if (listeners === undefined) return []
  return [
    ...gauge('svc_listeners_wanted', 'Listener threads that there should be.', listeners.wanted),
    ...gauge('svc_listeners', 'Listener threads that accept connections.', listeners.live),
    ...counter('svc_requests_relayed_total', 'Requests that listener threads passed on to the main thread.', relayed),
    ...counter('svc_listeners_lost_total', 'Listener threads that ended and were replaced.', listeners.lost),
  ]
}

function histogram(labels: string, { count, sum, buckets }: Series): string[] {
  let below = 0
  const lines = BUCKETS_SECONDS.map((limit, index) => {
    below += buckets[index] ?? 0
    return `svc_request_seconds_bucket{${labels},le="${limit}"} ${below}`
  })
  return [
    ...lines,
    `svc_request_seconds_bucket{${labels},le="+Inf"} ${count}`,
    `svc_request_seconds_sum{${labels}} ${sum}`,
    `svc_request_seconds_count{${labels}} ${count}`,
  ]
}

const gauge = (name: string, help: string, value: number): string[] => metric('gauge', name, help, value)
const counter = (name: string, help: string, value: number): string[] => metric('counter', name, help, value)

function metric(type: string, name: string, help: string, value: number): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, `${name} ${value}`]
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}
