/** Limits of tokens and scenarios: what is let in, what is refused and until when, over threads, jumping clocks and lying providers. */
import { describe, expect, it } from 'vitest'
import { isRefusal } from '../contract/index.ts'
import { allotCells, type CellMemory } from './cells.ts'
import { Limits } from './limits.ts'
import type { LimitSettings, SubjectLimits } from './settings.ts'
import type { LimitAdmission, LimitedToken } from './subjects.ts'
import { atOnce } from './testing/at-once.ts'

const NO_TURNS = { concurrent_requests: 0, requests_per_minute: 0, wait_s: 0 }
const NONE: SubjectLimits = { requests_per_minute: 0, tokens_per_minute: 0, cost_per_day: 0, concurrent_requests: 0 }
const MIDNIGHT = 86_400 * 20_000

interface Setup extends Partial<LimitSettings> {
  readonly memory?: CellMemory
  readonly slot?: number
}

function opened({ memory = allotCells(64, 4), slot = 0, ...settings }: Setup = {}) {
  const time = { now: 1000, wallNow: MIDNIGHT + 3600, passed: () => time.now, wall: () => time.wallNow }
  const all = { token: NONE, tokens: {}, scenario: NONE, scenarios: {}, prices: {}, upstream: NO_TURNS, ...settings }
  const limits = new Limits(all, { memory, slot }, { time })
  const wait = (seconds: number): void => {
    time.now += seconds
    time.wallNow += seconds
  }
  const announce = (scenario = 's', token: string | null = null, own: LimitedToken['limits'] = null): LimitAdmission | null =>
    atOnce(limits.admit(token === null ? null : { name: token, key: token, limits: own }, scenario, 400))
  /** A request whose body is there. */
  const admit = (scenario?: string, token?: string | null): LimitAdmission | null => {
    const admission = announce(scenario, token)
    void admission?.begin()
    return admission
  }
  /** What was refused, or null. */
  const tried = (scenario?: string, token?: string): string | null => {
    try {
      admit(scenario, token)
      return null
    } catch (error) {
      return isRefusal(error) ? `${error.code} ${error.detail.retryAfterSeconds}` : String(error)
    }
  }
  /** Of the token t with limits of its own. */
  const triedWith = (own: LimitedToken['limits']): string | null => {
    try {
      void announce('s', 't', own)?.begin()
      return null
    } catch (error) {
      return String(error)
    }
  }
  /** A request from its begin to its end. */
  const took = (tokens: number, more: { scenario?: string; model?: string } = {}): void => {
    const admission = admit(more.scenario)
    admission?.settle({ model: more.model ?? 'm', inputTokens: tokens, outputTokens: 0, askedBytes: 0, answeredBytes: 0, isWhole: true })
    admission?.leave()
  }
  return { limits, time, wait, announce, admit, tried, triedWith, took, memory }
}

const lettingIn = (count: number, tried: () => string | null): number =>
  Array.from({ length: count }, tried).filter((refused) => refused === null).length

const times = (limits: ReturnType<typeof opened>, own: LimitedToken['limits'], count: number): number =>
  lettingIn(count, () => limits.triedWith(own))

it('without a limit nothing is counted', () => {
  expect(opened().admit('s', 't')).toBeNull()
})

describe("limits of a token's own", () => {
  const token = { ...NONE, requests_per_minute: 3, concurrent_requests: 2 }
  it('count in place of those of the configuration, and what they leave out stays as configured', () => {
    expect(times(opened({ token }), null, 9)).toBe(2)
    expect(times(opened({ token }), { concurrent_requests: 0 }, 9)).toBe(3)
    expect(times(opened({ token }), { requests_per_minute: 5, concurrent_requests: 0 }, 9)).toBe(5)
    expect(times(opened({ tokens: { t: token } }), { requests_per_minute: 0, concurrent_requests: 0 }, 9)).toBe(9)
    expect(times(opened(), { requests_per_minute: 1 }, 9)).toBe(1)
  })

  it('that are changed count what was taken before', () => {
    const limits = opened()
    expect(times(limits, { requests_per_minute: 4 }, 4)).toBe(4)
    expect(times(limits, { requests_per_minute: 6 }, 9)).toBe(2)
    expect(times(limits, { requests_per_minute: 2 }, 9)).toBe(0)
  })

  it('are told with what was used of them, in this window', async () => {
    const { limits, wait, admit } = opened({ token, prices: { m: { input: 1_000_000, output: 0 } } })
    const t = { name: 't', key: 't', limits: { cost_per_day: 10, tokens_per_minute: 100 } }
    const admission = atOnce(limits.admit(t, 's', 0))
    void admission?.begin()
    expect(await limits.usesOf([t])).toMatchObject([{ concurrent_requests: { used: 1, limit: 2 }, cost_per_day: { used: 0, limit: 10 } }])
    admission?.settle({ model: 'm', inputTokens: 4, outputTokens: 0, askedBytes: 0, answeredBytes: 0, isWhole: true })
    expect(await limits.usesOf([t, null, { name: 'new', key: 'new', limits: null }])).toEqual([
      {
        concurrent_requests: { used: 0, limit: 2 },
        requests_per_minute: { used: 1, limit: 3 },
        tokens_per_minute: { used: 4, limit: 100 },
        cost_per_day: { used: 4, limit: 10 },
      },
      null,
      { concurrent_requests: { used: 0, limit: 2 }, requests_per_minute: { used: 0, limit: 3 } },
    ])
    wait(60)
    expect(await limits.usesOf([t])).toMatchObject([
      { requests_per_minute: { used: 0 }, tokens_per_minute: { used: 0 }, cost_per_day: { used: 4 } },
    ])
    expect(admit('s', 'other')).not.toBeNull()
    expect(await opened().limits.usesOf([{ name: 'free', key: 'free', limits: null }])).toEqual([null])
  })
})

describe('requests in a minute', () => {
  const scenario = { ...NONE, requests_per_minute: 5 }

  it('are let in up to the limit, then refused until the minute is over', () => {
    const { tried, wait } = opened({ scenario })
    expect(lettingIn(8, () => tried())).toBe(5)
    wait(45)
    expect(tried()).toBe('requests_limit 15')
    wait(15)
    expect(lettingIn(8, () => tried())).toBe(5)
  })

  it('are counted for each scenario alone, and by its own limit where it has one', () => {
    const { tried } = opened({ scenario, scenarios: { big: { ...NONE, requests_per_minute: 7 }, free: NONE } })
    expect(lettingIn(20, () => tried('a'))).toBe(5)
    expect(lettingIn(20, () => tried('b'))).toBe(5)
    expect(lettingIn(20, () => tried('big'))).toBe(7)
    expect(lettingIn(20, () => tried('free'))).toBe(20)
  })

  it.each(['constructor', 'toString', '__proto__'])('are limited for a scenario and a token called %s', (name) => {
    const { tried } = opened({ scenario, token: { ...NONE, requests_per_minute: 3 } })
    expect(lettingIn(20, () => tried(name))).toBe(5)
    expect(lettingIn(20, () => tried('other', name))).toBe(3)
  })

  it('that the scenario refuses do not count for the token', () => {
    const { tried } = opened({ scenario, token: { ...NONE, requests_per_minute: 8 } })
    expect(lettingIn(20, () => tried('a', 't'))).toBe(5)
    expect(lettingIn(20, () => tried('b', 't'))).toBe(3)
    expect(tried('b', 't')).toMatch(/^requests_limit/)
  })

  it('are not let in again when the clock of the machine is set', () => {
    const { tried, time } = opened({ scenario })
    expect(lettingIn(8, () => tried())).toBe(5)
    for (const jump of [86_400, -200_000, 61]) {
      time.wallNow += jump
      expect(tried()).toMatch(/^requests_limit/)
    }
  })
})

it('a request that takes nothing holds nothing for its answer, and counts as a request', () => {
  const { limits, tried } = opened({ scenario: { ...NONE, tokens_per_minute: 50, requests_per_minute: 5 } })
  for (let request = 0; request < 3; request += 1) void atOnce(limits.admit(null, 's', null))?.begin()
  expect(tried()).toBeNull()
  expect(tried()).toBe('tokens_limit 60')
  expect(() => limits.admit(null, 's', null)).toThrow('tokens')
})

describe('requests at once', () => {
  const scenario = { ...NONE, concurrent_requests: 2 }

  it('are refused beyond the limit, and let in when one is over, however it ended', () => {
    const { admit, tried } = opened({ scenario })
    const [first, second] = [admit(), admit()]
    expect(tried()).toBe('concurrency_limit 1')
    first?.leave()
    first?.leave()
    expect(tried()).toBeNull()
    expect(tried()).toBe('concurrency_limit 1')
    second?.settle({ model: 'm', inputTokens: 1, outputTokens: 1, askedBytes: 1, answeredBytes: 1, isWhole: true })
    second?.leave()
    expect(lettingIn(5, () => tried())).toBe(1)
  })

  it('are those whose body is there: one that never comes takes no place, and no other limit is passed by', () => {
    const { announce, admit, tried } = opened({
      scenario: { ...scenario, requests_per_minute: 14 },
      token: { ...NONE, requests_per_minute: 13 },
    })
    const slow = Array.from({ length: 10 }, () => announce('s', 't'))
    const [first] = [admit('s', 't'), admit('s', 't')]
    expect(tried()).toBe('concurrency_limit 1')
    // It is refused once its body is there, and then counts for nothing, also not for its token.
    expect(() => slow[0]?.begin()).toThrow('2 requests in flight')
    slow[0]?.leave()
    expect(tried('other', 't')).toBeNull()
    expect(tried('other', 't')).toBeNull()
    expect(tried('other', 't')).toMatch(/^requests_limit/)
    first?.leave()
    void slow[1]?.begin()
    expect(tried()).toBe('concurrency_limit 1')
    slow[1]?.leave()
    for (const each of slow) each?.leave()
    expect(tried()).toBeNull()
  })

  it('of a thread that ended are over', () => {
    const one = opened({ scenario })
    const other = opened({ scenario, memory: one.memory, slot: 1 })
    expect(other.tried()).toBeNull()
    expect(one.tried()).toBeNull()
    expect(one.tried()).toMatch(/^concurrency/)
    one.limits.forget(1)
    expect(lettingIn(5, () => one.tried())).toBe(1)
    one.limits.forget(1)
    expect(one.tried()).toMatch(/^concurrency/)
  })
})

describe('tokens in a minute', () => {
  const scenario = { ...NONE, tokens_per_minute: 1000 }

  it('are what the answers took: what goes beyond counts in the next minutes', () => {
    const { took, tried, wait } = opened({ scenario })
    took(600)
    took(2600)
    expect(tried()).toBe('tokens_limit 60')
    wait(60)
    expect(tried()).toBe('tokens_limit 60')
    wait(120)
    expect(tried()).toBeNull()
  })

  it('over many minutes of more demand than that are the limit within 2 %', () => {
    const { took, wait } = opened({ scenario })
    let sum = 0
    for (let second = 0; second < 60 * 60; second += 1) {
      const size = 40 + ((second * 37) % 200)
      try {
        took(size)
        sum += size
      } catch (error) {
        expect(error).toMatchObject({ code: 'tokens_limit' })
      }
      wait(1)
    }
    expect(sum / 60_000).toBeGreaterThan(0.98)
    expect(sum / 60_000).toBeLessThan(1.02)
  })

  it('are set aside for requests in flight, as many as those before took', () => {
    const { took, tried } = opened({ scenario })
    took(300)
    expect(lettingIn(20, () => tried())).toBe(3)
  })

  it('of a request that failed are given back', () => {
    const { took, tried, admit } = opened({ scenario })
    took(300)
    for (let failed = 0; failed < 50; failed += 1) admit()?.leave()
    expect(tried()).toBeNull()
  })

  it('are at least what came of an answer that broke off, whose provider may have counted its beginning', () => {
    const { admit, tried } = opened({ scenario })
    admit()?.settle({ model: 'm', inputTokens: 1, outputTokens: 1, askedBytes: 4, answeredBytes: 4000, isWhole: false })
    expect(tried()).toBe('tokens_limit 60')
  })

  it.each([
    ['none', undefined],
    ['zero', 0],
    ['a number below zero', -5],
    ['no number', Number.NaN],
    ['more than there can be', 1e15],
  ])('are estimated by length where the provider says %s', (_, said) => {
    const { admit, tried, wait } = opened({ scenario })
    admit()?.settle({ model: 'm', inputTokens: said, outputTokens: said, askedBytes: 4000, answeredBytes: 4000, isWhole: true })
    expect(tried()).toBe('tokens_limit 60')
    wait(60)
    expect(tried()).toBe('tokens_limit 60')
    wait(60)
    expect(tried()).toBeNull()
  })
})

describe('money in a day', () => {
  const scenario = { ...NONE, cost_per_day: 1 }
  const prices = { small: { input: 1, output: 2 }, large: { input: 100, output: 200 } }

  it('is spent until the limit, and again from midnight', () => {
    const { took, tried, wait } = opened({ scenario, prices })
    for (let call = 0; call < 10; call += 1) took(100_000, { model: 'small' })
    expect(tried()).toBe(`cost_limit ${23 * 3600}`)
    wait(23 * 3600)
    expect(tried()).toBeNull()
  })

  it('a model without a price costs as much as the dearest, a dated one as the one it is of', () => {
    const { took, tried } = opened({ scenario, prices })
    took(10_000, { model: 'new', scenario: 'a' })
    expect(tried('a')).toMatch(/^cost_limit/)
    took(10_000, { model: 'small-2026-01-31', scenario: 'b' })
    expect(tried('b')).toBeNull()
    const star = opened({ scenario, prices: { ...prices, '*': { input: 1, output: 1 } } })
    star.took(10_000, { model: 'new' })
    expect(star.tried()).toBeNull()
  })

  it('is not there twice when the clock jumps ahead and back', () => {
    const { took, tried, time } = opened({ scenario, prices })
    took(1_000_000, { model: 'small' })
    for (const jump of [86_400 * 3, -86_400 * 3, -86_400, 86_400]) {
      time.wallNow += jump
      expect(tried()).toMatch(/^cost_limit/)
    }
  })
})

describe('cells', () => {
  it('more keys than there is room for take the cells of keys of which nothing counts any more', () => {
    const { tried, wait } = opened({ scenario: { ...NONE, requests_per_minute: 1 } })
    for (let round = 0; round < 20; round += 1) {
      for (let key = 0; key < 20; key += 1) {
        expect(tried(`${round} ${key}`)).toBeNull()
        expect(tried(`${round} ${key}`)).toMatch(/^requests_limit/)
      }
      wait(61)
    }
  })

  it('more keys than there is room for do not make one forgotten that spent money', () => {
    const { took, tried } = opened({
      scenario: { ...NONE, requests_per_minute: 100, cost_per_day: 1 },
      prices: { m: { input: 1, output: 1 } },
    })
    took(1_000_000, { scenario: 'spender' })
    for (let other = 0; other < 2000; other += 1) took(0, { scenario: `other ${other}` })
    expect(tried('spender')).toMatch(/^cost_limit/)
  })

  it('a lock that its thread left behind stops nobody', () => {
    const { tried, memory } = opened({ scenario: { ...NONE, requests_per_minute: 2 } })
    expect(tried()).toBeNull()
    for (let lock = 0; lock < memory.ints.length; lock += 4) memory.ints[lock] = 1
    memory.lock[0] = 1
    expect(tried()).toBeNull()
    expect(tried()).toMatch(/^requests_limit/)
    expect(tried('other')).toBeNull()
  })
})
