/** Seeded lots, so that a decision can be repeated. */
import { hash } from 'node:crypto'

const LOT_HEX_DIGITS = 12

/** A number from 0 up to 1. */
export const lotOf = (seed: string, drawn: number): number =>
  Number.parseInt(hash('sha256', `${seed} ${drawn}`).slice(0, LOT_HEX_DIGITS), 16) / 16 ** LOT_HEX_DIGITS
