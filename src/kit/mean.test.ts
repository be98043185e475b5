/** The mean of scores, which may be any finite numbers. */
import { expect, it } from 'vitest'
import { meanOf } from './index.ts'

it.each([
  [[], 0],
  [[0.1, 0.2, 0.6], (0.1 + 0.2 + 0.6) / 3],
  [[1e308, 1e308], 1e308],
  [[-1e308, -1e308, -1e308, -1e308], -1e308],
  [[1e308, 1e308, -1e308, -1e308], 0],
])('the mean of %j is %d', (values, mean) => {
  expect(meanOf(values)).toBe(mean)
})
