import { expect, it } from 'vitest'
import { limitWords, useWords } from './limits.ts'

it('tells limits and what was used of them; 0 is any', () => {
  expect(limitWords({ requests_per_minute: 1200, cost_per_day: 0.05 })).toBe('1,200 requests a minute, 0.05 money a day')
  expect(limitWords({ tokens_per_minute: 0, concurrent_requests: 3 })).toBe('any tokens a minute, 3 requests at once')
  expect(useWords({ tokens_per_minute: { used: 12.4, limit: 40 }, cost_per_day: { used: 0.5, limit: 2 } })).toBe(
    '12 of 40 tokens a minute, 0.50 of 2.00 money a day',
  )
  expect([useWords(undefined), useWords({})]).toEqual(['—', '—'])
})
