import { expect, it } from 'vitest'
import { PriceTable } from './prices.ts'

const ONE_EACH = { input: 1_000_000, output: 1_000_000 }
const PRICES = { m: { input: 2, output: 3 } }

it('a model costs what the first of its names with a price does, and only without one what all others cost', () => {
  const table = new PriceTable({ ...PRICES, '*': { input: 7, output: 7 } })
  expect(table.listedCostOf(['unlisted', 'm'], ONE_EACH)).toBe(5)
  expect(table.listedCostOf(['m-2026-01-02'], ONE_EACH)).toBe(5)
  expect(table.listedCostOf(['unlisted', 'other'], ONE_EACH)).toBe(14)
})

it('a model that the table lacks has no cost to show', () => {
  expect(new PriceTable(PRICES).listedCostOf(['unlisted'], ONE_EACH)).toBeNull()
})
