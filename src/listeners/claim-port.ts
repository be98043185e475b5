/** Makes sure that the port is nobody else's: listener threads share it, and so could another installation. */
import { createServer, type AddressInfo, type ListenOptions, type Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { hasCode } from '../kit/index.ts'

const LOOK_AGAIN_MS = 20
/** An installation that takes longer to start its listeners is not waited for. */
const WAIT_TRIES = 500

export interface ClaimedPort extends AddressInfo {
  /** To be called once the listeners listen. */
  release(): Promise<void>
}

/**
 * Listens there alone for a moment: that fails while anybody else does, and answers with the real address of a host name and the number of a
 * free port. Until the listeners listen, another installation that starts waits for its turn.
 */
export async function claimPort(host: string, port: number): Promise<ClaimedPort> {
  const turn = await takeTurn(port)
  try {
    const alone = await opened({ host, port, exclusive: true })
    const address = alone.address()
    await closed(alone)
    if (address === null || typeof address === 'string') throw new Error('the server does not listen on a port')
    return { ...address, release: () => closed(turn) }
  } catch (error) {
    await closed(turn)
    throw error
  }
}

async function takeTurn(port: number): Promise<Server | null> {
  for (let tries = 0; tries < WAIT_TRIES; tries += 1) {
    try {
      return await opened({ path: `\0svc-port-${port}` })
    } catch (error) {
      if (!hasCode(error, 'EADDRINUSE')) return null
      await sleep(LOOK_AGAIN_MS)
    }
  }
  return null
}

function opened(at: ListenOptions): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy())
    server.once('error', reject)
    server.listen(at, () => resolve(server))
  })
}

function closed(server: Server | null): Promise<void> {
  return new Promise((resolve) => {
    if (server === null) resolve()
    else server.close(() => resolve())
  })
}
