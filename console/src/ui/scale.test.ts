import { describe, expect, it } from 'vitest'
import { heightSpanOf, marksOf, nearest, roundStep, scaleOf, spanOf, timeMark, timeMarksOf, timeStep } from './scale.ts'

describe('the span of an axis', () => {
  it('goes from the least to the most, and what is no number does not count', () => {
    expect(spanOf([3, Number.NaN, 9, -Infinity, 4])).toEqual([3, 9])
  })

  it.each([
    ['nothing', [], [0, 1]],
    ['one value', [5, 5], [4.5, 5.5]],
  ])('has room for %s', (_, values, span) => {
    expect(spanOf(values)).toEqual(span)
  })

  it('of heights holds zero and ends at a round number', () => {
    expect(heightSpanOf([37, 12], 4)).toEqual([0, 40])
    expect(heightSpanOf([-0.3, 0.7], 4)).toEqual([-0.5, 1])
    expect(heightSpanOf([], 4)).toEqual([0, 1])
    expect(heightSpanOf([0, 0], 4)).toEqual([0, 1])
  })
})

it('a scale maps the ends of one span to the ends of the other', () => {
  const at = scaleOf([10, 20], [100, 0])
  expect([at(10), at(15), at(20)]).toEqual([100, 50, 0])
  expect(scaleOf([3, 3], [0, 10])(3)).toBe(0)
})

describe('the marks of an axis', () => {
  it('are round numbers within the span', () => {
    expect(marksOf([0, 1], 4)).toEqual([0, 0.5, 1])
    expect(marksOf([0, 0.3], 3)).toEqual([0, 0.1, 0.2, 0.3])
    expect(marksOf([-7, 12], 4)).toEqual([-5, 0, 5, 10])
  })

  it('never become many, whatever is asked for', () => {
    expect(marksOf([0, 1e300], 1e9).length).toBeLessThanOrEqual(50)
    expect(marksOf([Number.MIN_VALUE, Number.MAX_VALUE], 3).length).toBeLessThanOrEqual(50)
  })

  it.each([
    [0.04, 0.05],
    [3, 5],
    [10, 10],
    [0, 1],
    [Number.NaN, 1],
  ])('are %f apart at least, so %f', (rough, step) => {
    expect(roundStep(rough)).toBe(step)
  })
})

describe('the marks of a clock', () => {
  it.each([
    [3, 5],
    [45, 60],
    [4000, 7200],
    [100_000, 172_800],
    [3_000_000, 3_024_000],
  ])('%i seconds apart become %i', (rough, step) => {
    expect(timeStep(rough)).toBe(step)
  })

  it("stand at even times of the reader's own clock", () => {
    const hour = 3600
    expect(timeMarksOf([10 * hour + 5, 16 * hour], 3, 0)).toEqual([12 * hour, 14 * hour, 16 * hour])
    expect(timeMarksOf([10 * hour, 60 * hour], 3, 2 * hour)).toEqual([22 * hour, 46 * hour])
  })

  it('show the time of day, and the date once a day lies between them', () => {
    const noon = new Date(2026, 10, 15, 12, 0, 7).getTime() / 1000
    expect(timeMark(noon, { step: 3600 })).toBe('12:00')
    expect(timeMark(noon, { step: 5 })).toBe('12:00:07')
    expect(timeMark(noon, { step: 86_400 })).toBe('15 Nov')
  })
})

it.each([
  [-5, 0],
  [1.4, 0],
  [1.5, 0],
  [1.6, 1],
  [99, 3],
])('%f is nearest to place %i', (wanted, place) => {
  expect(nearest([1, 2, 4, 8], wanted)).toBe(place)
})

it('nothing is nearest in an empty list', () => {
  expect(nearest([], 3)).toBe(-1)
})
