/** A link between a program and a server of this machine that a test can cut, hold up or slow down. */
import { connect, createServer, type Socket } from 'node:net'
import { listenOnLoopback } from './listen.ts'

export interface Link {
  readonly port: number
  /** Nothing passes any more, and nobody is told: what is open stays open. New connections are made and hear nothing. */
  hold(): void
  /** The same for the connections that are open now, or for those of them that said these words; new ones are as before. */
  holdOpen(words?: string): void
  /** New connections pass again. What was held passes too, unless it is left as it is. */
  release(held?: 'pass on' | 'leave'): void
  /** Ends all connections. */
  cut(): void
  /** Every piece takes so long in each direction. */
  delay(milliseconds: number): void
  close(): void
}

interface Pair {
  readonly sockets: readonly [Socket, Socket]
  said: string
  isHeld: boolean
  readonly waiting: (() => void)[]
}

/** What a client says first is enough to tell connections apart. */
const SAID_MAX = 4096

export async function startLink(target: number): Promise<Link> {
  const pairs = new Set<Pair>()
  let isHeld = false
  let delayMs = 0
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ port: target, host: '127.0.0.1', noDelay: true })
    const pair: Pair = { sockets: [near, far], said: '', isHeld, waiting: [] }
    pairs.add(pair)
    near.on('data', (bytes) => {
      if (pair.said.length < SAID_MAX) pair.said += bytes.toString('latin1')
      pass(pair, () => far.write(bytes))
    })
    far.on('data', (bytes) => pass(pair, () => near.write(bytes)))
    for (const [socket, other] of [pair.sockets, pair.sockets.toReversed()]) {
      socket?.on('error', () => undefined)
      socket?.on('close', () => pass(pair, () => other?.destroy()))
    }
    far.on('close', () => pairs.delete(pair))
  })
  function pass(pair: Pair, move: () => void): void {
    if (pair.isHeld) pair.waiting.push(move)
    else if (delayMs > 0) setTimeout(move, delayMs)
    else move()
  }
  const holdThose = (are: (pair: Pair) => boolean): void => {
    for (const pair of pairs) if (are(pair)) pair.isHeld = true
  }
  const destroyAll = (): void => {
    for (const { sockets } of pairs) for (const socket of sockets) socket.destroy()
  }
  return {
    port: await listenOnLoopback(server),
    hold() {
      isHeld = true
      holdThose(() => true)
    },
    holdOpen: (words = '') => holdThose(({ said }) => said.includes(words)),
    release(held = 'pass on') {
      isHeld = false
      if (held === 'leave') return
      for (const pair of pairs) {
        pair.isHeld = false
        for (const move of pair.waiting.splice(0)) move()
      }
    },
    cut: destroyAll,
    delay(milliseconds) {
      delayMs = milliseconds
    },
    close() {
      server.close()
      destroyAll()
    },
  }
}
