/** Turns at the upstream: who is next, when, and who waits in vain. */
import { describe, expect, it } from 'vitest'
import { allotCells } from './cells.ts'
import { Limits } from './limits.ts'
import type { UpstreamLimits } from './settings.ts'

const NONE = { requests_per_minute: 0, tokens_per_minute: 0, cost_per_day: 0, concurrent_requests: 0 }

function opened(upstream: Partial<UpstreamLimits>, threads = 1) {
  const time = { now: 1000, passed: () => time.now, wall: () => time.now }
  const memory = allotCells(64, threads)
  const all = { concurrent_requests: 0, requests_per_minute: 0, wait_s: 30, ...upstream }
  const settings = { token: NONE, tokens: {}, scenario: NONE, scenarios: {}, prices: {}, upstream: all }
  const each = Array.from({ length: threads }, (_, slot) => new Limits(settings, { memory, slot }, { time }))
  const served: string[] = []
  const inside: (() => void)[] = []
  const left = new AbortController()
  /** Asks for a turn, and notes when it is given. */
  const ask = (scenario: string, { thread = 0, signal = left.signal } = {}): Promise<void> => {
    const turn = each[thread]?.turn(scenario, () => signal)
    const begin = (leave: () => void): void => {
      served.push(scenario)
      inside.push(leave)
    }
    if (typeof turn !== 'function') return Promise.resolve(turn ?? null).then((leave) => (leave === null ? undefined : begin(leave)))
    begin(turn)
    return Promise.resolve()
  }
  /** The oldest one that is served ends. */
  const end = async (): Promise<void> => {
    inside.shift()?.()
    await settle()
  }
  return { time, each, served, ask, end, left }
}

/** Promises that are resolved go on. */
const settle = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

describe('turns', () => {
  it('are free where the upstream has no limit', () => {
    const { each } = opened({})
    expect(each[0]?.turn('a', () => AbortSignal.abort())).toBeNull()
  })

  it('beyond what is answered at once are given as others end; a scenario that asks for little is next', async () => {
    const { ask, end, served } = opened({ concurrent_requests: 10 })
    for (let asked = 0; asked < 50; asked += 1) void ask('noisy')
    // Nine tenths: another finds room at once.
    expect(served).toHaveLength(9)
    void ask('quiet')
    void ask('quiet')
    await settle()
    expect(served.slice(9)).toEqual(['quiet'])
    await end()
    await end()
    expect(served.slice(10).sort()).toEqual(['noisy', 'quiet'])
    for (let ended = 0; ended < 20; ended += 1) await end()
    expect(served.length).toBeGreaterThan(28)
    expect(new Set(served.slice(12))).toEqual(new Set(['noisy']))
  })

  it('are equal for scenarios that all want more than there is', async () => {
    const { ask, end, served } = opened({ concurrent_requests: 4 })
    for (let asked = 0; asked < 100; asked += 1) void ask('a')
    for (let asked = 0; asked < 60; asked += 1) for (const scenario of ['b', 'c']) void ask(scenario)
    for (let ended = 0; ended < 90; ended += 1) await end()
    const count = (name: string): number => served.filter((each) => each === name).length
    for (const name of ['a', 'b', 'c']) expect(count(name)).toBeGreaterThanOrEqual(28)
    expect(served).toHaveLength(94)
  })

  it('of a minute are evenly spread, and the burst of a noisy one leaves the next to the other', async () => {
    const { ask, served, time } = opened({ requests_per_minute: 60 })
    for (let asked = 0; asked < 20; asked += 1) void ask('noisy')
    expect(served).toEqual(['noisy'])
    void ask('quiet')
    for (let second = 0; second < 4; second += 1) {
      time.now += 1
      void ask('noisy')
      await settle()
    }
    expect(served.slice(0, 5)).toEqual(['noisy', 'quiet', 'noisy', 'noisy', 'noisy'])
  })

  it('that do not come in time are refused, and so are more than may wait', async () => {
    const { ask, time, served, end } = opened({ concurrent_requests: 1 })
    void ask('a')
    const late = expect(ask('a')).rejects.toMatchObject({ kind: 'limited', code: 'upstream_queue' })
    time.now += 31
    await end()
    await late
    expect(served).toEqual(['a'])
    void ask('a')
    const waiting = Array.from({ length: 256 }, () => ask('a').catch(() => undefined))
    await expect(ask('a')).rejects.toMatchObject({ code: 'upstream_queue' })
    time.now += 31
    await end()
    await Promise.all(waiting)
  })

  it('that a scenario asked for and did not get put its later ones off by nothing', async () => {
    const { ask, end, served, time } = opened({ concurrent_requests: 1 })
    void ask('b')
    const late = Array.from({ length: 100 }, () => ask('a').catch(() => undefined))
    const left = new AbortController()
    const gone = Array.from({ length: 100 }, () => ask('a', { signal: left.signal }).catch(() => undefined))
    left.abort()
    time.now += 31
    await Promise.all([...late, ...gone])
    for (let asked = 0; asked < 10; asked += 1) void ask('b')
    void ask('a')
    await end()
    await end()
    expect(served).toEqual(['b', 'a', 'b'])
    for (let ended = 0; ended < 10; ended += 1) await end()
  })

  it('of a client that left go to the next', async () => {
    const { ask, end, served } = opened({ concurrent_requests: 1 })
    void ask('a')
    const gone = new AbortController()
    const left = expect(ask('a', { signal: gone.signal })).rejects.toMatchObject({ code: 'client_gone' })
    void ask('b')
    gone.abort()
    await left
    await expect(ask('a', { signal: gone.signal })).rejects.toMatchObject({ code: 'client_gone' })
    await end()
    expect(served).toEqual(['a', 'b'])
    await end()
  })

  it('are given in one order over all threads, and those of a thread that ended are free', async () => {
    const { ask, end, served, each } = opened({ concurrent_requests: 2 }, 2)
    void ask('noisy', { thread: 0 })
    void ask('noisy', { thread: 0 })
    void ask('noisy', { thread: 0 })
    void ask('quiet', { thread: 1 })
    expect(served).toEqual(['noisy', 'quiet'])
    each[0]?.forget(1)
    await end()
    await expect.poll(() => served.length).toBe(3)
    expect(served).toEqual(['noisy', 'quiet', 'noisy'])
    await end()
  })
})
