import { expect, it } from 'vitest'
import { steadyClock } from './steady-clock.ts'

it('a clock that is set back gives no longer life, and one that jumped ahead counts no longer once it is right again', () => {
  let [wall, passedMs] = [1000, 0]
  const now = steadyClock(
    () => wall,
    () => passedMs,
  )
  expect(now()).toBe(1000)
  ;[wall, passedMs] = [1010, 10_000]
  expect(now()).toBe(1010)
  wall = 400
  expect(now()).toBe(1010)
  passedMs = 25_000
  expect(now()).toBe(1025)
  wall = 9000
  expect(now()).toBe(9000)
  wall = 1025
  expect(now()).toBe(1025)
})
