import { describe, expect, it } from 'vitest'
import { hasModel, inTurn } from './choose.ts'

/** A fixed source of numbers from 0 to 1: mulberry32. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

const choice = (name: string, weight: number, priority = 0) => ({ name, weight, priority })

describe('the order in which upstreams are asked', () => {
  it('gives each of a priority its share by weight', () => {
    const random = numbers(7)
    const choices = [choice('a', 6), choice('b', 3), choice('c', 1)]
    const firsts = Array.from({ length: 20_000 }, () => inTurn(choices, random)[0]?.name)
    const share = (name: string): number => firsts.filter((first) => first === name).length / firsts.length
    // Three standard deviations of the largest share are 0.0104.
    expect(Math.abs(share('a') - 0.6)).toBeLessThan(0.0104)
    expect(Math.abs(share('b') - 0.3)).toBeLessThan(0.0104)
    expect(Math.abs(share('c') - 0.1)).toBeLessThan(0.0104)
  })

  it('names every one once, the lower priorities first whatever their weights', () => {
    const random = numbers(1)
    const choices = [choice('last', 100, 5), choice('a', 1), choice('b', 1), choice('then', 100, 1)]
    for (let time = 0; time < 50; time++) {
      const names = inTurn(choices, random).map(({ name }) => name)
      expect(names.slice(0, 2).toSorted()).toEqual(['a', 'b'])
      expect(names.slice(2)).toEqual(['then', 'last'])
    }
  })

  it('puts those without weight behind the others of their priority', () => {
    const random = numbers(3)
    for (let time = 0; time < 50; time++) expect(inTurn([choice('none', 0), choice('some', 1)], random)[0]?.name).toBe('some')
    expect(inTurn([choice('a', 0), choice('b', 0)], random)).toHaveLength(2)
  })

  it.each([0, 1 - Number.EPSILON])('holds at the edge of chance: %s', (edge) => {
    expect(inTurn([choice('a', 1), choice('none', 0), choice('b', 1)], () => edge)).toHaveLength(3)
  })
})

describe('whether an upstream has a model', () => {
  const aliases = new Map([['fast', 'small-1']])
  it.each([
    [null, 'anything', true],
    [['small-1'], 'small-1', true],
    [['small-1'], 'small-10', false],
    [['small-*'], 'small-10', true],
    [['small-*'], 'large', false],
    [[], 'fast', true],
    [[], 'small-1', false],
    [[], '', true],
  ])('of %j: %s is %s', (models, asked, has) => {
    expect(hasModel({ models, aliases }, asked)).toBe(has)
  })
})
