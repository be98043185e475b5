/** Numbers as people read them, the same on the pages, in the console and in the terminal. */

let numbers: Intl.NumberFormat | undefined

/** "12,480", "0.0247" */
export function formatted(value: number): string {
  numbers ??= new Intl.NumberFormat('en-US', { maximumSignificantDigits: 6 })
  return numbers.format(value)
}

/** Three digits: "96.4", "19,400". */
export const brief = (value: number): string => formatted(Number(value.toPrecision(3)))

/** "+0.25", "0", "-0.1" */
export const signed = (value: number): string => `${value > 0 ? '+' : ''}${brief(value)}`

/** "12,345" */
export const whole = (count: number): string => (Number.isFinite(count) ? Math.round(count).toLocaleString('en-US') : 'none')

/** "1 file", "2 files" */
export const counted = (count: number, one: string, many = `${one}s`): string => `${whole(count)} ${count === 1 ? one : many}`

const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const

/** "3.38 KiB", "20 GiB" */
export function bytes(count: number): string {
  if (!Number.isFinite(count) || count <= 0) return '0 B'
  const power = bytePower(count)
  return `${power === 0 ? Math.round(count) : Number((count / 1024 ** power).toPrecision(3))} ${BYTE_UNITS[power]}`
}

/** The power of 1024 of the unit that fits a count. */
export const bytePower = (count: number): number => (count < 1024 ? 0 : Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log2(count) / 10)))

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** "4.2 ms", "1.3 s", "10 min", "2.5 h" */
export function duration(seconds: number): string {
  if (!Number.isFinite(seconds)) return 'none'
  if (seconds < 1) return `${Number((seconds * 1000).toPrecision(2))} ms`
  if (seconds < 2 * MINUTE) return `${Number(seconds.toPrecision(2))} s`
  return seconds < 2 * HOUR ? `${Math.round(seconds / MINUTE)} min` : `${Number((seconds / HOUR).toPrecision(2))} h`
}

/** Both in seconds since the epoch. A moment in the future, by a clock that is ahead, counts as now. */
export function ago(at: number, now = Date.now() / 1000): string {
  const seconds = Math.max(0, Math.floor(now - at))
  if (seconds < 5) return 'just now'
  if (seconds < MINUTE) return `${seconds} s ago`
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min ago`
  return seconds < DAY ? `${Math.floor(seconds / HOUR)} h ago` : `${Math.floor(seconds / DAY)} d ago`
}
