import { expect, it } from 'vitest'
import { spentText, capText } from './money.ts'

const of = (spent: unknown) => spentText({ spent })

it('tells tokens and money, and unknown prices as unknown', () => {
  const tokens = { calls: 3, input_tokens: 34_100, cached_tokens: 10_000, output_tokens: 2000 }
  expect(of({ ...tokens, cost: 0.1234 })).toBe('34,100 tokens in (10,000 cached), 2,000 out, cost 0.12')
  expect(of({ ...tokens, cached_tokens: 0, cost: 0.001234 })).toBe('34,100 tokens in, 2,000 out, cost 0.0012')
  expect(of({ ...tokens, cost: null, unpriced_calls: 3 })).toContain('cost unknown')
  expect(of({ ...tokens, cost: 2, unpriced_calls: 1 })).toContain('cost at least 2.00, for the price of 1 call is unknown')
  expect(spentText({ improvement_spent: { ...tokens, steps: 4, cost: 3 } }, 'improvement_spent')).toMatch(/^4 steps, .*, cost 3.00$/)
})

it.each([undefined, null, 'x', 7, []])('is nothing of %j', (spent) => {
  expect(of(spent)).toBeNull()
})

it('says which cap ended a step, where one did', () => {
  expect(capText({ cap_reached: 'raise it' })).toBe('raise it')
  expect(capText({})).toBeNull()
})
