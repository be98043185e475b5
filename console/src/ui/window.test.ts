import { describe, expect, it } from 'vitest'
import { heightOf, HEIGHT_MAX, scrollTopFor, windowAt, type Extent } from './window.ts'

const of = (count: number): Extent => ({ count, rowHeight: 32, viewHeight: 640 })

describe('a window on a long list', () => {
  it('holds what is on the screen and a few rows beyond it', () => {
    expect(windowAt(of(100_000), 32_000)).toEqual({ first: 992, end: 1028, top: 992 * 32 })
  })

  it.each([0, 1, 19, 20, 21, 100_000, 5_000_000])('of %d rows reaches the first and the last of them', (count) => {
    const extent = of(count)
    expect(windowAt(extent, 0).first).toBe(0)
    const last = windowAt(extent, heightOf(extent))
    expect(last.end).toBe(count)
    expect(last.end - last.first).toBeLessThanOrEqual(37)
  })

  it('ends where the box ends', () => {
    for (const count of [30, 100_000, 5_000_000]) {
      const extent = of(count)
      const { first, end, top } = windowAt(extent, heightOf(extent) - extent.viewHeight)
      expect(top + (end - first) * 32).toBeCloseTo(heightOf(extent), 3)
    }
  })

  it('never needs a box larger than browsers draw', () => {
    expect(heightOf(of(5_000_000))).toBe(HEIGHT_MAX)
  })

  it('is empty while the list has no height yet, and harmless when scrolled beyond its ends', () => {
    expect(windowAt({ count: 0, rowHeight: 32, viewHeight: 0 }, 0)).toMatchObject({ first: 0, end: 0 })
    expect(windowAt(of(50), -100).first).toBe(0)
    expect(windowAt(of(50), 1e9).end).toBe(50)
  })
})

describe('scrolling to a row', () => {
  it.each([
    ['stays when it is on the screen', 32_000, 1005, 32_000],
    ['goes up just far enough', 32_000, 10, 320],
    ['goes down just far enough', 0, 20, 32],
  ])('%s', (_, from, index, to) => {
    expect(scrollTopFor(of(100_000), from, index)).toBeCloseTo(to, 6)
  })

  it('brings any row of millions onto the screen', () => {
    const extent = of(5_000_000)
    for (const index of [0, 1, 2_345_678, 4_999_999]) {
      const scrollTop = scrollTopFor(extent, 4_000_000, index)
      const { first, top } = windowAt(extent, scrollTop)
      const offset = top + (index - first) * 32 - scrollTop
      expect(offset).toBeGreaterThan(-0.01)
      expect(offset).toBeLessThan(640 - 32 + 0.01)
    }
  })
})
