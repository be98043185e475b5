/** The result as tables: goals, costs per contestant, and the machine. */

import type { Environment } from './environment.ts'
import type { Options } from './options.ts'
import { CONCURRENCIES, LISTENERS_WINDOW } from './parts.ts'
import { PROMOTE_WINDOW } from './promote.ts'
import { THREAD_METRIC } from './rig.ts'
import { difference, failureCount, middle, type Sample, type Series, total, unsteadiness } from './samples.ts'
import { SESSIONS_WINDOW } from './sessions.ts'
import { START_WINDOW } from './start.ts'
import { median } from './stats.ts'
import type { Block, Table } from './tables.ts'
import { acceptance, addedTtft, type Target } from './targets.ts'
import { WITH_LIMITS, WITHOUT_LIMITS } from './limits.ts'
import { LOADS, PACE, STATES, trainersWindow, windowOf } from './training.ts'

type Who = Sample['who']

const LABELS: Partial<Record<Who, string>> = {
  'node-relay': 'node:http and undici alone',
  portkey: 'Portkey (Node 20)',
  'portkey-our-node': 'Portkey (our Node)',
  litellm: 'LiteLLM',
  reef: 'the original',
  'svc-memory': 'svc, memory',
  'svc-durable': 'svc, 1 listener',
  'svc-2-listeners': 'svc, 2 listeners',
  'svc-before': 'svc, before',
}

const MIB = 1024 * 1024
/** A larger change of the direct line between rounds means that the machine was busy. */
const UNSTEADY_ABOVE = 1.2
/** A slower upstream affects the measurement. */
const UPSTREAM_FASTER = 5
/** More CPU use by other processes invalidates the training part. */
const OTHERS_CORES = 0.1

export function report(
  options: Options,
  environment: Environment,
  samples: readonly Sample[],
  targets: readonly Target[],
): readonly Block[] {
  return [goals(targets), ...measures(options, samples), machine(options, environment)]
}

/** The same for a page: what this run did not measure is left out. */
export function pageReport(options: Options, environment: Environment, samples: readonly Sample[], targets: readonly Target[]) {
  return report(
    options,
    environment,
    samples,
    targets.filter(({ got }) => got !== '-'),
  )
}

function goals(targets: readonly Target[]): Table {
  return { titles: ['goal', 'wanted', 'measured', ''], rows: targets.map(({ what, wanted, got, met }) => [what, wanted, got, mark(met)]) }
}

function measures(options: Options, samples: readonly Sample[]): readonly Block[] {
  return [
    costs(options, samples),
    threads(samples),
    streams(samples),
    listeners(samples),
    promotes(samples),
    training(samples),
    limits(samples),
    emptyStarts(samples),
    sessions(samples),
    starts(samples),
    disk(samples),
    notes(samples),
  ]
}

function machine(options: Options, environment: Environment): string {
  const { node, kernel, cores, cpu, fileSystem, nginx, portkey, litellm, reef, commit, loadAverage } = environment
  return [
    `Node ${node}, kernel ${kernel}, ${cores} x ${cpu}, ${fileSystem}`,
    `nginx ${nginx}, Portkey ${portkey}, LiteLLM ${litellm}, reef-infra ${reef}, commit ${commit}, load ${loadAverage.map((load) => load.toFixed(2)).join(' ')}`,
    `medians of ${options.rounds} interleaved rounds of ${options.seconds} s windows; format ${options.format}; added = less direct in the same round`,
  ].join('\n')
}

function mark(met: boolean | undefined): string {
  if (met === undefined) return '-'
  return met ? 'met' : 'MISSED'
}

/** One row per measure, one column per contestant. */
function costs({ contestants }: Options, samples: readonly Sample[]): Table {
  const json = (window: string, metric: string) => (who: Who) => middle(samples, tiny(who, window, metric))
  const added = (metric: string) => (who: Who) => difference(samples, tiny(who, 'c=1', metric), tiny('direct', 'c=1', metric))
  const diskP50 = (middle(samples, tiny('disk', 'before', 'p50_ms')) + middle(samples, tiny('disk', 'after', 'p50_ms'))) / 2
  const shape = (window: string) => (who: Who) => middle(samples, { part: 'shapes', who, window, metric: 'cpu_micros' })
  const lines: readonly (readonly [string, (who: Who) => number])[] = [
    ['CPU us/request, c=32', json('c=32', 'cpu_micros')],
    ['CPU us/request, 16 KB, c=32', shape('tool')],
    ['CPU us/request, 400 KB, c=8', shape('context')],
    ...CONCURRENCIES.map((concurrency) => [`requests/s, c=${concurrency}`, json(`c=${concurrency}`, 'per_second')] as const),
    ['added p50 ms, c=1', added('p50_ms')],
    ['added p99 ms, c=1', added('p99_ms')],
    ['added p50 / fdatasync p50', (who) => added('p50_ms')(who) / diskP50],
    ['added time to first token ms', (who) => addedTtft(samples, who)],
    ['CPU us/frame, streams in a row', (who) => middle(samples, { part: 'sse', who, window: 'in a row', metric: 'cpu_micros' })],
    ['RSS MiB after c=64', (who) => json('c=64', 'rss_bytes')(who) / MIB],
    ['receipts lost after kill -9', (who) => receiptsLost(samples, who)],
    ['failures', (who) => failureCount(samples.filter((sample) => sample.who === who))],
  ]
  const rows = lines.map(([title, of]) => [title, ...contestants.map((who) => fine(of(who)))])
  return { titles: ['', ...contestants.map(labelOf)], rows: rows.filter(([, ...cells]) => cells.some((cell) => cell !== '-')) }
}

/** NaN where none were given out. */
function receiptsLost(samples: readonly Sample[], who: Who): number {
  const own = samples.filter((sample) => sample.who === who)
  return total(own, 'receipts') === 0 ? Number.NaN : total(own, 'receipts_missing')
}

function labelOf(who: Who): string {
  return LABELS[who] ?? who
}

/** The service's CPU time per request by thread, from one microsecond on. */
function threads(samples: readonly Sample[]): string {
  const lines = (['svc-memory', 'svc-durable', 'svc-2-listeners'] as const).map((who) => {
    const seen = samples.filter((sample) => sample.part === 'json' && sample.who === who && sample.window === 'c=32')
    const names = new Set(seen.flatMap(({ metrics }) => Object.keys(metrics).filter((metric) => metric.startsWith(THREAD_METRIC))))
    const shares = [...names].map((metric) => ({
      name: metric.slice(THREAD_METRIC.length),
      micros: middle(samples, tiny(who, 'c=32', metric)),
    }))
    const large = shares.filter(({ micros }) => micros >= 1).map(({ name, micros }) => `${name} ${micros.toFixed(0)}`)
    return large.length === 0 ? '' : `${labelOf(who)}, CPU us/request by thread: ${large.join(', ')}`
  })
  return lines.filter((line) => line !== '').join('\n')
}

function tiny(who: Who, window: string, metric: string): Series {
  return { part: 'json', who, window, metric }
}

function streams(samples: readonly Sample[]): Table {
  const found = samples.filter(({ part, who }) => part === 'streams' && who !== 'disk')
  const counts = ['streams', 'frames', 'frames_lost', 'frames_merged', 'stalls']
  const metrics = [...counts, 'ttft_p50_ms', 'ttft_p99_ms', 'gap_p99_ms', 'gap_max_ms', 'cpu_micros']
  const rows = [...new Set(found.map(({ who }) => who))].map((who) => {
    const of = (metric: string): number => middle(samples, { part: 'streams', who, window: 'crowd', metric })
    return [labelOf(who), ...metrics.map((metric) => fine(of(metric))), whole(of('rss_peak_bytes') / MIB)]
  })
  return { titles: ['1,000 streams at once', ...metrics, 'peak RSS MiB'], rows }
}

/** One row per contestant, one column per metric of that window. */
function windowTable(samples: readonly Sample[], of: Pick<Series, 'part' | 'window'>, columns: readonly Column[]): Table {
  const who = new Set(samples.filter(({ part, window }) => part === of.part && window === of.window).map((sample) => sample.who))
  const cell = (name: Who, { metric, unit = 1 }: Column): string => fine(middle(samples, { ...of, who: name, metric }) / unit)
  const rows = [...who].map((name) => [labelOf(name), ...columns.map((column) => cell(name, column))])
  return { titles: [`${of.part}: ${of.window}`, ...columns.map(({ title }) => title)], rows }
}

interface Column {
  readonly title: string
  readonly metric: string
  readonly unit?: number
}

function listeners(samples: readonly Sample[]): Table {
  return windowTable(samples, { part: 'listeners', window: LISTENERS_WINDOW }, [
    { title: 'requests/s', metric: 'per_second' },
    { title: 'CPU us/request', metric: 'cpu_micros' },
    { title: 'p99 ms', metric: 'p99_ms' },
    { title: 'RSS MiB', metric: 'rss_bytes', unit: MIB },
  ])
}

function promotes(samples: readonly Sample[]): Table {
  return windowTable(samples, { part: 'promote', window: PROMOTE_WINDOW }, [
    { title: 'promotes', metric: 'moves' },
    { title: 'answered p50 ms', metric: 'answered_p50_ms' },
    { title: 'answered p99 ms', metric: 'answered_p99_ms' },
    { title: 'seen p50 ms', metric: 'seen_p50_ms' },
    { title: 'seen p99 ms', metric: 'seen_p99_ms' },
    { title: 'old release afterwards', metric: 'stale' },
  ])
}

function emptyStarts(samples: readonly Sample[]): Table {
  return windowTable(samples, { part: 'start', window: START_WINDOW }, [
    { title: 'first answer s', metric: 'first_answer_ms', unit: 1000 },
    { title: 'first request s', metric: 'first_request_ms', unit: 1000 },
    { title: 'CPU s', metric: 'cpu_ms', unit: 1000 },
    { title: 'RSS MiB when idle', metric: 'rss_bytes', unit: MIB },
  ])
}

function sessions(samples: readonly Sample[]): Table {
  return windowTable(samples, { part: 'sessions', window: SESSIONS_WINDOW }, [
    { title: 'sent, MiB per session', metric: 'sent_bytes', unit: MIB },
    { title: 'on disk, MiB per session', metric: 'stored_bytes', unit: MIB },
    { title: 'CPU us/request', metric: 'cpu_micros' },
  ])
}

/** Client latency while trainers are busy, and the trainers' CPU use. */
function training(samples: readonly Sample[]): Table {
  const rows = LOADS.flatMap((load) =>
    STATES.map((busy) => {
      const who = load === 'upstream alone' ? 'direct' : 'svc-durable'
      const of = (metric: string): number => middle(samples, { part: 'training', who, window: windowOf(load, busy), metric })
      const against = (metric: string): string => (busy === 0 ? '' : fine(acceptance(samples, { load, busy, metric })))
      const cores = (metric: string): string =>
        fine(middle(samples, { part: 'training', who: 'svc-durable', window: trainersWindow(busy), metric }))
      const times = ['p50_ms', 'p99_ms', 'max_ms'].map((metric) => fine(of(metric)))
      return [windowOf(load, busy), ...times, against('p50_ms'), against('p99_ms'), cores('cores'), cores('others_cores')]
    }),
  )
  const title = `trainers busy, ${PACE.perSecond} requests/s on ${PACE.concurrency} connections`
  return {
    titles: [title, 'p50 ms', 'p99 ms', 'max ms', 'p50 / none', 'p99 / none', 'trainers, cores', 'others, cores'],
    rows: rows.filter(([, p50]) => p50 !== '-'),
  }
}

function limits(samples: readonly Sample[]): Table {
  const rows = [WITHOUT_LIMITS, WITH_LIMITS].map((window) => {
    const of = (metric: string): number => middle(samples, { part: 'limits', who: 'svc-durable', window, metric })
    return [window, whole(of('per_second')), whole(of('cpu_micros')), whole(of('rss_bytes') / MIB)]
  })
  const isMeasured = samples.some(({ part }) => part === 'limits')
  return { titles: ['limits', 'requests/s', 'CPU us/request', 'RSS MiB'], rows: isMeasured ? rows : [] }
}

function starts(samples: readonly Sample[]): Table {
  const found = samples.filter(({ part, metrics }) => part === 'boot' && metrics['health_ms'] !== undefined)
  const rows = [...new Set(found.map(({ window }) => window))].map((window) => {
    const of = (metric: string): number => middle(samples, { part: 'boot', who: 'svc-durable', window, metric })
    const seconds = ['health_ms', 'report_ms', 'loaded_ms', 'cpu_ms'].map((metric) => fine(of(metric) / 1000))
    return [window, ...seconds, whole(of('rss_bytes') / MIB)]
  })
  return { titles: ['start: scenarios x records', 'first answer s', 'first report s', 'all loaded s', 'CPU s', 'RSS MiB'], rows }
}

function disk(samples: readonly Sample[]): string {
  const found = samples.filter(({ who }) => who === 'disk')
  if (found.length === 0) return ''
  const of = (metric: string): string => {
    const values = found.map(({ metrics }) => metrics[metric] ?? Number.NaN)
    return `${fine(median(values))} (${fine(Math.min(...values))} to ${fine(Math.max(...values))})`
  }
  return `append 4 KB + fdatasync, median and range of rounds: p50 ${of('p50_ms')} ms, p99 ${of('p99_ms')} ms, ${of('per_second')} per second`
}

function notes(samples: readonly Sample[]): string {
  const direct: Series = { part: 'json', who: 'direct', window: 'c=32', metric: 'per_second' }
  const moved = unsteadiness(samples, direct)
  const fastest = Math.max(...(['svc-memory', 'svc-durable'] as const).map((who) => middle(samples, { ...direct, who })))
  const others = Math.max(...samples.map(({ metrics }) => metrics['others_cores'] ?? 0))
  return [
    others > OTHERS_CORES
      ? `not alone: others had up to ${others.toFixed(2)} cores beside busy trainers, so those ratios are theirs too; run again on a quieter machine`
      : '',
    moved > UNSTEADY_ABOVE ? `unsteady: the direct line moved by ${moved.toFixed(2)} between rounds; run again on a quieter machine` : '',
    middle(samples, direct) < fastest * UPSTREAM_FASTER
      ? 'bound by the upstream or the load generator: direct is less than 5 times the service'
      : '',
  ]
    .filter((line) => line !== '')
    .join('\n')
}

function whole(value: number): string {
  return Number.isNaN(value) ? '-' : Math.round(value).toLocaleString('en')
}

function fine(value: number): string {
  if (Number.isNaN(value)) return '-'
  return Math.abs(value) >= 100 || Number.isInteger(value) ? whole(value) : value.toFixed(2)
}
