/** A fast, seeded random generator for simulations. */

export type Chance = () => number

/** Numbers from 0 up to 1 (mulberry32). */
export function chanceOf(seed: number): Chance {
  let state = Math.imul(seed + 1, 0x9e3779b1)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A Beta distribution with both parameters below 1 (Jöhnk): most tasks are nearly always or nearly never solved. */
export function betaOf(chance: Chance, a: number, b: number): number {
  for (;;) {
    const [x, y] = [chance() ** (1 / a), chance() ** (1 / b)]
    if (x + y > 0 && x + y <= 1) return x / (x + y)
  }
}

export const between = (chance: Chance, low: number, high: number): number => low + chance() * (high - low)
