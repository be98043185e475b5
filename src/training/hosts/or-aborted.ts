/** What the work comes to, or the signal's reason as soon as it aborts; nobody hears of the work then. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const stop = (): void => reject(signal.reason)
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  // A step that nobody waits for may fail too, and must not end the process by it.
  promise.catch(() => undefined)
  return promise
}
