/** All measurements as one flat list: by contestant, window and round. */

import type { Failures } from './jobs.ts'
import type { ContestantName, PartName } from './options.ts'
import { median } from './stats.ts'

export interface Sample {
  readonly part: PartName
  readonly round: number
  readonly who: ContestantName | 'disk'
  readonly window: string
  /** Names end in the unit. */
  readonly metrics: Readonly<Record<string, number>>
  readonly failures: Failures
}

/** Selects one measure over all rounds. */
export interface Series {
  readonly part: PartName
  readonly who: Sample['who']
  readonly window: string
  readonly metric: string
}

/** The values of a series by round. A window with failures has no cost, so its round is missing. */
function byRound(samples: readonly Sample[], series: Series): ReadonlyMap<number, number> {
  const found = samples.filter(({ part, who, window }) => part === series.part && who === series.who && window === series.window)
  const clean = found.filter((sample) => Object.keys(sample.failures).length === 0)
  return new Map(clean.map((sample) => [sample.round, sample.metrics[series.metric] ?? Number.NaN]))
}

export function middle(samples: readonly Sample[], series: Series): number {
  return median([...byRound(samples, series).values()])
}

/** The largest value over the smallest. */
export function unsteadiness(samples: readonly Sample[], series: Series): number {
  const values = [...byRound(samples, series).values()]
  return Math.max(...values) / Math.min(...values)
}

/** The median over rounds of two combined series: pairing by round cancels drift. */
function paired(samples: readonly Sample[], one: Series, other: Series, combine: (a: number, b: number) => number): number {
  const others = byRound(samples, other)
  const values = [...byRound(samples, one)].flatMap(([round, value]) => {
    const against = others.get(round)
    return against === undefined ? [] : [combine(value, against)]
  })
  return median(values)
}

export function ratio(samples: readonly Sample[], one: Series, other: Series): number {
  return paired(samples, one, other, (a, b) => a / b)
}

export function difference(samples: readonly Sample[], one: Series, other: Series): number {
  return paired(samples, one, other, (a, b) => a - b)
}

export function total(samples: readonly Sample[], metric: string): number {
  return samples.reduce((sum, sample) => sum + (sample.metrics[metric] ?? 0), 0)
}

export function failureCount(samples: readonly Sample[]): number {
  return samples.reduce((sum, sample) => sum + Object.values(sample.failures).reduce((a, b) => a + b, 0), 0)
}
