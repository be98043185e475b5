/** Chance that repeats itself: a number from 0 up to 1 that depends on nothing but the texts it is given. */
import { hash } from 'node:crypto'
import { chanceOf } from '../../../src/kit/index.ts'

const joined = (texts: readonly string[]): string => texts.join('\u0000')

export const digest = (...texts: readonly string[]): string => hash('sha256', joined(texts))

export const draw = (...texts: readonly string[]): number => chanceOf(joined(texts))

/** A whole number from low to high, both included. */
export const drawInteger = (low: number, high: number, ...texts: readonly string[]): number =>
  low + Math.floor(draw(...texts) * (high - low + 1))

/** One of the choices. */
export function drawOne<T>(choices: readonly [T, ...T[]], ...texts: readonly string[]): T {
  return choices[Math.floor(draw(...texts) * choices.length)] ?? choices[0]
}
