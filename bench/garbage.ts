/** Has a Node process collect all its garbage, through its inspector, so that what is left is what it holds. */
import { readFileSync } from 'node:fs'

/** Must stand in the environment of the process: a port that is free, opened by the signal alone. */
export const INSPECTABLE = '--inspect-port=127.0.0.1:0'

const LISTENING = /Debugger listening on (ws:\S+)/
const OPEN_WITHIN_MS = 30_000

/** Of the main thread: bytes of its heap and of its buffers after a collection. */
export class GarbageCollector {
  readonly #socket: WebSocket
  #asked = 0

  private constructor(socket: WebSocket) {
    this.#socket = socket
  }

  /** The log is the file that holds what the process prints. */
  static async of(pid: number, log: string): Promise<GarbageCollector> {
    process.kill(pid, 'SIGUSR1')
    const socket = new WebSocket(await addressIn(log))
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve, { once: true })
      socket.addEventListener('error', () => reject(new Error('the inspector of the service cannot be reached')), { once: true })
    })
    return new GarbageCollector(socket)
  }

  async collect(): Promise<number> {
    await this.#ask('HeapProfiler.collectGarbage')
    const { usedSize, backingStorageSize } = await this.#ask('Runtime.getHeapUsage')
    return Number(usedSize) + Number(backingStorageSize ?? 0)
  }

  close(): void {
    this.#socket.close()
  }

  #ask(method: string): Promise<Readonly<Record<string, unknown>>> {
    this.#asked += 1
    const id = this.#asked
    return new Promise((resolve, reject) => {
      const hear = ({ data }: MessageEvent): void => {
        const answer: { readonly id?: number; readonly result?: Record<string, unknown>; readonly error?: unknown } = JSON.parse(
          String(data),
        )
        if (answer.id !== id) return
        this.#socket.removeEventListener('message', hear)
        if (answer.result === undefined) reject(new Error(`the inspector refused ${method}`))
        else resolve(answer.result)
      }
      this.#socket.addEventListener('message', hear)
      this.#socket.addEventListener('close', () => reject(new Error('the inspector of the service went away')), { once: true })
      this.#socket.send(JSON.stringify({ id, method }))
    })
  }
}

async function addressIn(log: string): Promise<string> {
  for (const until = performance.now() + OPEN_WITHIN_MS; performance.now() < until;) {
    const [, address] = LISTENING.exec(readFileSync(log, 'utf8')) ?? []
    if (address !== undefined) return address
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('the service opened no inspector')
}
