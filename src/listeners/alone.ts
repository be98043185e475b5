/** The main thread listening by itself: on a port that nobody else has, with as many sockets as a listener thread. */
import type { RequestListener } from 'node:http'
import { listen, type TlsPair } from '../http/index.ts'
import { claimPort } from './claim-port.ts'
import type { Reconfigure } from './wire.ts'

export async function listenAlone(
  listener: RequestListener,
  at: { readonly host: string; readonly port: number },
  options: { readonly graceSeconds: number | undefined; readonly tls: TlsPair | null },
) {
  const { useTls, ...server } = await listenClaimed(listener, at, options)
  const reconfigure: Reconfigure = async (_, tls) => {
    if (tls !== null) useTls(tls)
  }
  return { ...server, reconfigure }
}

async function listenClaimed(...[listener, at, options]: Parameters<typeof listenAlone>) {
  if (process.platform !== 'linux') return listen(listener, at, options)
  // A free port that the system chooses is nobody else's already.
  const claimed = at.port === 0 ? null : await claimPort(at.host, at.port)
  try {
    return await listen(listener, { ...at, reusePort: true }, options)
  } finally {
    await claimed?.release()
  }
}
