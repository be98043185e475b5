/** What an improvement took: all steps since the release before, also those that failed. */
import { z } from 'zod'
import type { JsonObject } from '../../contract/index.ts'
import type { Ledger } from './ledger.ts'
import { NOTHING_SPENT, spentBoth, spentJson } from './spent.ts'

const amount = z.number().nonnegative().catch(0)
const spent = z
  .object({
    calls: amount,
    inputTokens: amount,
    cachedTokens: amount,
    outputTokens: amount,
    cost: amount,
    unpricedCalls: amount,
  })
  .catch(NOTHING_SPENT)

/** What a row passes to the next: the sum since the last release, and the step up to which the ledger is in it. */
export const spendingState = z.object({ through: amount, steps: amount, spent }).catch({ through: 0, steps: 0, spent: NOTHING_SPENT })
type SpendingState = z.infer<typeof spendingState>

/** `isRelease`: the step makes one, which the sum is for. */
export function improvementAfter(before: SpendingState, ledger: Ledger, step: number, isRelease: boolean) {
  const since = ledger.after(before.through)
  const sum = { steps: before.steps + since.steps, spent: spentBoth(before.spent, since.spent) }
  const improvement: JsonObject =
    isRelease && sum.spent.calls > 0 ? { improvement_spent: { ...spentJson(sum.spent), steps: sum.steps } } : {}
  const state: JsonObject = isRelease
    ? { through: step, steps: 0, spent: { ...NOTHING_SPENT } }
    : { through: step, steps: sum.steps, spent: { ...sum.spent } }
  return { improvement, state }
}
