/** What people see of the fleet: workers, the queue, how long episodes wait, how many are played, and what they cost. */
import type { CountedCall, EpisodeRow, FleetRows, HourRow } from '../contract/index.ts'
import { checksOf } from './checks.ts'
import type { FleetStatus } from './episodes.ts'
import { isWaiting, unplayableWhy } from './rules.ts'

const HOUR_MS = 3600_000
/** An hour is kept in so many parts. */
const PART_MS = 300_000
const NOTHING: Omit<HourRow, 'at'> = { played: 0, waitedMs: 0, calls: 0, input: 0, output: 0, cost: 0, unpriced: 0 }

export function countPlayed(rows: FleetRows, waitedMs: number): void {
  add(rows, { played: 1, waitedMs })
}

export function countSpent(rows: FleetRows, calls: readonly CountedCall[]): void {
  for (const { input, output, cost } of calls) add(rows, { calls: 1, input, output, cost: cost ?? 0, unpriced: cost === null ? 1 : 0 })
}

function add({ now, hours }: FleetRows, more: Partial<typeof NOTHING>): void {
  const id = String(Math.floor(now / PART_MS))
  const row: HourRow = hours.get(id) ?? { at: now, ...NOTHING }
  hours.set(id, { at: row.at, ...sum(row, { ...NOTHING, ...more }) })
  for (const [old, { at }] of hours) if (now - at > HOUR_MS) hours.delete(old)
}

const sum = (one: Omit<HourRow, 'at'>, other: Omit<HourRow, 'at'>): Omit<HourRow, 'at'> => ({
  played: one.played + other.played,
  waitedMs: one.waitedMs + other.waitedMs,
  calls: one.calls + other.calls,
  input: one.input + other.input,
  output: one.output + other.output,
  cost: one.cost + other.cost,
  unpriced: one.unpriced + other.unpriced,
})

export function statusOf(rows: FleetRows): FleetStatus {
  const { now, episodes, leases, workers, hours } = rows
  const waiting = [...episodes.values()].filter(isWaiting)
  const hour = [...hours.values()].filter(({ at }) => now - at <= HOUR_MS).reduce(sum, NOTHING)
  const running = new Map<string, number>()
  for (const { worker } of leases.values()) running.set(worker, (running.get(worker) ?? 0) + 1)
  return {
    workers: [...workers]
      .map(([name, { slots, played, lost, isSetAside, at }]) => ({
        name,
        slots,
        running: running.get(name) ?? 0,
        played,
        lost,
        ...checksOf(rows, name),
        is_set_aside: isSetAside,
        seen_seconds_ago: secondsOf(now - at),
      }))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1)),
    waiting: waiting.length,
    unplayable: unplayable(rows, waiting),
    running: leases.size,
    waited_seconds: secondsOf(now - Math.min(now, ...waiting.map(({ at }) => at))),
    last_hour: {
      episodes: hour.played,
      mean_wait_seconds: hour.played === 0 ? 0 : secondsOf(hour.waitedMs / hour.played),
      model_calls: hour.calls,
      input_tokens: hour.input,
      output_tokens: hour.output,
      cost: hour.cost,
      unpriced_calls: hour.unpriced,
    },
  }
}

/** A worker that starts needs a moment. */
const UNPLAYABLE_AFTER_MS = 60_000

function unplayable(rows: FleetRows, waiting: readonly EpisodeRow[]): FleetStatus['unplayable'] {
  const reasons = new Map<string, { readonly scenario: string; readonly reason: string; episodes: number }>()
  for (const episode of waiting) {
    const reason = rows.now - episode.at <= UNPLAYABLE_AFTER_MS ? null : unplayableWhy(rows, episode)
    if (reason === null) continue
    const { scenario } = episode
    const id = JSON.stringify([scenario, reason])
    reasons.set(id, { scenario, reason, episodes: (reasons.get(id)?.episodes ?? 0) + 1 })
  }
  return [...reasons.values()]
}

const secondsOf = (ms: number): number => Math.round(ms) / 1000
