/** The memory of a start: what is collected, and when. */
import { getHeapSpaceStatistics } from 'node:v8'
import vm from 'node:vm'
import { afterEach, describe, expect, it } from 'vitest'
import { collectGarbage, collectOnceIdle } from './spare-memory.ts'

const LOOK_MS = 20
const leaving: AbortController[] = []
afterEach(() => {
  for (const each of leaving.splice(0)) each.abort()
})

function watched() {
  const controller = new AbortController()
  leaving.push(controller)
  const seen = { collected: 0 }
  const over = collectOnceIdle(controller.signal, () => void (seen.collected += 1), LOOK_MS)
  return { seen, over, controller }
}

/** Keeps the event loop busy for so many looks. */
async function busyFor(looks: number): Promise<void> {
  for (let look = 0; look < looks; look += 1) {
    const until = performance.now() + LOOK_MS
    while (performance.now() < until);
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const roomForNew = (): number => getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.physical_space_size ?? NaN

describe('the memory of a start', () => {
  it('is collected once, when there is nothing to do', async () => {
    const { seen, over } = watched()
    await busyFor(10)
    expect(seen).toEqual({ collected: 0 })
    await over
    expect(seen).toEqual({ collected: 1 })
  })

  it('is left alone by a process that leaves', async () => {
    const { seen, over, controller } = watched()
    controller.abort()
    await over
    expect(seen).toEqual({ collected: 0 })
  })

  it('is left alone where there is work all the time', async () => {
    const { seen, over } = watched()
    await busyFor(80)
    await over
    expect(seen).toEqual({ collected: 0 })
  })

  it('is less afterwards, and no flag stays', () => {
    let garbage: unknown[] | null = Array.from({ length: 200_000 }, (_, index) => ({ index, text: `${index}` }))
    const before = process.memoryUsage().heapUsed
    expect(garbage).toHaveLength(200_000)
    garbage = null
    collectGarbage()
    expect(before - process.memoryUsage().heapUsed).toBeGreaterThan(5_000_000)
    expect(vm.runInNewContext('typeof gc')).toBe('undefined')
  })

  it('leaves no room for new objects that only loading took', () => {
    for (let round = 0; round < 20; round += 1) expect(Array.from({ length: 100_000 }, (_, index) => ({ index }))).toHaveLength(100_000)
    const before = roomForNew()
    collectGarbage()
    expect(roomForNew()).toBeLessThan(before / 4)
  })
})
