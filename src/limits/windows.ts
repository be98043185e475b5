/** What a cell counts: requests and tokens in a minute, money in a day. What was taken beyond a window counts in the next ones. */
import type { LimitCell } from './cells.ts'
import type { SubjectLimits } from './settings.ts'

const MINUTE_SECONDS = 60
const DAY_SECONDS = 86_400

export interface Window {
  readonly limit: Exclude<keyof SubjectLimits, 'concurrent_requests'>
  /** Where a cell has its end, what was taken in it, and, for amounts that are known only afterwards, what one request takes. */
  readonly end: number
  readonly used: number
  readonly mean: number | null
  readonly seconds: number
  /** It ends at midnight, UTC, however late it begins. */
  readonly endsWithDay: boolean
}

export const REQUESTS: Window = { limit: 'requests_per_minute', end: 0, used: 1, mean: null, seconds: MINUTE_SECONDS, endsWithDay: false }
export const TOKENS: Window = { limit: 'tokens_per_minute', end: 2, used: 3, mean: 4, seconds: MINUTE_SECONDS, endsWithDay: false }
export const COST: Window = { limit: 'cost_per_day', end: 5, used: 6, mean: 7, seconds: DAY_SECONDS, endsWithDay: true }
export const WINDOWS: readonly Window[] = [REQUESTS, TOKENS, COST]

/** A request counts as this much of the mean. */
export const MEAN_WEIGHT = 0.1

/** The time that passes, in seconds: the same in all threads, and no clock that is set changes it. */
export interface LimitTime {
  passed(): number
  wall(): number
}

export const systemTime: LimitTime = {
  passed() {
    const [seconds, nanoseconds] = process.hrtime()
    return seconds + nanoseconds / 1e9
  },
  wall: () => Date.now() / 1000,
}

/** Begins the next window when this one is over. */
export function turn({ numbers, at }: LimitCell, window: Window, limit: number, now: number, time: LimitTime): void {
  if (now < (numbers[at + window.end] ?? 0)) return
  numbers[at + window.used] = usedIn({ numbers, at }, window, limit, now)
  numbers[at + window.end] = now + window.seconds - (window.endsWithDay ? time.wall() % window.seconds : 0)
}

/** What was taken in the window that is now. */
export function usedIn({ numbers, at }: Pick<LimitCell, 'numbers' | 'at'>, window: Window, limit: number, now: number): number {
  const [used = 0, end = 0] = [numbers[at + window.used], numbers[at + window.end]]
  if (now < end) return used
  const passed = 1 + Math.floor((now - end) / window.seconds)
  return Math.max(0, used - limit * passed)
}

/** What a request is expected to take: what those before took. */
export function expected({ numbers, at }: LimitCell, { mean }: Window, first: number): number {
  if (mean === null) return 1
  const known = numbers[at + mean] ?? 0
  return known > 0 ? known : first
}

export function add({ numbers, at }: LimitCell, { used }: Window, amount: number): void {
  numbers[at + used] = Math.max(0, (numbers[at + used] ?? 0) + amount)
}

/** Counts what a request took in place of what was expected. */
export function settle(cell: LimitCell, window: Window, reserved: number, taken: number): void {
  add(cell, window, taken - reserved)
  if (window.mean === null) return
  const { numbers, at } = cell
  const known = numbers[at + window.mean] ?? 0
  numbers[at + window.mean] = known > 0 ? known + (taken - known) * MEAN_WEIGHT : taken
}
