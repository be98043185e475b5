/** Other threads of the process use the store too: each has ports of its own to the writer and to the reader. */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { MessageChannel, receiveMessageOnPort, type MessagePort, type Worker } from 'node:worker_threads'
import { storeClosed } from '../../../../src/contract/index.ts'
import type { StoreSettings, ThreadOrder } from './wire.ts'

/** A thread that neither closes the store nor ends is left behind: what it asks later is refused. */
const CLOSING_MS_MAX = 10_000

interface SharedPorts {
  readonly settings: StoreSettings
  readonly writer: MessagePort
  readonly reader: MessagePort
}

/** The threads that use the store besides the one that opened it. */
export class JoinedThreads {
  readonly #settings: StoreSettings
  readonly #writer: Worker
  readonly #reader: { readonly thread: Worker }
  readonly #open = new Set<MessagePort>()
  #isClosed = false

  constructor(settings: StoreSettings, writer: Worker, reader: { readonly thread: Worker }) {
    this.#settings = settings
    this.#writer = writer
    this.#reader = reader
  }

  /** A port that holds the ports, for one thread. It closes when that thread has closed the store, or is over. */
  share(): MessagePort {
    if (this.#isClosed) throw storeClosed()
    const { port1: own, port2: theirs } = new MessageChannel()
    const [writer, reader] = [joinThread(this.#writer), joinThread(this.#reader.thread)]
    own.postMessage({ settings: this.#settings, writer, reader } satisfies SharedPorts, [writer, reader])
    this.#open.add(own)
    own.once('close', () => this.#open.delete(own))
    return theirs
  }

  /** Each finishes what it was asked, then closes. */
  async close(): Promise<void> {
    this.#isClosed = true
    const given = new AbortController()
    const closed = Array.from(this.#open, async (port) => {
      port.postMessage('close' satisfies ThreadOrder)
      await once(port, 'close')
    })
    await Promise.race([Promise.all(closed), sleep(CLOSING_MS_MAX, undefined, { signal: given.signal }).catch(() => undefined)])
    given.abort()
    for (const port of this.#open) port.close()
  }
}

/** In the thread that joins. */
export function receivePorts(port: MessagePort): SharedPorts {
  const received: { readonly message: SharedPorts } | undefined = receiveMessageOnPort(port)
  if (received === undefined) throw storeClosed()
  return received.message
}

function joinThread(thread: Worker): MessagePort {
  const { port1, port2 } = new MessageChannel()
  thread.postMessage({ joined: port1 } satisfies ThreadOrder, [port1])
  return port2
}
