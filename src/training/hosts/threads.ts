/** Trainers in threads: never more threads than allowed, each for one trainer alone, warm for as long as it is asked again soon. */
import type { Reporter, StepResult } from '../../contract/index.ts'
import { Lane } from '../../kit/index.ts'
import { keyOf, stopping, type RunStep, type StoredOrder, type TrainerAddress, type TrainerHost } from './host.ts'
import { HostedThread } from './hosted-thread.ts'
import { orAborted } from './or-aborted.ts'
import { Turns } from './turns.ts'

export interface ThreadHostSettings {
  /** How many turns at once, and how many threads alive at once, busy and idle together. */
  readonly threads: number
  /** The file that a thread runs: it hands the recipe to serveTrainer. */
  readonly entry: URL
  /** An idle thread ends after so long. */
  readonly idleSeconds?: number
}

const IDLE_SECONDS = 30

export function makeThreadHost({ threads, entry, idleSeconds = IDLE_SECONDS }: ThreadHostSettings): TrainerHost {
  const turns = new Turns(threads)
  const pool = new Pool(threads, entry, idleSeconds)
  return {
    async inTurn(trainer, signal, work) {
      const giveBack = await turns.take(signal)
      const seat = new Seat(pool, trainer)
      try {
        return await work((order, report, stop) => seat.step(order, report, stop))
      } finally {
        // Whoever waits for the answer has it; the next in the queue waits until the thread is idle or gone.
        void seat.leave().then(giveBack)
      }
    },
    async close() {
      turns.close(stopping())
      await pool.close()
    },
  }
}

/** One turn of one trainer. Its steps run one after the other, in the same thread while that goes well. */
class Seat {
  readonly #pool: Pool
  readonly #trainer: TrainerAddress
  readonly #lane = new Lane()
  #thread: HostedThread | null = null
  #hasLeft = false

  constructor(pool: Pool, trainer: TrainerAddress) {
    this.#pool = pool
    this.#trainer = trainer
  }

  readonly step: RunStep = (order, report, signal) =>
    orAborted(
      this.#lane.run(() => this.#step(order, report, signal)),
      signal,
    )

  async #step(order: StoredOrder, report: Reporter, signal: AbortSignal): Promise<StepResult> {
    if (this.#hasLeft) throw new Error('a step was asked for after its turn was over')
    const thread = await this.#ready()
    signal.throwIfAborted()
    try {
      return await thread.step(order, report, signal)
    } catch (error) {
      // A trainer that failed may have left anything behind: the next step begins in a thread of its own.
      void thread.end(new Error('its step failed'))
      throw error
    }
  }

  async #ready(): Promise<HostedThread> {
    if (this.#thread === null || this.#thread.isSpent) {
      await this.#thread?.gone
      this.#thread = await this.#pool.take(this.#trainer)
    }
    return this.#thread
  }

  async leave(): Promise<void> {
    this.#hasLeft = true
    await this.#lane.run(async () => {
      if (this.#thread !== null) await this.#pool.putBack(this.#thread, this.#trainer)
    })
  }
}

interface Idle {
  readonly thread: HostedThread
  readonly key: string
  readonly timer: NodeJS.Timeout
}

class Pool {
  readonly #max: number
  readonly #entry: URL
  readonly #idleMs: number
  readonly #alive = new Set<HostedThread>()
  /** The one idle longest comes first. */
  #idle: readonly Idle[] = []
  #isClosed = false

  constructor(max: number, entry: URL, idleSeconds: number) {
    this.#max = max
    this.#entry = entry
    this.#idleMs = idleSeconds * 1000
  }

  /** The trainer's own thread where it still has one. Otherwise a fresh one, after another has gone if there are as many as allowed. */
  async take(trainer: TrainerAddress): Promise<HostedThread> {
    const own = this.#idle.find(({ key, thread }) => key === keyOf(trainer) && !thread.isSpent)
    if (own !== undefined) return this.#wake(own)
    while (this.#alive.size >= this.#max) await this.#makeRoom()
    if (this.#isClosed) throw stopping()
    const started = new HostedThread(this.#entry, trainer)
    this.#alive.add(started)
    void started.gone.then(() => this.#forget(started))
    return started
  }

  /** After a step that ended well the thread is kept; any other is waited for until it is gone. */
  async putBack(thread: HostedThread, trainer: TrainerAddress): Promise<void> {
    if (thread.isSpent || this.#isClosed) return thread.end(stopping())
    const timer = setTimeout(() => void this.#dismiss(idle), this.#idleMs).unref()
    const idle = { thread, key: keyOf(trainer), timer }
    this.#idle = [...this.#idle, idle]
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const idle of this.#idle) this.#wake(idle)
    await Promise.all([...this.#alive].map((thread) => thread.end(stopping())))
  }

  #wake(idle: Idle): HostedThread {
    clearTimeout(idle.timer)
    this.#idle = this.#idle.filter((other) => other !== idle)
    return idle.thread
  }

  #dismiss(idle: Idle): Promise<void> {
    return this.#wake(idle).end(new Error('nobody needed it'))
  }

  /** There is always one to wait for: whoever asks holds none itself, and there are no more turns than threads. */
  async #makeRoom(): Promise<void> {
    const [longest] = this.#idle
    await (longest === undefined ? Promise.race([...this.#alive].map(({ gone }) => gone)) : this.#dismiss(longest))
  }

  #forget(thread: HostedThread): void {
    this.#alive.delete(thread)
    for (const idle of this.#idle) if (idle.thread === thread) this.#wake(idle)
  }
}
