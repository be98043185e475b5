/**
 * Runs jobs a few at a time, and returns their results in order. A failure is thrown after running jobs end, so that no episode outlives its
 * step.
 */
export async function inTurns<T>(workers: number, jobs: readonly (() => Promise<T | null>)[]): Promise<readonly (T | null)[]> {
  const done: (T | null)[] = jobs.map(() => null)
  const waiting = [...jobs.entries()]
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, job] = next
      done[index] = await job()
    }
  }
  const stop = (error: unknown): never => {
    waiting.length = 0
    throw error
  }
  const ended = await Promise.allSettled(Array.from({ length: Math.min(workers, jobs.length) }, () => work().catch(stop)))
  for (const end of ended) if (end.status === 'rejected') throw end.reason
  return done
}
