import { expect, it } from 'vitest'
import { Carriers } from './carriers.ts'

const KIB = 1024

it('memory is used again once it was given back, and not before', () => {
  const carriers = new Carriers()
  const [one, other] = [carriers.take(10), carriers.take(10)]
  expect(other).not.toBe(one)
  carriers.giveBack(one)
  expect(carriers.take(10)).toBe(one)
  expect(carriers.take(10)).not.toBe(one)
})

it('a group that is larger than what is there gets memory of its own', () => {
  const carriers = new Carriers()
  carriers.giveBack(carriers.take(0))
  expect(carriers.take(500 * KIB).byteLength).toBeGreaterThanOrEqual(500 * KIB)
})

it('little is held when nothing is under way: two pieces, and none that is very large', () => {
  const carriers = new Carriers()
  const taken = [1, 100 * KIB, 300 * KIB, 10_000 * KIB].map((bytes) => carriers.take(bytes))
  for (const carrier of taken) carriers.giveBack(carrier)
  const kept = [carriers.take(1), carriers.take(1), carriers.take(1)].filter((carrier) => taken.includes(carrier))
  expect(kept).toEqual([taken[1], taken[2]])
})
