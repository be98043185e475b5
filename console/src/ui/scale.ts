/** The arithmetic of a plot: what an axis spans, where its marks stand, and where a value lies on it. */

export type AxisSpan = readonly [least: number, most: number]

const NOTHING: AxisSpan = [0, 1]

/** Of an axis along which values lie; what is no number does not count. A single value gets room on both sides. */
export function spanOf(values: Iterable<number>): AxisSpan {
  let [least, most] = [Infinity, -Infinity]
  for (const value of values) {
    if (!Number.isFinite(value)) continue
    least = Math.min(least, value)
    most = Math.max(most, value)
  }
  if (least > most) return NOTHING
  return least === most ? [least - 0.5, most + 0.5] : [least, most]
}

/** Of an axis that heights are read off: zero is always on it, and it ends at a round number. */
export function heightSpanOf(values: Iterable<number>, marks: number): AxisSpan {
  let [least, most] = [0, 0]
  for (const value of values) if (Number.isFinite(value)) [least, most] = [Math.min(least, value), Math.max(most, value)]
  if (least === most) return NOTHING
  const step = roundStep((most - least) / Math.max(1, marks))
  return [Math.floor(least / step) * step, Math.ceil(most / step) * step]
}

export function scaleOf([least, most]: AxisSpan, [from, to]: AxisSpan): (value: number) => number {
  const width = most - least || 1
  return (value) => from + ((value - least) / width) * (to - from)
}

/** Round numbers within the span, about as many as asked for. */
export function marksOf([least, most]: AxisSpan, count: number): readonly number[] {
  const step = roundStep((most - least) / Math.max(1, count))
  return stepsFrom(Math.ceil(least / step - TOLERANCE) * step, most + step * TOLERANCE, step)
}
/** Adding up tenths never gives whole numbers. */
const TOLERANCE = 1e-9

/** The next 1, 2 or 5 of a power of ten. */
export function roundStep(rough: number): number {
  if (!(rough > 0) || !Number.isFinite(rough)) return 1
  const power = 10 ** Math.floor(Math.log10(rough))
  const factor = [1, 2, 5, 10].find((each) => each * power >= rough * (1 - TOLERANCE)) ?? 10
  return Number((factor * power).toPrecision(12))
}

/** Steps of a clock, in seconds. */
const TIME_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800]

export function timeStep(roughSeconds: number): number {
  const week = 604_800
  return TIME_STEPS.find((step) => step >= roughSeconds) ?? week * roundStep(roughSeconds / week)
}

/** In seconds since the epoch, at even times of the reader's own clock. */
export function timeMarksOf([least, most]: AxisSpan, count: number, offsetSeconds: number): readonly number[] {
  const step = timeStep((most - least) / Math.max(1, count))
  return stepsFrom(Math.ceil((least + offsetSeconds) / step) * step - offsetSeconds, most, step)
}

const MARKS_MAX = 50

function stepsFrom(first: number, most: number, step: number): readonly number[] {
  const count = Math.max(0, Math.min(MARKS_MAX, Math.floor((most - first) / step + TOLERANCE) + 1))
  return Array.from({ length: count }, (_, place) => Number((first + place * step).toPrecision(15)))
}

/** A mark's moment: the time of day while marks are closer than a day, else the date. */
export function timeMark(at: number, { step }: { readonly step: number }): string {
  const moment = new Date(at * 1000)
  if (step >= 86_400) return moment.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })
  return moment.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit', ...(step < 60 && { second: '2-digit' }) })
}

/** The place in an ascending list whose value is nearest; -1 in an empty one. */
export function nearest(values: readonly number[], wanted: number): number {
  if (values.length === 0) return -1
  let [low, high] = [0, values.length - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((values[middle] ?? 0) < wanted) low = middle + 1
    else high = middle
  }
  const [before, at] = [values[low - 1], values[low] ?? 0]
  return before !== undefined && wanted - before <= at - wanted ? low - 1 : low
}
