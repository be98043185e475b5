/** Numbers as people read them. */

const NUMBERS = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 6 })

/** "12,480", "0.0247" */
export const formatted = (value: number): string => NUMBERS.format(value)

/** Three digits: "96.4", "19,400". */
export const brief = (value: number): string => formatted(Number(value.toPrecision(3)))

/** "+0.25", "0", "-0.1" */
export const signed = (value: number): string => `${value > 0 ? '+' : ''}${brief(value)}`

/** "1 file", "2 files" */
export const counted = (count: number, one: string, many = `${one}s`): string => `${formatted(count)} ${count === 1 ? one : many}`
