import { expect, test } from 'vitest'
import { startBar } from './bar.ts'

function drawn(width: number, steps: readonly (readonly [at: number, done: number, total: number])[]): readonly string[] {
  const shown: string[] = []
  let now = 0
  const bar = startBar({ width, progress: (text) => void shown.push(text) }, () => now)
  for (const [at, done, total] of steps) {
    now = at
    bar.at(done, total)
  }
  bar.end()
  return shown
}

test('a bar says how much is done and how long the rest will take, and leaves nothing behind', () => {
  expect(
    drawn(100, [
      [0, 0, 2000],
      [1000, 500, 2000],
      [400_000, 1000, 2000],
      [500_000, 2000, 2000],
    ]),
  ).toEqual([
    `[${' '.repeat(30)}]   0%  0 of 2,000`,
    `[${'#'.repeat(8)}${' '.repeat(22)}]  25%  500 of 2,000  3 s left`,
    `[${'#'.repeat(15)}${' '.repeat(15)}]  50%  1,000 of 2,000  7 min left`,
    `[${'#'.repeat(30)}] 100%  2,000 of 2,000`,
    '',
  ])
})

test('the pace is that of this run, wherever it went on from', () => {
  expect(
    drawn(100, [
      [0, 900, 1000],
      [1000, 910, 1000],
    ])[1],
  ).toContain('910 of 1,000  9 s left')
})

test('it is drawn no more often than the eye follows, and always at the end', () => {
  expect(
    drawn(100, [
      [0, 1, 3],
      [10, 2, 3],
      [20, 3, 3],
    ]),
  ).toHaveLength(3)
})

test('it fits the terminal, and work without an amount is done', () => {
  expect(drawn(20, [[0, 0, 0]])[0]).toBe(`[${'#'.repeat(17)}…`)
})
