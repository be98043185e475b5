/** Where everything of a plot stands: its axes, its lines or bars, and the values under each place one may point at. Pure. */
import { bytePower, bytes, duration } from '../../../src/presentation/index.ts'
import { brief } from './figures.ts'
import { heightSpanOf, marksOf, scaleOf, spanOf, timeMark, timeMarksOf, type AxisSpan } from './scale.ts'

export type PlotTone = 'accent' | 'good' | 'warn' | 'bad' | 'plain'
export type PlotKind = 'line' | 'bars' | 'points'

export interface PlotPoint {
  readonly x: number
  readonly y: number
  /** Said in place of x. */
  readonly label?: string
  /** Where it lies with confidence: drawn as a whisker. */
  readonly interval?: AxisSpan
}
export interface PlotSeries {
  readonly name: string
  readonly tone?: PlotTone
  readonly points: readonly PlotPoint[]
}
export interface PlotData {
  readonly series: readonly PlotSeries[]
  /** Bars of several series at one place stand on each other. */
  readonly kind: PlotKind
  /** 'bytes' and 's' scale to fitting units; any other stands after the number. */
  readonly unit?: string | undefined
  /** Seconds since the epoch along x. */
  readonly xIsTime: boolean
  /** What places along x are called; others have no mark. Absent: marks are numbers or times. */
  readonly xNames?: ReadonlyMap<number, string> | undefined
}

export interface PlotColumn {
  readonly x: number
  /** In pixels. */
  readonly at: number
  readonly label: string
  readonly values: readonly {
    readonly name: string
    readonly tone: PlotTone
    readonly y: number
    readonly at: number
    readonly whisker: Whisker | null
  }[]
}
/** Its ends in pixels, and what they stand for. */
interface Whisker {
  readonly from: number
  readonly to: number
  readonly interval: AxisSpan
}
interface Mark {
  readonly at: number
  readonly text: string
}
export type PlotLayout = ReturnType<typeof layoutOf>

const TOP = 8
const BOTTOM = 24
const RIGHT = 12
const PIXELS_PER_CHARACTER = 6.6
const PIXELS_PER_X_MARK = 64
const PIXELS_PER_NAME = 40
const PIXELS_PER_Y_MARK = 36
const BAR_WIDTH_MAX = 28
const BAR_SHARE = 0.76
const TONES: readonly PlotTone[] = ['accent', 'plain', 'good', 'warn', 'bad']

export function layoutOf(data: PlotData, width: number, height: number) {
  const stacks = stacksOf(data)
  const xs = [...stacks.keys()].toSorted((one, other) => one - other)
  const [top, bottom, right] = [TOP, Math.max(TOP + 1, height - BOTTOM), Math.max(RIGHT + 1, width - RIGHT)]
  const ySpan = ySpanOf(data, stacks, bottom - top)
  const yTexts = ySpan.marks.map((value) => valueText(value, data.unit))
  const left = Math.min(right - 1, 10 + Math.max(...yTexts.map((text) => text.length)) * PIXELS_PER_CHARACTER)
  const gap = gapOf(xs)
  const xSpan = data.kind === 'bars' ? withRoom(spanOf(xs), gap / 2) : spanOf(xs)
  const [xAt, yAt] = [scaleOf(xSpan, [left, right]), scaleOf(ySpan.span, [bottom, top])]
  const columns = xs.map((x) => columnOf(x, stacks.get(x) ?? [], data, xAt, yAt))
  const barWidth = Math.max(1, Math.min(BAR_WIDTH_MAX, (xAt(gap) - xAt(0)) * BAR_SHARE))
  return {
    left,
    right,
    top,
    bottom,
    columns,
    xMarks:
      data.xNames === undefined
        ? xMarksOf(xs, xSpan, data.xIsTime, Math.floor((right - left) / PIXELS_PER_X_MARK)).map(({ at, text }) => ({ at: xAt(at), text }))
        : namedMarks(xs, data.xNames, xAt),
    yMarks: ySpan.marks.map((value, place) => ({ at: yAt(value), text: yTexts[place] ?? '' })),
    lines: data.kind === 'bars' ? [] : linesOf(data, xAt, yAt),
    bars: data.kind === 'bars' ? columns.flatMap((column) => barsOf(column, barWidth, yAt)) : [],
  }
}

interface Valued {
  readonly name: string
  readonly tone: PlotTone
  readonly y: number
  readonly label: string | undefined
  readonly interval: AxisSpan | null
}

/** By x, the values of every series that has one there. What is no number is not drawn. */
function stacksOf({ series, kind }: PlotData): ReadonlyMap<number, readonly Valued[]> {
  const stacks = new Map<number, Valued[]>()
  series.forEach(({ name, tone, points }, place) => {
    for (const { x, y, label, interval } of points.filter(isDrawn)) {
      const stack = stacks.get(x) ?? []
      stack.push({ name, tone: tone ?? toneAt(place), y, label, interval: kind === 'bars' ? null : (interval ?? null) })
      stacks.set(x, stack)
    }
  })
  return stacks
}

const isDrawn = ({ x, y }: PlotPoint): boolean => Number.isFinite(x) && Number.isFinite(y)

export const toneAt = (place: number): PlotTone => TONES[place % TONES.length] ?? 'plain'

function ySpanOf(
  { kind, unit }: PlotData,
  stacks: ReadonlyMap<number, readonly Valued[]>,
  pixels: number,
): { span: AxisSpan; marks: readonly number[] } {
  const values = [...stacks.values()].flatMap((stack) =>
    kind === 'bars' ? [sumOf(stack)] : stack.flatMap(({ y, interval }) => [y, ...(interval ?? [])]),
  )
  const count = Math.max(1, Math.min(5, Math.floor(pixels / PIXELS_PER_Y_MARK)))
  // Round numbers of bytes are those of their unit.
  const size = unit === 'bytes' ? 1024 ** bytePower(values.reduce((most, value) => Math.max(most, value), 0)) : 1
  const [least, most] = heightSpanOf(
    values.map((value) => value / size),
    count,
  )
  return { span: [least * size, most * size], marks: marksOf([least, most], count).map((mark) => mark * size) }
}

const sumOf = (stack: readonly Valued[]): number => stack.reduce((sum, { y }) => sum + y, 0)

/** The least distance between two neighbours; 1 where there are none. */
function gapOf(xs: readonly number[]): number {
  const gaps = xs.slice(1).map((x, place) => x - (xs[place] ?? 0))
  return gaps.length === 0 ? 1 : gaps.reduce((least, gap) => Math.min(least, gap), Infinity)
}

const withRoom = ([least, most]: AxisSpan, room: number): AxisSpan => [least - room, most + room]

/** A value as its axis and its readout show it. */
export function valueText(value: number, unit: string | undefined): string {
  if (unit === 'bytes') return bytes(value)
  if (unit === 's') return duration(value)
  return unit === undefined ? brief(value) : `${brief(value)} ${unit}`
}

function columnOf(x: number, stack: readonly Valued[], data: PlotData, xAt: (x: number) => number, yAt: (y: number) => number): PlotColumn {
  let below = 0
  const values = stack.map(({ name, tone, y, interval }) => {
    below += y
    const whisker = interval?.every(Number.isFinite) ? { from: yAt(interval[0]), to: yAt(interval[1]), interval } : null
    return { name, tone, y, at: yAt(data.kind === 'bars' ? below : y), whisker }
  })
  const label = stack.find((value) => value.label !== undefined)?.label
  return { x, at: xAt(x), label: label ?? (data.xIsTime ? momentOf(x) : brief(x)), values }
}

const momentOf = (x: number): string => new Date(x * 1000).toLocaleString('en-GB')

/** As many as have room beside each other. */
function namedMarks(xs: readonly number[], names: ReadonlyMap<number, string>, xAt: (x: number) => number): readonly Mark[] {
  const marks: Mark[] = []
  for (const x of xs) {
    const [text, last] = [names.get(x), marks.at(-1)]
    if (text !== undefined && (last === undefined || xAt(x) - last.at >= PIXELS_PER_NAME)) marks.push({ at: xAt(x), text })
  }
  return marks
}

function xMarksOf(xs: readonly number[], span: AxisSpan, isTime: boolean, count: number): readonly Mark[] {
  if (xs.length === 0) return []
  if (!isTime) {
    const marks = marksOf(span, Math.max(2, count))
    return (xs.every(Number.isInteger) ? marks.filter(Number.isInteger) : marks).map((at) => ({ at, text: brief(at) }))
  }
  const marks = timeMarksOf(span, Math.max(2, count), -60 * new Date(span[0] * 1000).getTimezoneOffset())
  const step = (marks[1] ?? span[1]) - (marks[0] ?? span[0])
  return marks.map((at) => ({ at, text: timeMark(at, { step }) }))
}

function linesOf({ series }: PlotData, xAt: (x: number) => number, yAt: (y: number) => number) {
  return series.map(({ name, tone, points }, place) => {
    const drawn = points.filter(isDrawn).toSorted((one, other) => one.x - other.x)
    const path = drawn.map(({ x, y }, n) => `${n === 0 ? 'M' : 'L'}${pixel(xAt(x))} ${pixel(yAt(y))}`).join('')
    return { name, tone: tone ?? toneAt(place), path }
  })
}

const pixel = (value: number): number => Number(value.toFixed(1))

function barsOf({ at, values }: PlotColumn, width: number, yAt: (y: number) => number) {
  let base = yAt(0)
  return values.map((value) => {
    const y = Math.min(base, value.at)
    const height = Math.abs(base - value.at)
    base = value.at
    return { x: pixel(at - width / 2), y: pixel(y), width: pixel(width), height: pixel(height), tone: value.tone }
  })
}
