/** Waits for somebody else's work no longer than so many seconds. What is late goes on, and nobody waits for it any more. */

export async function within<T>(seconds: number, work: Promise<T>): Promise<T> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no answer after ${seconds} s`)), seconds * 1000)
  // Once nobody waits for it any more, its failure is nobody's either.
  work.catch(() => undefined)
  try {
    return await Promise.race([work, tooLate])
  } finally {
    clearTimeout(timer)
  }
}
