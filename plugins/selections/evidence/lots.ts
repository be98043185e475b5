/** Seeded lots, so that a decision can be repeated. */
import { hash } from 'node:crypto'

const LOT_HEX_DIGITS = 12

/** A number from 0 up to 1. */
export const lotOf = (seed: string, drawn: number): number =>
  Number.parseInt(hash('sha256', `${seed} ${drawn}`).slice(0, LOT_HEX_DIGITS), 16) / 16 ** LOT_HEX_DIGITS

/** A generator of numbers from 0 up to 1 (mulberry32), for many cheap ones. */
export function randomOf(run: number): () => number {
  let state = Math.imul(run + 1, 0x9e3779b1)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    const mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    const again = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((again ^ (again >>> 14)) >>> 0) / 2 ** 32
  }
}
