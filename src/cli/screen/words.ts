/** Numbers in the words people read them in. */
const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const SPARKS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const

/** How long ago that was; both in seconds since the epoch. A clock that is ahead of ours counts as now. */
export function ago(at: number, now = Date.now() / 1000): string {
  const seconds = Math.max(0, Math.round(now - at))
  if (seconds < 2) return 'now'
  if (seconds < 2 * MINUTE) return `${seconds} s ago`
  if (seconds < 2 * HOUR) return `${Math.floor(seconds / MINUTE)} min ago`
  if (seconds < 2 * DAY) return `${Math.floor(seconds / HOUR)} h ago`
  return `${Math.floor(seconds / DAY)} d ago`
}

export function duration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`
  if (milliseconds < 100_000) return `${(milliseconds / 1000).toFixed(1)} s`
  return `${Math.round(milliseconds / 60_000)} min`
}

export function bytes(count: number): string {
  const unit = count < 1024 ? 0 : Math.min(4, Math.floor(Math.log2(count) / 10))
  const size = count / 1024 ** unit
  return `${unit === 0 ? size : size.toFixed(1)} ${['B', 'KiB', 'MiB', 'GiB', 'TiB'][unit]}`
}

export const counted = (count: number): string => count.toLocaleString('en')

export const several = (count: number, one: string, many = `${one}s`): string => `${counted(count)} ${count === 1 ? one : many}`

/** One mark per number, from the lowest to the highest of them. */
export function sparkline(numbers: readonly number[]): string {
  const low = Math.min(...numbers)
  const span = Math.max(...numbers) - low
  return numbers.map((number) => SPARKS[span === 0 ? 3 : Math.round(((number - low) / span) * (SPARKS.length - 1))]).join('')
}
