import { expect, it } from 'vitest'
import { clockOf, isoOf } from './time.tsx'

const NOW = new Date(2026, 10, 15, 12, 0, 0).getTime() / 1000

it('a moment of today is a time, one of another day or year has its date', () => {
  expect(clockOf(NOW - 61, NOW)).toBe('11:58:59')
  expect(clockOf(NOW - 86_400, NOW)).toBe('14 Nov 12:00')
  expect(clockOf(NOW - 86_400 * 365, NOW)).toBe('15 Nov 2025')
})

it('what is no moment breaks nothing', () => {
  expect([clockOf(1e300, NOW), isoOf(Number.NaN)]).toEqual(['no time', ''])
})
