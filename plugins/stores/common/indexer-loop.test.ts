/** Records are taken into the index when nothing else is to be done, or when they waited long enough. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { makeTurns, type IndexerTurn } from './indexer-loop.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** As many turns as there is work for. */
function working(left: number) {
  const seen = { turns: 0, left, isResting: false }
  const turn = (): IndexerTurn => {
    seen.turns += 1
    if (seen.left === 0) return 'nothing left'
    seen.left -= 1
    return 'done'
  }
  const take = makeTurns(
    { turn, close: () => undefined },
    () => void (seen.isResting = true),
    () => undefined,
  )
  return { seen, take }
}

const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds)

describe('an indexer', () => {
  it('works while it is quiet until nothing is left, and then offers to end', async () => {
    const { seen } = working(50)
    await pass(5000)
    expect(seen.left).toBe(0)
    expect(seen.isResting).toBe(false)
    await pass(10_000)
    expect(seen.isResting).toBe(true)
  })

  it('that is told to wait makes no turn until it is woken, and then does the rest', async () => {
    const { seen, take } = working(50)
    await pass(20)
    take('wait')
    const { turns } = seen
    await pass(60_000)
    expect(seen).toMatchObject({ turns, isResting: false })
    expect(turns).toBeLessThan(50)
    take('wake')
    await pass(5000)
    expect(seen.left).toBe(0)
  })

  it.each(['due', 'asked'] as const)('finishes what is %s, also when it is told to wait', async (why) => {
    const { seen, take } = working(50)
    take(why)
    for (let second = 0; second < 5; second += 1) {
      take('wait')
      await pass(1000)
    }
    expect(seen.left).toBe(0)
    // What comes later may wait again.
    seen.left = 50
    take('wake')
    await pass(20)
    take('wait')
    await pass(60_000)
    expect(seen.left).toBeGreaterThan(0)
  })

  it('with nothing to do offers to end all the same when it is told to wait', async () => {
    const { seen, take } = working(0)
    await pass(1000)
    take('wait')
    await pass(10_000)
    expect(seen.isResting).toBe(true)
  })

  it('makes one turn at a time, whatever it is told during one', async () => {
    let [running, most, turns] = [0, 0, 0]
    const turn = async (): Promise<IndexerTurn> => {
      running += 1
      most = Math.max(most, running)
      await new Promise((resolve) => setTimeout(resolve, 100))
      running -= 1
      turns += 1
      return 'done'
    }
    const take = makeTurns(
      { turn, close: () => undefined },
      () => undefined,
      () => undefined,
    )
    await pass(10)
    take('wait')
    take('wake')
    await pass(1000)
    expect(most).toBe(1)
    expect(turns).toBeGreaterThan(2)
  })
})
