/** Waits for work no longer than its client does. */
import { unavailable } from '../../contract/index.ts'
import { orAborted } from '../../kit/index.ts'

export const untilGone = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  orAborted(work, signal, (cause) => unavailable('client_gone', 'the client closed the connection', { cause }))
