/** Chance that can be repeated: the same seed, the same choices. */
import { hash } from 'node:crypto'

export interface Random {
  /** From 0 up to, but not including, 1. */
  fraction(): number
  /** A whole number from least to most, both included. */
  between(least: number, most: number): number
  pick<T>(choices: readonly [T, ...T[]]): T
  /** A stream of its own, so that one client's choices do not depend on how quick another is. */
  branch(label: string): Random
}

export function randomOf(seed: string): Random {
  // Hashed, so that seeds that look alike have nothing in common.
  let state = hash('sha256', seed, 'buffer').readInt32LE()
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
  const between = (least: number, most: number): number => least + Math.floor(fraction() * (most - least + 1))
  return {
    fraction,
    between,
    pick: (choices) => choices[between(0, choices.length - 1)] ?? choices[0],
    branch: (label) => randomOf(`${seed}/${label}`),
  }
}
