import { describe, expect, it } from 'vitest'
import { countOf, filterIn, linkFrom, narrowed, routeOf } from './route.ts'

const traffic = { at: 'scenario', scenario: 'shop', view: 'traffic', id: null } as const
const step = { at: 'scenario', scenario: 'shop', view: 'releases', id: '3' } as const

describe('an address', () => {
  it('names the place whatever it is narrowed by', () => {
    expect(routeOf('#/s/shop/traffic?type=report&x=/s/other')).toEqual(traffic)
    expect(routeOf('#/s/shop/releases/3?against=abc')).toEqual(step)
    expect(routeOf('#/scenarios?name=a')).toEqual({ at: 'scenarios' })
  })

  it('takes a question mark within a name for a part of it', () => {
    const odd = { ...traffic, scenario: 'what?type=train', id: 'a?b=c' }
    expect(routeOf(linkFrom('', odd))).toEqual(odd)
    expect(filterIn(linkFrom('', odd), 'type')).toBe('')
  })
})

describe('a link', () => {
  it('within a view keeps how the view is narrowed, and drops what belonged to what was open', () => {
    expect(linkFrom('#/s/shop/traffic?type=report&at=7', { ...traffic, id: 'r1' })).toBe('#/s/shop/traffic/r1?type=report')
    expect(linkFrom('#/s/shop/traffic/r1?type=report', traffic)).toBe('#/s/shop/traffic?type=report')
    expect(linkFrom('#/s/shop/releases/3?steps=made&against=abc', { ...step, id: '4' })).toBe('#/s/shop/releases/4?steps=made')
  })

  it('to the very same place keeps everything, and to another view or scenario nothing', () => {
    expect(linkFrom('#/s/shop/releases/3?against=abc', step)).toBe('#/s/shop/releases/3?against=abc')
    expect(linkFrom('#/s/shop/traffic?type=report', step)).toBe('#/s/shop/releases/3')
    expect(linkFrom('#/s/shop/traffic?type=report', { ...traffic, scenario: 'other' })).toBe('#/s/other/traffic')
    expect(linkFrom('#/?name=a', { at: 'storage' })).toBe('#/storage')
  })
})

describe('a filter', () => {
  it('is set, changed and taken away without touching the others', () => {
    const both = narrowed('#/s/shop/releases?steps=made', 'most', '200')
    expect(both).toBe('#/s/shop/releases?steps=made&most=200')
    expect(narrowed(both, 'steps', '')).toBe('#/s/shop/releases?most=200')
    expect(narrowed(narrowed(both, 'steps', ''), 'most', '')).toBe('#/s/shop/releases')
    expect(narrowed('', 'name', 'a&b=c #?%')).toBe('#/?name=a%26b%3Dc+%23%3F%25')
    expect(filterIn('#/?name=a%26b%3Dc+%23%3F%25', 'name')).toBe('a&b=c #?%')
  })

  it('that is hostile is a short text and nothing else', () => {
    expect(filterIn('#/?name=%E0%A4%A&name=second', 'name')).not.toBe('second')
    expect(filterIn(`#/?name=${'x'.repeat(100_000)}`, 'name')).toHaveLength(500)
    expect(filterIn('#/?__proto__=1', 'name')).toBe('')
  })

  it.each([
    ['', 100],
    ['300', 300],
    ['1', 100],
    ['-5', 100],
    ['1e9', 100],
    ['99999999999', 100],
    ['<img>', 100],
  ])('of a count: %j shows %d', (value, count) => expect(countOf(value, 100)).toBe(count))
})
