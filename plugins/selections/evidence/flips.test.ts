import { describe, expect, it } from 'vitest'
import { Flips } from './flips.ts'
import type { FamilyTally } from './signs.ts'
import { randomOf } from './testing.ts'

const FAMILIES = 12
const LEVEL = 0.05

const tallied = (sums: readonly number[], draws: number): readonly FamilyTally[] =>
  sums.map((sum) => ({ draws, sum, squares: Math.abs(sum), isGraded: false, share: 1 }))

/** Four rounds, in each of which every family gains or loses as the coin says that is its own, or nothing. */
function passesUnder(run: number, isUp: (random: () => number) => boolean): boolean {
  const random = randomOf(run)
  const ways = Array.from({ length: FAMILIES }, () => (isUp(random) ? 1 : -1))
  const sums = ways.map(() => 0)
  const flips = new Flips(FAMILIES, LEVEL, run, [])
  for (let round = 1; round <= 4; round += 1) {
    for (const [family, way] of ways.entries()) sums[family] = (sums[family] ?? 0) + (random() < 0.4 ? 0 : way)
    flips.see(round * FAMILIES, tallied(sums, round), false)
  }
  return flips.passes
}
const shareOf = (runs: number, isUp: (random: () => number) => boolean): number =>
  Array.from({ length: runs }, (_, run) => passesUnder(run, isUp)).filter(Boolean).length / runs

describe('flips', () => {
  it('pass no more often than their level at all looks together, where a coin decides for each family', () => {
    const passed = shareOf(1500, (random) => random() < 0.5)
    expect(passed).toBeLessThanOrEqual(LEVEL + 0.01)
    expect(passed).toBeGreaterThan(0.01)
  })

  it('pass where most families gain', () => {
    expect(shareOf(100, (random) => random() < 0.95)).toBeGreaterThan(0.9)
  })

  it('do not pass where none gains, and not where a gain is as likely by luck', () => {
    const [none, few] = [new Flips(FAMILIES, LEVEL, 1, []), new Flips(FAMILIES, LEVEL, 1, [])]
    none.see(
      48,
      tallied(
        Array.from({ length: FAMILIES }, () => 0),
        4,
      ),
      false,
    )
    few.see(48, tallied([4, 4, 4, 4, 0, 0, 0, 0, 0, 0, 0, 0], 4), false)
    expect([none.passes, few.passes]).toEqual([false, false])
  })

  it('are looked at a few times, and where the budget of a step ends', () => {
    const flips = new Flips(FAMILIES, LEVEL, 1, [30])
    for (let pairs = 1; pairs <= 60; pairs += 1)
      flips.see(
        pairs,
        tallied(
          Array.from({ length: FAMILIES }, () => 1),
          1,
        ),
        pairs === 60,
      )
    expect(flips.looks).toEqual([24, 30, 36, 48, 60])
  })
})
