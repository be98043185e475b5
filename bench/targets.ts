/** The performance targets, as ratios within one run where possible. */

import { BARE, HISTORIES, startWindow } from './boot.ts'
import { CROWD_STREAMS } from './parts.ts'
import { difference, failureCount, middle, ratio, type Sample, type Series, total } from './samples.ts'
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

const DURABLE_CPU: Series = { part: 'json', who: 'svc-durable', window: 'c=32', metric: 'cpu_micros' }
const DURABLE_RATE: Series = { part: 'json', who: 'svc-durable', window: 'c=64', metric: 'per_second' }
const IMPORT_RATE: Series = { part: 'import', who: 'svc-durable', window: 'batches', metric: 'per_second' }

/** The phases of a start, and how many seconds a million records may add to each. */
const STARTED = [
  ['first answer', 'health_ms', 0.25],
  ['first report', 'report_ms', 0.75],
  ['all scenarios loaded', 'loaded_ms', 2],
] as const

export function judge(samples: readonly Sample[]): readonly Target[] {
  const toPortkey = ratio(samples, DURABLE_CPU, { ...DURABLE_CPU, who: 'portkey' })
  const toNginx = ratio(samples, DURABLE_CPU, { ...DURABLE_CPU, who: 'nginx' })
  const toMemory = ratio(samples, DURABLE_RATE, { ...DURABLE_RATE, who: 'svc-memory' })
  const toBefore = ratio(samples, DURABLE_CPU, { ...DURABLE_CPU, who: 'svc-before' })
  const firstToken = addedTtft(samples, 'svc-durable') / addedTtft(samples, 'portkey')
  const imported = middle(samples, IMPORT_RATE)
  return [
    speed('CPU per request, durable / Portkey, c=32', '<= 1/12', part(toPortkey), toPortkey, (value) => value <= 1 / 12),
    speed('CPU per request, durable / nginx, c=32', '<= 8', toNginx.toFixed(2), toNginx, (value) => value <= 8),
    speed('requests/s, durable / memory store, c=64', '>= 0.50', toMemory.toFixed(2), toMemory, (value) => value >= 0.5),
    speed('added time to first token, durable / Portkey', '<= 1/10', part(firstToken), firstToken, (value) => value <= 1 / 10),
    speed('import, records/s', '>= 15,000', Math.round(imported).toLocaleString('en'), imported, (value) => value >= 15_000),
    speed('CPU per request, durable / before, c=32', '<= 1.02', toBefore.toFixed(3), toBefore, (value) => value <= 1.02),
    ...besideTrainers(samples),
    ...starts(samples),
    ...correctness(samples),
  ]
}

/** Accepting a record must not wait for a step. */
function besideTrainers(samples: readonly Sample[]): readonly Target[] {
  return (['report', 'inference'] as const).flatMap((load) =>
    STATES.filter((busy) => busy > 0).map((busy) => {
      const value = acceptance(samples, { load, busy, metric: 'p99_ms' })
      return speed(`${load} p99, ${busy} busy trainers / none`, '<= 1.30', value.toFixed(2), value, (ratioOf) => ratioOf <= 1.3)
    }),
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

/** What a million records add to an almost empty start. */
function starts(samples: readonly Sample[]): readonly Target[] {
  return HISTORIES.flatMap((history) => {
    const title = startWindow(history)
    return STARTED.map(([what, metric, seconds]) => {
      const series: Series = { part: 'boot', who: 'svc-durable', window: title, metric }
      const added = difference(samples, series, { ...series, window: startWindow(BARE) }) / 1000
      return speed(`${what}, ${title} records, added`, `<= ${seconds} s`, `${added.toFixed(2)} s`, added, (value) => value <= seconds)
    })
  })
}

function correctness(samples: readonly Sample[]): readonly Target[] {
  const service = samples.filter(({ who }) => who === 'svc-memory' || who === 'svc-durable')
  const crowd = service.filter(({ part: name }) => name === 'streams')
  const streamed = service.filter(({ metrics }) => metrics['frames'] !== undefined)
  return [
    none('receipts lost after kill -9', service, 'receipts_missing', 'receipts'),
    none('frames lost, all streams', streamed, 'frames_lost', 'frames'),
    none(`frames lost, ${count(CROWD_STREAMS)} streams at once`, crowd, 'frames_lost', 'frames'),
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

function speed(what: string, wanted: string, got: string, value: number, reaches: (value: number) => boolean): Target {
  if (Number.isNaN(value)) return { what, wanted, got: '-', met: undefined, kind: 'speed' }
  return { what, wanted, got, met: reaches(value), kind: 'speed' }
}

/** Met only if there was something to lose. */
function none(what: string, samples: readonly Sample[], lost: string, stake: string): Target {
  const all = total(samples, stake)
  return noneOf(what, total(samples, lost), all, all > 0)
}

function noneOf(what: string, lost: number, all: number, measured: boolean): Target {
  const got = measured ? `${count(lost)} of ${count(all)}` : '-'
  return { what, wanted: '0', got, met: measured ? lost === 0 : undefined, kind: 'correctness' }
}

function part(value: number): string {
  return value > 0 ? `1/${(1 / value).toFixed(1)}` : value.toFixed(2)
}

function count(value: number): string {
  return value.toLocaleString('en')
}
