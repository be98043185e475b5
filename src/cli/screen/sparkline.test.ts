import { expect, test } from 'vitest'
import { sparkline } from './sparkline.ts'

test('a sparkline goes from the lowest to the highest, and is level where nothing changes', () => {
  expect(sparkline([0.1, 0.5, 0.9])).toBe('▁▅█')
  expect(sparkline([0.3, 0.3])).toBe('▄▄')
})
