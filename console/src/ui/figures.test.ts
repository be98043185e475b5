import { expect, it } from 'vitest'
import { brief, percent } from './figures.ts'

it.each([
  [0, '0'],
  [80, '80'],
  [0.333_333, '0.333'],
  [1234, '1.23k'],
  [-2_500_000, '-2.5M'],
  [7e9, '7G'],
  [3e15, '3.0e+15'],
  [0.000_02, '2.0e-5'],
  [Number.NaN, 'none'],
])('%f is briefly %s', (value, text) => {
  expect(brief(value)).toBe(text)
})

it.each([
  [0, '0 %'],
  [0.000_000_2, 'under 0.1 %'],
  [0.4235, '42 %'],
  [1, '100 %'],
])('a share of %f is %s', (share, text) => {
  expect(percent(share)).toBe(text)
})
