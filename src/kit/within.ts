/** Waits for work only so long: for a number of seconds, or until a signal aborts. The work goes on, and its outcome is then ignored. */

export async function within<T>(seconds: number, work: Promise<T>): Promise<T> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(new Error(`no answer after ${seconds} s`)), seconds * 1000)
  return orAborted(work, late.signal).finally(() => clearTimeout(timer))
}

/** Fails with the signal's reason, or with the error made of it, as soon as the signal aborts. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal, errorOf = (reason: unknown): unknown => reason): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const stop = (): void => reject(errorOf(signal.reason))
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  // A failure that is not awaited must not end the process.
  promise.catch(() => undefined)
  return promise
}
