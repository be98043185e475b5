/** Waits for something no longer than its client does. */
import { unavailable } from '../../contract/index.ts'

export async function untilGone<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: gone, reject } = Promise.withResolvers<never>()
  const leave = (): void => reject(unavailable('client_gone', 'the client closed the connection', { cause: signal.reason }))
  // Once the client is gone nobody hears how the work ended.
  work.catch(() => undefined)
  signal.addEventListener('abort', leave, { once: true })
  if (signal.aborted) leave()
  try {
    return await Promise.race([gone, work])
  } finally {
    signal.removeEventListener('abort', leave)
  }
}
