import { describe, expect, test } from 'vitest'
import { Gains, splitPair } from './design.ts'

const pairs = (groups: readonly (readonly string[])[]) => Array.from({ length: 400 }, (_, at) => splitPair(groups, `seed ${at}`))

describe('a pair of the screening', () => {
  test('plays every change on exactly one side', () => {
    for (const { one, other } of pairs([['a'], ['b'], ['c']]))
      for (const change of ['a', 'b', 'c']) expect(one.has(change)).not.toBe(other.has(change))
  })

  test('puts changes together by lot, so that no two always meet', () => {
    const met = pairs([['a'], ['b']]).filter(({ one }) => one.has('a') === one.has('b')).length
    expect(met).toBeGreaterThan(150)
    expect(met).toBeLessThan(250)
  })

  test('never plays two alternatives in one episode, and plays each about as often', () => {
    const all = pairs([['a', 'b', 'c']])
    expect(all.every(({ one, other }) => one.size <= 1 && other.size <= 1 && [...one][0] !== [...other][0])).toBe(true)
    for (const change of ['a', 'b', 'c'])
      expect(all.filter(({ one, other }) => one.has(change) || other.has(change)).length).toBeGreaterThan(150)
  })

  test('is the same for the same seed', () => {
    expect(splitPair([['a'], ['b', 'c']], 'x')).toEqual(splitPair([['a'], ['b', 'c']], 'x'))
  })
})

const scoreOf = (side: ReadonlySet<string>): number => 0.4 + (side.has('helps') ? 0.3 : 0) - (side.has('harms') ? 0.3 : 0)

describe('gains', () => {
  test('tell a change that helps from one that does nothing and one that harms', () => {
    const gains = new Gains<string>()
    for (const pair of pairs([['helps'], ['nothing'], ['harms']])) gains.add(pair, scoreOf(pair.one), scoreOf(pair.other))
    const found = gains.fit()
    expect(found.get('helps')).toBeCloseTo(0.3, 2)
    expect(found.get('nothing')).toBeCloseTo(0, 2)
    expect(found.get('harms')).toBeCloseTo(-0.3, 2)
    expect(gains.pairs).toBe(400)
  })

  test('tell apart two changes that nearly always met', () => {
    const gains = new Gains<string>()
    const [both, apart] = [
      { one: new Set(['helps', 'rides']), other: new Set<string>() },
      { one: new Set(['helps']), other: new Set(['rides']) },
    ]
    for (let n = 0; n < 12; n += 1) gains.add(both, 0.6, 0.2)
    for (let n = 0; n < 4; n += 1) gains.add(apart, 0.6, 0.2)
    const found = gains.fit()
    expect(found.get('helps')).toBeGreaterThan(0.3)
    expect(found.get('rides')).toBeLessThan(0.05)
  })

  test('are none where nothing was played', () => {
    expect(new Gains<string>().fit().size).toBe(0)
  })
})
