/** The caps of a step and of a day: whether a call fits below them, and the words where it does not. */
import type { CallBound } from './bounds.ts'
import type { Sums } from './ledger.ts'
import { spentBoth, tokensOf, type PriceSettings, type Spent } from './spent.ts'

/** 0: no limit. */
export interface SpendingCaps {
  readonly max_tokens_per_step: number
  readonly max_cost_per_step: number
  readonly max_tokens_per_day: number
  readonly max_cost_per_day: number
}
export type CapSettings = SpendingCaps & PriceSettings

/** A call was not sent, since it could have passed a cap: what needed it is not played to its end. */
export class CapReached extends Error {}

export const isCapped = ({ max_tokens_per_step, max_cost_per_step, max_tokens_per_day, max_cost_per_day }: SpendingCaps): boolean =>
  max_tokens_per_step + max_cost_per_step + max_tokens_per_day + max_cost_per_day > 0

export const capsOf = ({ max_tokens_per_step, max_cost_per_step, max_tokens_per_day, max_cost_per_day }: SpendingCaps): SpendingCaps => ({
  max_tokens_per_step,
  max_cost_per_step,
  max_tokens_per_day,
  max_cost_per_day,
})

/** What the step may take, for people; empty where nothing caps it. */
export function mostWords({ max_tokens_per_step: tokens, max_cost_per_step: cost }: SpendingCaps): string {
  const most = [...(tokens > 0 ? [`${tokens} tokens`] : []), ...(cost > 0 ? [`${money(cost)} of money`] : [])]
  return most.length === 0 ? '' : `; no call of the step is sent that could take it beyond ${most.join(' or ')}`
}

/** The cap that is reached, in words; null where none is. */
export const reachedWords = (caps: SpendingCaps, sums: Partial<Sums>): string | null =>
  wordsOf(caps, sums, (used, cap) => used >= cap, null)

/** The cap that a call could pass, in words; null where it fits. */
export function passedWords(caps: SpendingCaps, { step, day }: Partial<Sums>, most: Spent, bound: CallBound): string | null {
  const sums = { ...(step && { step: spentBoth(step, most) }), ...(day && { day: spentBoth(day, most) }) }
  return wordsOf(caps, sums, (used, cap) => used > cap + CENT_FRACTION, { most, bound })
}

/** Sums of money have digits of no meaning. */
const CENT_FRACTION = 1e-9

interface NextCall {
  readonly most: Spent
  readonly bound: CallBound
}

function wordsOf(
  caps: SpendingCaps,
  sums: Partial<Sums>,
  isOver: (used: number, cap: number) => boolean,
  next: NextCall | null,
): string | null {
  const each = [
    { who: 'the scenario has used today', sum: sums.day, tokens: caps.max_tokens_per_day, cost: caps.max_cost_per_day, per: 'day' },
    { who: 'the step has used', sum: sums.step, tokens: caps.max_tokens_per_step, cost: caps.max_cost_per_step, per: 'step' },
  ]
  for (const { who, sum, tokens, cost, per } of each) {
    if (sum === undefined) continue
    const before = next === null ? tokensOf(sum) : tokensOf(sum) - tokensOf(next.most)
    if (tokens > 0 && isOver(tokensOf(sum), tokens))
      return capWords({ used: `${who} ${before} tokens`, next: next && tokenWords(next), cap: tokens, key: `max_tokens_per_${per}` })
    if (cost > 0 && isOver(sum.cost, cost)) {
      const costBefore = next === null ? sum.cost : Math.max(0, sum.cost - next.most.cost)
      const nextWords = next && `${money(next.most.cost)} for ${tokenWords(next)}`
      return capWords({ used: `${who} ${money(costBefore)} of money`, next: nextWords, cap: cost, key: `max_cost_per_${per}` })
    }
  }
  return null
}

const tokenWords = ({ most: { inputTokens, outputTokens }, bound: { isBounded } }: NextCall): string =>
  `${inputTokens + outputTokens} tokens (${inputTokens} of its question, ${outputTokens} of its answer${isBounded ? '' : ', which it does not bound'})`

interface CapWords {
  readonly used: string
  /** What the next call may take. */
  readonly next: string | null
  readonly cap: number
  readonly key: string
}

function capWords({ used, next, cap, key }: CapWords): string {
  if (next === null) return `${used}, and its cap is ${cap} (evolution.${key})`
  return `${used}, its next call may take ${next}, and its cap is ${cap}: raise evolution.${key}`
}

/** Small amounts of money are not shown as nothing. */
const money = (amount: number): string => (amount === 0 || amount >= CENT ? amount.toFixed(2) : amount.toPrecision(2))
const CENT = 0.01
