/** The main thread listening by itself: on a port that nobody else has, with as many sockets as a listener thread. */
import type { RequestListener } from 'node:http'
import { listen } from '../http/index.ts'
import { claimPort } from './claim-port.ts'

export async function listenAlone(listener: RequestListener, at: { readonly host: string; readonly port: number }, graceSeconds?: number) {
  if (process.platform !== 'linux') return listen(listener, at, graceSeconds)
  // A free port that the system chooses is nobody else's already.
  const claimed = at.port === 0 ? null : await claimPort(at.host, at.port)
  try {
    return await listen(listener, { ...at, reusePort: true }, graceSeconds)
  } finally {
    await claimed?.release()
  }
}
