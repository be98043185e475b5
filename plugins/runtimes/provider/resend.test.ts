import { expect, it } from 'vitest'
import { isFault, mayResend, restAfter, retryAfter } from './resend.ts'

const NOW = Date.parse('2026-01-01T00:00:00Z') / 1000

it.each([
  [{ 'retry-after': '20' }, 20],
  [{ 'retry-after': ' 1.5 ' }, 1.5],
  [{ 'retry-after': '20', 'retry-after-ms': '1500' }, 1.5],
  [{ 'retry-after': 'Thu, 01 Jan 2026 00:01:00 GMT' }, 60],
  [{ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, 0],
  [{ 'retry-after': 'soon' }, null],
  [{ 'retry-after': '-5x' }, null],
  [{ 'retry-after-ms': '-5' }, null],
  [{}, null],
])('%j asks for %s seconds', (headers, seconds) => {
  expect(retryAfter(headers, NOW)).toBe(seconds)
})

it.each([
  [429, null, 5],
  [429, 20, 20],
  [503, 20, 20],
  [503, null, null],
  [500, 1e9, 3600],
  [200, 20, null],
  [400, 20, null],
])('after status %s that asks for %s an upstream is passed over for %s seconds', (status, asked, rest) => {
  expect(restAfter(status, asked)).toBe(rest)
})

it('a rate limit may be sent again and is no fault; what a caller did wrong is neither', () => {
  expect([429, 500, 400, 404, 200].map((status) => [mayResend(status), isFault(status)])).toEqual([
    [true, false],
    [true, true],
    [false, false],
    [false, false],
    [false, false],
  ])
})
