/** Numbers as people read them: few digits, a unit, never an exponent before it must be. */

const UNITS: readonly (readonly [size: number, letter: string])[] = [
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
]
const DIGITS = 3

/** "1.2k", "0.333", "80" */
export function brief(value: number): string {
  if (!Number.isFinite(value)) return 'none'
  const size = Math.abs(value)
  if (size >= 1e12 || (size > 0 && size < 1e-3)) return value.toExponential(1)
  const [unit, letter] = UNITS.find(([least]) => size >= least) ?? [1, '']
  const short = Number((value / unit).toPrecision(DIGITS))
  return `${short}${letter}`
}

const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const

/** "3.4 KiB", "20 GiB" */
export function bytes(count: number): string {
  if (!Number.isFinite(count) || count <= 0) return '0 B'
  const power = bytePower(count)
  return `${power === 0 ? Math.round(count) : Number((count / 1024 ** power).toPrecision(DIGITS))} ${BYTE_UNITS[power]}`
}

/** The power of 1024 of the unit that fits a count. */
export const bytePower = (count: number): number => (count < 1024 ? 0 : Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log2(count) / 10)))

/** "12,345" */
export const whole = (count: number): string => (Number.isFinite(count) ? Math.round(count).toLocaleString('en-GB') : 'none')

/** "1 file", "2 files" */
export const counted = (count: number, noun: string): string => `${whole(count)} ${noun}${count === 1 ? '' : 's'}`

/** "4 ms", "1.2 s", "3 min" */
export function duration(seconds: number): string {
  if (!Number.isFinite(seconds)) return 'none'
  if (seconds < 1) return `${Number((seconds * 1000).toPrecision(2))} ms`
  if (seconds < 120) return `${Number(seconds.toPrecision(2))} s`
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Number((seconds / 3600).toPrecision(2))} h`
}

/** "+0.25", "0", "-0.1" */
export const signed = (value: number): string => `${value > 0 ? '+' : ''}${brief(value)}`

/** Of a share from 0 to 1: "42 %", "under 0.1 %" */
export function percent(share: number): string {
  const hundredths = share * 100
  return hundredths > 0 && hundredths < 0.1 ? 'under 0.1 %' : `${Number(hundredths.toPrecision(2))} %`
}
