/** The performance targets, as ratios within one run where possible. */

import { BARE, HISTORIES, startWindow } from './boot.ts'
import { hasCoresApart } from './cores.ts'
import { canHalveCores } from './half-cores.ts'
import { WITH_LIMITS, WITHOUT_LIMITS } from './limits.ts'
import { CROWD_STREAMS, LISTENERS_WINDOW } from './parts.ts'
import { PROMOTE_WINDOW } from './promote.ts'
import { difference, failureCount, middle, ratio, type Sample, type Series, total } from './samples.ts'
import { SESSIONS_WINDOW } from './sessions.ts'
import { START_WINDOW } from './start.ts'
import { STATES, windowOf } from './training.ts'

export interface Target {
  readonly what: string
  readonly wanted: string
  readonly got: string
  /** Undefined when this run measured too little. */
  readonly met: boolean | undefined
  /** The short run fails only on correctness. */
  readonly kind: 'correctness' | 'speed'
}

/** One goal: a number out of the samples, and its limit. */
interface Goal {
  readonly what: string
  readonly of: (samples: readonly Sample[]) => number
  readonly limit: { readonly atMost: number } | { readonly atLeast: number }
  /** How a value and the limit are written. */
  readonly as: (value: number) => string
  /** Why this machine cannot show it; the value is printed and not judged. */
  readonly moot?: () => string | undefined
}

const MIB = 1024 * 1024
const CPU: Series = { part: 'json', who: 'svc-durable', window: 'c=32', metric: 'cpu_micros' }
const RATE: Series = { part: 'json', who: 'svc-durable', window: 'c=64', metric: 'per_second' }
const SHAPE_CPU: Series = { part: 'shapes', who: 'svc-durable', window: 'tool', metric: 'cpu_micros' }
const BUSY: Series = { part: 'listeners', who: 'svc-durable', window: LISTENERS_WINDOW, metric: 'per_second' }
const CROWD: Series = { part: 'streams', who: 'svc-durable', window: 'crowd', metric: 'ttft_p99_ms' }
const PROMOTED: Series = { part: 'promote', who: 'svc-durable', window: PROMOTE_WINDOW, metric: 'seen_p99_ms' }
const START: Series = { part: 'start', who: 'svc-durable', window: START_WINDOW, metric: 'first_answer_ms' }
const STORED: Series = { part: 'sessions', who: 'svc-durable', window: SESSIONS_WINDOW, metric: 'stored_share' }
const LIMITED: Series = { part: 'limits', who: 'svc-durable', window: WITH_LIMITS, metric: 'cpu_micros' }
const IMPORTED: Series = { part: 'import', who: 'svc-durable', window: 'batches', metric: 'per_second' }

const FIRST_ANSWER_MS_MAX = 400
/** The phases of a start, and how many seconds a million records may add to each. */
const STARTED = [
  ['first answer', 'health_ms', 0.25],
  ['first report', 'report_ms', 0.75],
  ['all scenarios loaded', 'loaded_ms', 2],
] as const

const times = (value: number): string => value.toFixed(2)
const micros = (value: number): string => `${whole(value)} µs`
const millis = (value: number): string => `${whole(value)} ms`
const mebibytes = (value: number): string => `${whole(value)} MiB`
const against = (series: Series, who: Sample['who']) => (samples: readonly Sample[]) => ratio(samples, series, { ...series, who })
const value =
  (series: Series, unit = 1) =>
  (samples: readonly Sample[]) =>
    middle(samples, series) / unit
const TWO = { who: 'svc-2-listeners' } as const

const GOALS: readonly Goal[] = [
  { what: 'CPU per request, one listener / nginx, c=32', of: against(CPU, 'nginx'), limit: { atMost: 6.5 }, as: times },
  { what: 'CPU per request, one listener / Portkey, c=32', of: against(CPU, 'portkey'), limit: { atMost: 1 / 12 }, as: share },
  { what: 'CPU per request of 16 KB, one listener', of: value(SHAPE_CPU), limit: { atMost: 250 }, as: micros },
  { what: 'CPU per request of 400 KB, one listener', of: value({ ...SHAPE_CPU, window: 'context' }), limit: { atMost: 2200 }, as: micros },
  {
    what: 'requests/s, two listeners / one, on two cores',
    of: (samples) => ratio(samples, { ...BUSY, ...TWO }, BUSY),
    limit: { atLeast: 1.5 },
    as: times,
    moot: () =>
      hasCoresApart() || canHalveCores() ? undefined : 'not judged: fewer than 4 cores, so the load shares those of the service',
  },
  { what: 'CPU per request, one listener / before, c=32', of: against(CPU, 'svc-before'), limit: { atMost: 1.02 }, as: times },
  {
    what: `CPU per request, ${WITH_LIMITS} / ${WITHOUT_LIMITS}`,
    of: (samples) => ratio(samples, LIMITED, { ...LIMITED, window: WITHOUT_LIMITS }),
    limit: { atMost: 1.06 },
    as: times,
  },
  { what: 'requests/s, durable / memory store, c=64', of: against(RATE, 'svc-memory'), limit: { atLeast: 0.5 }, as: times },
  {
    what: 'added time to first token, one listener / Portkey',
    of: (samples) => addedTtft(samples, 'svc-durable') / addedTtft(samples, 'portkey'),
    limit: { atMost: 1 / 10 },
    as: share,
  },
  { what: `${whole(CROWD_STREAMS)} new streams, first token p99, one listener`, of: value(CROWD), limit: { atMost: 1000 }, as: millis },
  {
    what: `${whole(CROWD_STREAMS)} new streams, first token p99, two listeners`,
    of: value({ ...CROWD, ...TWO }),
    limit: { atMost: 1000 },
    as: millis,
  },
  { what: 'promote seen by every connection p99, one listener', of: value(PROMOTED), limit: { atMost: 100 }, as: millis },
  { what: 'promote seen by every connection p99, two listeners', of: value({ ...PROMOTED, ...TWO }), limit: { atMost: 100 }, as: millis },
  { what: 'first answer after an empty start', of: value(START), limit: { atMost: FIRST_ANSWER_MS_MAX }, as: millis },
  { what: 'memory when idle, one listener', of: value({ ...START, metric: 'rss_bytes' }, MIB), limit: { atMost: 110 }, as: mebibytes },
  { what: 'bytes on disk / bytes sent, agent sessions of 100 turns', of: value(STORED), limit: { atMost: 0.1 }, as: share },
  { what: 'import, records/s', of: value(IMPORTED), limit: { atLeast: 15_000 }, as: whole },
  ...besideTrainers(),
  ...starts(),
]

export function judge(samples: readonly Sample[]): readonly Target[] {
  return [...GOALS.map((goal) => judgeGoal(goal, samples)), ...correctness(samples)]
}

function judgeGoal({ what, of, limit, as, moot }: Goal, samples: readonly Sample[]): Target {
  const got = of(samples)
  const wanted = 'atMost' in limit ? `<= ${as(limit.atMost)}` : `>= ${as(limit.atLeast)}`
  if (Number.isNaN(got)) return { what, wanted, got: '-', met: undefined, kind: 'speed' }
  const why = moot?.()
  if (why !== undefined) return { what, wanted, got: `${as(got)} (${why})`, met: undefined, kind: 'speed' }
  return { what, wanted, got: as(got), met: 'atMost' in limit ? got <= limit.atMost : got >= limit.atLeast, kind: 'speed' }
}

/** Accepting a record must not wait for a step. */
function besideTrainers(): readonly Goal[] {
  return (['report', 'inference'] as const).flatMap((load) =>
    STATES.filter((busy) => busy > 0).map((busy) => ({
      what: `${load} p99, ${busy} busy trainers / none`,
      of: (samples: readonly Sample[]) => acceptance(samples, { load, busy, metric: 'p99_ms' }),
      limit: { atMost: 1.3 },
      as: times,
    })),
  )
}

/** The median ratio of a time with busy trainers to the same without. */
export function acceptance(
  samples: readonly Sample[],
  { load, busy, metric }: { readonly load: Parameters<typeof windowOf>[0]; readonly busy: number; readonly metric: string },
): number {
  const who = load === 'upstream alone' ? 'direct' : 'svc-durable'
  const series: Series = { part: 'training', who, window: windowOf(load, busy), metric }
  return ratio(samples, series, { ...series, window: windowOf(load, 0) })
}

/** The first answer with a million records, and what they add to an almost empty start, in seconds, by its phases. */
function starts(): readonly Goal[] {
  return HISTORIES.flatMap((history) => [
    {
      what: `first answer, ${startWindow(history)} records`,
      of: value({ part: 'boot', who: 'svc-durable', window: startWindow(history), metric: 'health_ms' }),
      limit: { atMost: FIRST_ANSWER_MS_MAX },
      as: millis,
    },
    ...STARTED.map(([what, metric, secondsMax]) => {
      const series: Series = { part: 'boot', who: 'svc-durable', window: startWindow(history), metric }
      return {
        what: `${what}, ${startWindow(history)} records, added`,
        of: (samples: readonly Sample[]) => difference(samples, series, { ...series, window: startWindow(BARE) }) / 1000,
        limit: { atMost: secondsMax },
        as: (seconds: number) => `${seconds.toFixed(2)} s`,
      }
    }),
  ])
}

function correctness(samples: readonly Sample[]): readonly Target[] {
  const service = samples.filter(({ who }) => who === 'svc-memory' || who === 'svc-durable' || who === 'svc-2-listeners')
  const crowd = service.filter(({ part: name }) => name === 'streams')
  const streamed = service.filter(({ metrics }) => metrics['frames'] !== undefined)
  return [
    none('receipts lost after kill -9', service, 'receipts_missing', 'receipts'),
    none(
      'receipts lost after kill -9, two listeners',
      service.filter(({ who }) => who === TWO.who),
      'receipts_missing',
      'receipts',
    ),
    none('frames lost, all streams', streamed, 'frames_lost', 'frames'),
    none(`frames lost, ${whole(CROWD_STREAMS)} streams at once`, crowd, 'frames_lost', 'frames'),
    none('answers by an old release after a promote was answered', service, 'stale', 'moves'),
    none('trainers that do not stand back', service, 'trainers_eager', 'trainers'),
    none('scenarios missing after a start', service, 'scenarios_missing', 'scenarios'),
    none('reports left unread after a start', service, 'backlog_left', 'backlog'),
    noneOf('failed requests', failureCount(service), total(service, 'requests') + total(service, 'streams'), service.length > 0),
  ]
}

/** The median of this contestant's time to first token minus the direct one. */
export function addedTtft(samples: readonly Sample[], who: Sample['who']): number {
  const paced: Series = { part: 'sse', who, window: 'paced', metric: 'ttft_p50_ms' }
  return difference(samples, paced, { ...paced, who: 'direct' })
}

/** Met only if there was something to lose. */
function none(what: string, samples: readonly Sample[], lost: string, stake: string): Target {
  const all = total(samples, stake)
  return noneOf(what, total(samples, lost), all, all > 0)
}

function noneOf(what: string, lost: number, all: number, measured: boolean): Target {
  const got = measured ? `${whole(lost)} of ${whole(all)}` : '-'
  return { what, wanted: '0', got, met: measured ? lost === 0 : undefined, kind: 'correctness' }
}

function share(value_: number): string {
  return value_ > 0 ? `1/${(1 / value_).toFixed(1)}` : value_.toFixed(2)
}

function whole(value_: number): string {
  return Math.round(value_).toLocaleString('en')
}
