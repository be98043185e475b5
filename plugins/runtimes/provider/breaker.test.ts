import { describe, expect, it } from 'vitest'
import { Breaker, Breakers } from './breaker.ts'

function made(failures = 3) {
  const time = { now: 1000 }
  const told: (number | null)[] = []
  const breaker = new Breaker(
    { failures, restSeconds: 30 },
    () => time.now,
    (until) => told.push(until),
  )
  const fail = (times: number): void => {
    for (let turn = 0; turn < times; turn++) breaker.failed(breaker.begin())
  }
  return { time, told, breaker, fail }
}

describe('a breaker', () => {
  it('opens after so many failures in a row, and not before', () => {
    const { breaker, fail, told } = made()
    fail(2)
    expect(breaker.admits()).toBe(true)
    fail(1)
    expect([breaker.state, breaker.admits(), breaker.restsUntil]).toEqual(['open', false, 1030])
    expect(told).toEqual([1030])
  })

  it('counts from the beginning after a success', () => {
    const { breaker, fail } = made()
    fail(2)
    breaker.worked(breaker.begin())
    fail(2)
    expect(breaker.state).toBe('closed')
  })

  it('lets one call try when the rest is over, and closes when that works', () => {
    const { breaker, fail, time, told } = made()
    fail(3)
    time.now = 1029.9
    expect(breaker.admits()).toBe(false)
    time.now = 1030
    expect(breaker.admits()).toBe(true)
    const isTrial = breaker.begin()
    expect([isTrial, breaker.state, breaker.admits()]).toEqual([true, 'trying', false])
    breaker.worked(isTrial)
    expect([breaker.state, breaker.admits()]).toEqual(['closed', true])
    expect(told).toEqual([1030, null])
  })

  it('lets one call try when the clock is set back, since it would else rest for as much longer', () => {
    const { breaker, fail, time } = made()
    fail(3)
    time.now = 1000 - 3600
    expect(breaker.admits()).toBe(true)
    breaker.failed(breaker.begin())
    expect([breaker.admits(), breaker.restsUntil]).toEqual([false, 1030 - 3600])
  })

  it('rests again when the trial fails, and lets another try when its caller left', () => {
    const { breaker, fail, time } = made()
    fail(3)
    time.now = 1030
    breaker.failed(breaker.begin())
    expect([breaker.state, breaker.restsUntil]).toEqual(['open', 1060])
    time.now = 1060
    breaker.left(breaker.begin())
    expect(breaker.admits()).toBe(true)
  })

  it('is not changed by calls that began before the rest', () => {
    const { breaker, fail, time } = made()
    const before = breaker.begin()
    fail(3)
    time.now = 1010
    breaker.worked(before)
    breaker.failed(before)
    expect([breaker.state, breaker.restsUntil]).toEqual(['open', 1030])
  })

  it('takes what another thread found out, and tells nobody of that', () => {
    const { breaker, told } = made()
    breaker.take(1500)
    expect(breaker.admits()).toBe(false)
    breaker.take(null)
    expect(breaker.admits()).toBe(true)
    expect(told).toEqual([])
  })

  it('never opens where it is switched off', () => {
    const { breaker, fail } = made(0)
    fail(100)
    expect(breaker.state).toBe('closed')
  })
})

function manyModels(count: number): Breakers {
  const breakers = new Breakers(
    { failures: 2, restSeconds: 30 },
    () => 1000,
    () => undefined,
  )
  for (let model = 0; model < count; model++) for (let turn = 0; turn < 2; turn++) breakers.failed(`m${model}`, false, 529)
  return breakers
}

describe('the breakers of an upstream', () => {
  it('are one for each model that failed, and forgotten with its next success', () => {
    const breakers = manyModels(1)
    expect([breakers.of('m0')?.lastStatus, breakers.of('m1')]).toEqual([529, null])
    breakers.worked('m0', breakers.of('m0')?.begin() === true)
    expect(breakers.of('m0')).toBeNull()
  })

  it('are no more than 256, of which the oldest is forgotten, and hold no long name', () => {
    const breakers = manyModels(300)
    expect([breakers.resting.size, breakers.of('m43'), breakers.of('m44')?.state]).toEqual([256, null, 'open'])
    breakers.take('x'.repeat(257), 1030, 0)
    expect([...breakers.resting.keys()].at(-1)).toBe('')
    expect(breakers.of('y'.repeat(1000))?.state).toBe('open')
  })
})
