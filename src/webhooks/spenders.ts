/** Tokens and scenarios that have spent most of the money that they may spend in a day, as events: one for each step of the way, day and name. */
import { hash } from 'node:crypto'
import type { KeptEvent } from './kept-events.ts'

const DAY_SECONDS = 86_400
/** In percent. Who passed several is told of the last one alone. */
const LEVELS = [100, 80] as const
/** Around midnight the day of a clock and the day of a count may differ. */
const AROUND_MIDNIGHT_SECONDS = 60

/** What somebody spent today of what they may spend. */
export interface MoneySpender {
  readonly kind: 'token' | 'scenario'
  readonly name: string
  /** Differs where names are alike. */
  readonly key: string
  readonly spent: number
  readonly limit: number
}

export interface SpentEvent extends KeptEvent {
  /** Of itself, and of those that are not told any more because of it. */
  readonly marks: readonly string[]
}

export function spentEvents(spenders: readonly MoneySpender[], now: number): readonly SpentEvent[] {
  if (now % DAY_SECONDS < AROUND_MIDNIGHT_SECONDS) return []
  const day = new Date(now * 1000).toISOString().slice(0, 10)
  return spenders.flatMap((spender) => {
    const passed = LEVELS.filter((percent) => spender.spent >= (spender.limit * percent) / 100)
    const [percent] = passed
    return percent === undefined ? [] : [eventOf(spender, percent, passed, day, now)]
  })
}

function eventOf(
  { kind, name, key, spent, limit }: MoneySpender,
  percent: number,
  passed: readonly number[],
  day: string,
  now: number,
): SpentEvent {
  const marks = passed.map((level) => `msg_${hash('sha256', JSON.stringify(['spent', kind, key, day, level])).slice(0, 32)}`)
  const data = { [kind]: name, percent, spent, limit, day, reason: `${percent} % of limits.${kind} cost_per_day is spent` }
  const body = JSON.stringify({ type: 'budget', timestamp: new Date(now * 1000).toISOString(), data })
  return { id: marks[0] ?? '', event: 'budget', body, recordedAt: now, marks }
}
