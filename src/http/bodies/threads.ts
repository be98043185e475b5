/** A few threads for large bodies, started on demand. A thread that dies fails one request and no other. */
import { Worker } from 'node:worker_threads'
import { Refusal, unavailable } from '../../contract/index.ts'
import { BytePieces } from '../../kit/index.ts'
import type { Findings, BodyJob } from './jobs.ts'
import type { FromThread, ToThread } from './thread.ts'

const THREADS_MAX = 2
/** Far more than checking needs. A body that needs more ends its thread, not the service. */
const HEAP_MIB_MAX = 1024
const RETRY_AFTER_SECONDS = 1

interface Waiting {
  readonly message: ToThread
  readonly resolve: (answer: FromThread) => void
  readonly reject: (error: Error) => void
}

export class BodyThreads {
  readonly #entry: URL
  readonly #idle: Worker[] = []
  readonly #all = new Set<Worker>()
  readonly #waiting: Waiting[] = []
  #isClosed = false

  constructor(entry: URL = ownEntry()) {
    this.#entry = entry
  }

  /** Transfers the bytes to a thread; they come back with the findings. */
  async run<K extends BodyJob['kind']>(
    job: BodyJob & { readonly kind: K },
    bytes: BytePieces,
  ): Promise<{ findings: Findings[K]; pieces: BytePieces }> {
    const { promise, resolve, reject } = Promise.withResolvers<FromThread>()
    this.#waiting.push({ message: { job, pieces: bytes.list.map(ownBuffer) }, resolve, reject })
    this.#next()
    const answer = await promise
    if ('refused' in answer) throw new Refusal(answer.refused.kind, answer.refused.code, answer.refused.message)
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the thread answers each job with what the table of findings says
    return { findings: answer.findings as Findings[K], pieces: new BytePieces(answer.pieces.map((piece) => Buffer.from(piece))) }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const { reject } of this.#waiting.splice(0)) reject(lost())
    await Promise.all([...this.#all].map((worker) => worker.terminate()))
  }

  #next(): void {
    if (this.#isClosed) for (const { reject } of this.#waiting.splice(0)) reject(lost())
    if (this.#waiting.length === 0) return
    const worker = this.#idle.pop() ?? (this.#all.size < THREADS_MAX ? this.#tryStart() : undefined)
    const waiting = worker === undefined ? undefined : this.#waiting.shift()
    if (worker !== undefined && waiting !== undefined) this.#give(worker, waiting)
  }

  /** Starting a thread may fail now and work later. While none runs, waiting requests are refused. */
  #tryStart(): Worker | undefined {
    try {
      return this.#start()
    } catch (cause) {
      if (this.#all.size === 0) for (const { reject } of this.#waiting.splice(0)) reject(lost(cause))
      return undefined
    }
  }

  #start(): Worker {
    const worker = new Worker(this.#entry, { name: 'bodies', resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB_MAX } })
    this.#all.add(worker)
    worker.unref()
    worker.on('error', () => undefined)
    worker.once('exit', () => {
      this.#all.delete(worker)
      const at = this.#idle.indexOf(worker)
      if (at !== -1) this.#idle.splice(at, 1)
    })
    return worker
  }

  #give(worker: Worker, { message, resolve, reject }: Waiting): void {
    const settle = (): void => {
      worker.off('message', onAnswer)
      worker.off('exit', onExit)
      worker.unref()
    }
    const onAnswer = (answer: FromThread): void => {
      settle()
      this.#idle.push(worker)
      resolve(answer)
      this.#next()
    }
    const onExit = (): void => {
      settle()
      reject(lost())
      this.#next()
    }
    worker.on('message', onAnswer)
    worker.on('exit', onExit)
    worker.ref()
    worker.postMessage(message, [...message.pieces])
  }
}

/** The file a thread runs, from source and from a build alike. */
function ownEntry(): URL {
  return new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './thread.js', import.meta.url)
}

/** Bytes that share their memory cannot be transferred, so they are copied. */
function ownBuffer(bytes: Buffer): ArrayBuffer {
  const { buffer } = bytes
  const isOwn = buffer instanceof ArrayBuffer && buffer.byteLength === bytes.length
  return isOwn ? buffer : new Uint8Array(bytes).buffer
}

const lost = (cause?: unknown): Refusal =>
  unavailable('body_check_failed', 'the thread that checks large bodies could not check this one; send the request again', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    cause,
  })
