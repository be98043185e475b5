/** Trainers in threads: a bounded number, each for one trainer, kept warm for a while. */
import { keyOf, stopping, type DocumentsOf, type TrainerSpec, type TrainerHost } from './host.ts'
import { HostedThread } from './thread-outside.ts'
import { inTurnsOf, type StartStep } from './turns.ts'
import { orAborted, Slots } from '../../kit/index.ts'

export interface ThreadHostSettings {
  /** How many turns, and how many threads alive, busy and idle together. */
  readonly threads: number
  /** The thread's file, which calls serveTrainer. */
  readonly entry: URL
  /** An idle thread ends after this time. */
  readonly idleSeconds?: number
  /** Documents that all gateways share. Absent: trainers use files of this machine. */
  readonly documents?: DocumentsOf | undefined
}

const IDLE_SECONDS = 30

export function makeThreadHost(settings: ThreadHostSettings): TrainerHost {
  const turns = new Slots(settings.threads)
  const pool = new ThreadPool(settings)
  return {
    inTurn: inTurnsOf(turns, pool.start),
    async close() {
      turns.close(stopping())
      await pool.close()
    },
  }
}

interface Idle {
  readonly thread: HostedThread
  readonly key: string
  readonly timer: NodeJS.Timeout
}

/** Steps are started by who has a turn, so that there are never more than threads. */
export class ThreadPool {
  readonly #max: number
  readonly #entry: URL
  readonly #idleMs: number
  readonly #documents: DocumentsOf | undefined
  readonly #alive = new Set<HostedThread>()
  /** Longest idle first. */
  #idle: readonly Idle[] = []
  #isClosed = false

  constructor({ threads, entry, idleSeconds = IDLE_SECONDS, documents }: ThreadHostSettings) {
    this.#max = threads
    this.#entry = entry
    this.#idleMs = idleSeconds * 1000
    this.#documents = documents
  }

  readonly start: StartStep = (trainer, order, report, signal) => {
    const thread = this.#take(trainer)
    const step = thread.then((taken) => taken.step(order, report, signal))
    const putBack = (): Promise<void> =>
      thread.then(
        (taken) => this.#putBack(taken, trainer),
        // No thread was started.
        () => undefined,
      )
    return { answer: orAborted(step, signal), ended: step.then(putBack, putBack) }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const idle of this.#idle) this.#wake(idle)
    await Promise.all([...this.#alive].map((thread) => thread.end(stopping())))
  }

  /** The trainer's own idle thread, or a new one; at the limit another thread must exit first. */
  async #take(trainer: TrainerSpec): Promise<HostedThread> {
    const own = this.#idle.find(({ key, thread }) => key === keyOf(trainer) && !thread.isSpent)
    if (own !== undefined) return this.#wake(own)
    while (this.#alive.size >= this.#max) await this.#makeRoom()
    if (this.#isClosed) throw stopping()
    const started = new HostedThread(this.#entry, trainer, this.#documents?.(trainer))
    this.#alive.add(started)
    void started.gone.then(() => this.#forget(started))
    return started
  }

  /** A thread is kept after a successful step; any other is ended. */
  async #putBack(thread: HostedThread, trainer: TrainerSpec): Promise<void> {
    if (thread.isSpent || this.#isClosed) return thread.end(stopping())
    const timer = setTimeout(() => void this.#dismiss(idle), this.#idleMs).unref()
    const idle = { thread, key: keyOf(trainer), timer }
    this.#idle = [...this.#idle, idle]
  }

  #wake(idle: Idle): HostedThread {
    clearTimeout(idle.timer)
    this.#idle = this.#idle.filter((other) => other !== idle)
    return idle.thread
  }

  #dismiss(idle: Idle): Promise<void> {
    return this.#wake(idle).end(new Error('the thread was idle'))
  }

  /** There is always one to wait for: the caller holds none, and there are no more turns than threads. */
  async #makeRoom(): Promise<void> {
    const [longest] = this.#idle
    await (longest === undefined ? Promise.race([...this.#alive].map(({ gone }) => gone)) : this.#dismiss(longest))
  }

  #forget(thread: HostedThread): void {
    this.#alive.delete(thread)
    for (const idle of this.#idle) if (idle.thread === thread) this.#wake(idle)
  }
}
