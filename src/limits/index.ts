/**
 * Limits: lets requests in while their token and their scenario took less than they may of requests, tokens and money, counted in memory
 * that all threads share.
 * Does not know HTTP, and does not ask the model.
 */
export { allotCells, type LimitPlace } from './cells.ts'
export { Limits } from './limits.ts'
export { PriceTable } from './prices.ts'
export { tokensOf } from './taken.ts'
export type { LimitedToken } from './subjects.ts'
