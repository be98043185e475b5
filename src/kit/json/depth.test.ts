import { expect, it } from 'vitest'
import { isDeeperThan } from './depth.ts'

const nested = (depth: number): unknown => JSON.parse(`${'[{"a":'.repeat(depth / 2)}1${'}]'.repeat(depth / 2)}`)

it.each([
  [1, 0, false],
  [null, 0, false],
  [[], 0, true],
  [[], 1, false],
  [{ a: [1], b: {} }, 2, false],
  [{ a: [1, { b: 2 }] }, 2, true],
  [nested(256), 256, false],
  [nested(256), 255, true],
  [nested(1_000_000), 256, true],
])('counts the levels of lists and objects: %#', (value, depthMax, isDeeper) => {
  expect(isDeeperThan(value, depthMax)).toBe(isDeeper)
})
