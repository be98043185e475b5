/** Limits of a token and what it used of them, in words. */
import type { TokenLimits, TokenUse } from '../contract/wire/index.ts'
import { moneyText } from './money.ts'
import { formatted } from './numbers.ts'

type LimitKind = keyof TokenLimits

export const LIMIT_WORDS: Readonly<Record<LimitKind, string>> = {
  requests_per_minute: 'requests a minute',
  tokens_per_minute: 'tokens a minute',
  cost_per_day: 'money a day',
  concurrent_requests: 'requests at once',
}

export const LIMIT_KINDS: readonly LimitKind[] = ['requests_per_minute', 'tokens_per_minute', 'cost_per_day', 'concurrent_requests']

/** "60 requests a minute, any tokens a minute": 0 is no limit. */
export const limitWords = (limits: TokenLimits): string =>
  LIMIT_KINDS.flatMap((kind) => {
    const limit = limits[kind]
    return limit === undefined ? [] : [`${limit === 0 ? 'any' : amountText(kind, limit)} ${LIMIT_WORDS[kind]}`]
  }).join(', ')

/** "3 of 60 requests a minute"; a dash where nothing is limited. */
export const useWords = (use: TokenUse | undefined): string =>
  LIMIT_KINDS.flatMap((kind) => {
    const found = use?.[kind]
    return found === undefined ? [] : [`${amountText(kind, found.used)} of ${amountText(kind, found.limit)} ${LIMIT_WORDS[kind]}`]
  }).join(', ') || '—'

const amountText = (kind: LimitKind, amount: number): string =>
  kind === 'cost_per_day' ? moneyText(amount) : formatted(Math.round(amount))
