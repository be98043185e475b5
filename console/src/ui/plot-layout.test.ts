import { describe, expect, it } from 'vitest'
import { layoutOf, valueText, type PlotData } from './plot-layout.ts'

const data = (changes: Partial<PlotData>): PlotData => ({ kind: 'line', xIsTime: false, series: [], ...changes })
const points = (...ys: readonly number[]) => ys.map((y, x) => ({ x, y }))
const whiskered = (...interval: [number, number]) => ({ x: interval[0], y: 0.5, interval })

describe('a plot', () => {
  it('without values has axes and nothing on them', () => {
    const { columns, xMarks, yMarks, lines, bars } = layoutOf(data({}), 300, 160)
    expect({ columns, xMarks, lines, bars }).toEqual({ columns: [], xMarks: [], lines: [], bars: [] })
    expect(yMarks.length).toBeGreaterThan(1)
  })

  it('puts the values of every series that share an x under one place, in the order of x', () => {
    const series = [
      { name: 'a', points: points(1, 2) },
      {
        name: 'b',
        points: [
          { x: 1, y: 5 },
          { x: -1, y: 4, label: 'before' },
        ],
      },
    ]
    const { columns } = layoutOf(data({ series }), 300, 160)
    expect(columns.map(({ label, values }) => [label, values.map(({ name, y }) => `${name} ${y}`)])).toEqual([
      ['before', ['b 4']],
      ['0', ['a 1']],
      ['1', ['a 2', 'b 5']],
    ])
  })

  it('leaves out what is no number', () => {
    const { lines, columns } = layoutOf(data({ series: [{ name: 'a', points: points(1, Number.NaN, Infinity, 2) }] }), 300, 160)
    expect(columns).toHaveLength(2)
    expect(lines[0]?.path).toMatch(/^M[\d.]+ [\d.]+L[\d.]+ [\d.]+$/)
  })

  it('keeps every mark and value between its edges', () => {
    const { columns, left, right, top, bottom, xMarks, yMarks } = layoutOf(
      data({ series: [{ name: 'a', points: points(3, 900, -40) }] }),
      300,
      160,
    )
    for (const { at, values } of columns) {
      expect(at).toBeGreaterThanOrEqual(left)
      expect(at).toBeLessThanOrEqual(right)
      for (const value of values) expect(value.at).toBeGreaterThanOrEqual(top)
    }
    expect(xMarks.map(({ text }) => text)).toEqual(['0', '1', '2'])
    expect(yMarks.every(({ at }) => at >= top && at <= bottom)).toBe(true)
  })

  it('keeps the whiskers of its points between its edges, and draws none without two ends', () => {
    const { columns, top, bottom } = layoutOf(
      data({ series: [{ name: 'a', points: [whiskered(-3, 9), whiskered(0.25, 0.75), whiskered(0, Infinity)] }] }),
      300,
      160,
    )
    const whiskers = columns.flatMap(({ values }) => values.map(({ whisker }) => whisker))
    expect(whiskers.map((each) => each?.interval)).toEqual([[-3, 9], undefined, [0.25, 0.75]])
    expect(whiskers.flatMap((each) => (each === null ? [] : [each.from, each.to])).every((y) => y >= top && y <= bottom)).toBe(true)
  })

  it('marks only places that have a name, where they are named, and no more than have room', () => {
    const xNames = new Map([
      [0, 'v0'],
      [2, 'v2'],
    ])
    const series = [{ name: 'a', points: points(1, 2, 3) }]
    expect(layoutOf(data({ series, xNames }), 300, 160).xMarks.map(({ text }) => text)).toEqual(['v0', 'v2'])
    const many = Array.from({ length: 1000 }, (_, x) => x)
    const all = { series: [{ name: 'a', points: points(...many) }], xNames: new Map(many.map((x) => [x, `v${x}`])) }
    const { xMarks } = layoutOf(data(all), 300, 160)
    expect(xMarks.length).toBeLessThan(8)
    expect(xMarks[0]?.text).toBe('v0')
  })

  it('marks whole places along x by whole numbers alone', () => {
    const { xMarks } = layoutOf(data({ series: [{ name: 'a', points: points(1, 2) }] }), 1200, 160)
    expect(xMarks.map(({ text }) => text)).toEqual(['0', '1'])
  })
})

describe('bars', () => {
  const series = [
    { name: 'published', points: points(2, 0) },
    { name: 'rejected', points: points(3, 1) },
  ]

  it('of several series stand on each other', () => {
    const { bars, bottom } = layoutOf(data({ kind: 'bars', series }), 300, 160)
    const [first, second] = bars
    expect((first?.y ?? 0) + (first?.height ?? 0)).toBeCloseTo(bottom, 0)
    expect((second?.y ?? 0) + (second?.height ?? 0)).toBeCloseTo(first?.y ?? 0, 0)
    expect((second?.height ?? 0) / (first?.height ?? 1)).toBeCloseTo(1.5, 1)
  })

  it('have room beside the first and the last', () => {
    const { bars, left, right } = layoutOf(data({ kind: 'bars', series }), 300, 160)
    expect(bars.every(({ x, width }) => x >= left && x + width <= right)).toBe(true)
  })

  it('below zero hang from it', () => {
    const { bars } = layoutOf(data({ kind: 'bars', series: [{ name: 'a', points: points(1, -1) }] }), 300, 160)
    const [up, down] = bars
    expect(down?.y).toBeCloseTo((up?.y ?? 0) + (up?.height ?? 0), 0)
  })
})

it('marks of bytes are round in their unit', () => {
  const { yMarks } = layoutOf(data({ unit: 'bytes', series: [{ name: 'a', points: points(190 * 1024 ** 2) }] }), 300, 160)
  expect(yMarks.map(({ text }) => text)).toEqual(['0 B', '100 MiB', '200 MiB'])
})

it('a value has its unit', () => {
  expect([valueText(1.5, undefined), valueText(2048, 'bytes'), valueText(0.25, 's'), valueText(3, 'req/s')]).toEqual([
    '1.5',
    '2 KiB',
    '250 ms',
    '3 req/s',
  ])
})
