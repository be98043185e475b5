import { expect, it } from 'vitest'
import { agoOf, clockOf, isoOf } from './ago.ts'

const NOW = new Date(2026, 10, 15, 12, 0, 0).getTime() / 1000

it.each([
  [-30, 'just now'],
  [4.9, 'just now'],
  [59.9, '59 s ago'],
  [60, '1 min ago'],
  [3599, '59 min ago'],
  [3600, '1 h ago'],
  [86_400, 'yesterday'],
  [86_400 * 9, '9 days ago'],
])('%d seconds before now reads %s', (seconds, words) => {
  expect(agoOf(NOW - seconds, NOW)).toBe(words)
})

it('a moment of today is a time, one of another day or year has its date', () => {
  expect(clockOf(NOW - 61, NOW)).toBe('11:58:59')
  expect(clockOf(NOW - 86_400, NOW)).toBe('14 Nov 12:00')
  expect(clockOf(NOW - 86_400 * 365, NOW)).toBe('15 Nov 2025')
})

it('what is no moment breaks nothing', () => {
  expect([clockOf(1e300, NOW), isoOf(Number.NaN)]).toEqual(['no time', ''])
})
