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

/** Of a share from 0 to 1: "42 %", "under 0.1 %" */
export function percent(share: number): string {
  const hundredths = share * 100
  return hundredths > 0 && hundredths < 0.1 ? 'under 0.1 %' : `${Number(hundredths.toPrecision(2))} %`
}
