import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { within } from './within.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

describe('waiting for other code', () => {
  it('answers what they answer, throws what they throw, and leaves no timer behind', async () => {
    await expect(within(60, Promise.resolve('done'))).resolves.toBe('done')
    await expect(within(60, Promise.reject(new Error('theirs')))).rejects.toThrow('theirs')
    expect(vi.getTimerCount()).toBe(0)
  })

  it('ends after so many seconds and no sooner', async () => {
    const ended = vi.fn<(error: unknown) => void>()
    const waiting = within(60, new Promise(() => undefined)).catch(ended)
    await vi.advanceTimersByTimeAsync(59_999)
    expect(ended).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    await waiting
    expect(ended).toHaveBeenCalledWith(new Error('no answer after 60 s'))
  })

  it('ignores a failure after that, and so does the process', async () => {
    const { promise, reject } = Promise.withResolvers<never>()
    const waiting = expect(within(1, promise)).rejects.toThrow('no answer')
    await vi.advanceTimersByTimeAsync(1000)
    await waiting
    reject(new Error('late'))
    await vi.advanceTimersByTimeAsync(0)
  })
})
