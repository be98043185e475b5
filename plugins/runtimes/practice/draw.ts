/** Chance that repeats itself: a number from 0 up to 1 that depends on nothing but the texts it is given. */
import { hash } from 'node:crypto'

/** Enough bits for any probability here, few enough to be exact in a number. */
const HEX_DIGITS = 12

export const digest = (...texts: readonly string[]): string => hash('sha256', texts.join('\u0000'))

export const draw = (...texts: readonly string[]): number => Number.parseInt(digest(...texts).slice(0, HEX_DIGITS), 16) / 16 ** HEX_DIGITS

/** A whole number from low to high, both included. */
export const drawInteger = (low: number, high: number, ...texts: readonly string[]): number =>
  low + Math.floor(draw(...texts) * (high - low + 1))

/** One of the choices. */
export function drawOne<T>(choices: readonly [T, ...T[]], ...texts: readonly string[]): T {
  return choices[Math.floor(draw(...texts) * choices.length)] ?? choices[0]
}
