import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { timeText } from './log.ts'

it('the time of a line is printed as dates are, whatever was printed before', () => {
  fc.assert(
    fc.property(fc.nat(4_000_000_000), fc.array(fc.nat(2500), { minLength: 1, maxLength: 4 }), (second, later) => {
      for (const ms of later)
        expect(timeText((second * 1000 + ms) / 1000)).toBe(new Date(((second * 1000 + ms) / 1000) * 1000).toISOString())
    }),
  )
  expect(() => timeText(Number.NaN)).toThrow('Invalid time value')
})
