/** The thread that redacts long payloads, seen from both sides. */
import { parentPort, Worker, workerData } from 'node:worker_threads'
import type { JsonObject, Redactor } from '../contract/index.ts'
import { redactPayload } from './redact.ts'

/** A payload that needs more ends the thread, not the service. */
const HEAP_MIB_MAX = 1024

/** By what a thread loads the redactor. */
export interface RedactorSource {
  readonly redactor: string
  readonly settings: JsonObject
  readonly baseDirectory: string
}

interface Asked {
  readonly id: number
  readonly payload: Uint8Array
  readonly isBrokenOff: boolean
}
type Answered = { readonly id: number } & ({ readonly payload: Uint8Array | null } | { readonly error: string })

export class RedactorThread {
  readonly #worker: Worker
  readonly #waiting = new Map<number, PromiseWithResolvers<Uint8Array | null>>()
  #asked = 0
  isOver = false

  constructor(entry: URL, source: RedactorSource) {
    this.#worker = new Worker(entry, { workerData: source, resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB_MAX }, name: 'redactor' })
    this.#worker.unref()
    this.#worker
      .on('message', (answer: Answered) => this.#settle(answer))
      .on('error', (error) => this.#end(error))
      .on('exit', () => this.#end(new Error('the thread that redacts has ended')))
  }

  async redact(payload: Buffer, isBrokenOff: boolean): Promise<Buffer> {
    this.#asked += 1
    const asked: Asked = { id: this.#asked, payload, isBrokenOff }
    const waiting = Promise.withResolvers<Uint8Array | null>()
    this.#waiting.set(asked.id, waiting)
    if (this.isOver) throw new Error('the thread that redacts has ended')
    this.#worker.postMessage(asked, [])
    const redacted = await waiting.promise
    return redacted === null ? payload : Buffer.from(redacted.buffer, redacted.byteOffset, redacted.byteLength)
  }

  async close(): Promise<void> {
    await this.#worker.terminate()
  }

  #settle(answer: Answered): void {
    const waiting = this.#waiting.get(answer.id)
    this.#waiting.delete(answer.id)
    if ('error' in answer) waiting?.reject(new Error(answer.error))
    else waiting?.resolve(answer.payload)
  }

  #end(error: unknown): void {
    this.isOver = true
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
  }
}

/** The inner side: loads the redactor and answers until it is ended. Null where nothing was taken out. */
export function runRedactor(load: (source: RedactorSource) => Promise<Redactor>): void {
  const source: RedactorSource = workerData
  const loading = load(source)
  // The failure is told with each payload.
  loading.catch(() => undefined)
  parentPort?.on('message', (asked: Asked) => void answer(asked))

  async function answer({ id, payload, isBrokenOff }: Asked): Promise<void> {
    try {
      const text = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).toString()
      const redacted = redactPayload(text, await loading, isBrokenOff)
      say({ id, payload: redacted === text ? null : Buffer.from(redacted) })
    } catch (error) {
      say({ id, error: error instanceof Error ? error.message : String(error) })
    }
  }
}

function say(answer: Answered): void {
  parentPort?.postMessage(answer, [])
}
