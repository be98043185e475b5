/** The time by which tokens expire. */

/**
 * The wall clock in seconds, but never behind the time that has passed here: a clock that is set back gives no token a longer life, and one
 * that was ahead by mistake counts no longer once it is right again.
 */
export function steadyClock(clock: () => number, passedMs: () => number = () => performance.now()): () => number {
  const [start, startMs] = [clock(), passedMs()]
  return () => Math.max(clock(), start + (passedMs() - startMs) / 1000)
}
