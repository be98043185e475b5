/** Moves the served release to and fro under load, and notes when each connection first sees the release that a move made. */

import { type Client, converse, FailureCount, requestBytes, statusOf } from './connection.ts'
import type { PromoteJob, PromoteResult } from './jobs.ts'
import { spread } from './stats.ts'

/** How long a connection may go on seeing the old release before it counts as never. */
const SEEN_WITHIN_MS = 5000
const LOOK_MS = 5
const RELEASE = /\r\nx-svc-release-id: *(\S+)/i

export async function loadPromote(job: PromoteJob): Promise<PromoteResult> {
  const watch = new Watch(job)
  const clients = Promise.all(Array.from({ length: job.concurrency }, (_, index) => converse(job.port, new WatchingClient(watch, index))))
  await watch.untilAll(() => true)
  for (let move = 0; move < job.moves; move += 1) {
    await watch.move(job.releases[move % job.releases.length] ?? '')
    await new Promise((resolve) => setTimeout(resolve, job.restMs))
  }
  watch.isOver = true
  await clients
  return watch.result()
}

/** What one connection saw last: the release, and when that answer was asked for and came. */
interface Seen {
  readonly release: string
  readonly askedAt: number
  readonly at: number
}

class Watch {
  readonly job: PromoteJob
  readonly request: Buffer
  readonly failures = new FailureCount()
  readonly #seen: Seen[] = []
  readonly #seenMs: number[] = []
  readonly #answeredMs: number[] = []
  #requests = 0
  #moves = 0
  #stale = 0
  /** The release that the last answered move made, and when its answer came. */
  #current: { readonly release: string; readonly at: number } | undefined
  isOver = false

  constructor(job: PromoteJob) {
    this.job = job
    this.request = requestBytes(job.path, job.headers, job.body)
  }

  /** A request sent after a move was answered must be served by what the move made. */
  answered(connection: number, seen: Seen): void {
    this.#requests += 1
    const before = this.#seen[connection]
    if (before?.release !== seen.release) this.#seen[connection] = seen
    if (this.#current !== undefined && seen.askedAt > this.#current.at && seen.release !== this.#current.release) this.#stale += 1
  }

  async move(target: string): Promise<void> {
    this.#current = undefined
    const askedAt = performance.now()
    const headers = { ...this.job.headers, 'content-type': 'application/json' }
    const answer = await fetch(`http://127.0.0.1:${this.job.port}${this.job.movePath}`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ release_id: target }),
    })
    const release = String(Object(await answer.json())['release_id'])
    if (!answer.ok) return this.failures.add(`move: status ${answer.status}`)
    const at = performance.now()
    this.#answeredMs.push(at - askedAt)
    this.#moves += 1
    this.#current = { release, at }
    if (!(await this.untilAll((seen) => seen.release === release))) return this.failures.add('a connection never saw a move')
    this.#seenMs.push(...this.#seen.map((seen) => seen.at - askedAt))
  }

  async untilAll(holds: (seen: Seen) => boolean): Promise<boolean> {
    const isSeen = (): boolean => this.#seen.filter(holds).length === this.job.concurrency
    for (const endsAt = performance.now() + SEEN_WITHIN_MS; !isSeen();) {
      if (performance.now() > endsAt) return false
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    }
    return true
  }

  result(): PromoteResult {
    return {
      requests: this.#requests,
      moves: this.#moves,
      stale: this.#stale,
      seenMs: spread(this.#seenMs),
      answeredMs: spread(this.#answeredMs),
      failures: this.failures.counts,
    }
  }
}

class WatchingClient implements Client {
  readonly #watch: Watch
  readonly #index: number
  readonly #intervalMs: number
  #askedAt = 0
  #status = 0
  #release = ''

  constructor(watch: Watch, index: number) {
    this.#watch = watch
    this.#index = index
    this.#intervalMs = (watch.job.concurrency / watch.job.perSecond) * 1000
  }

  waitMs(): number {
    return this.#askedAt === 0 ? 0 : this.#askedAt + this.#intervalMs - performance.now()
  }

  next(): Buffer | undefined {
    if (this.#watch.isOver) return undefined
    this.#askedAt = performance.now()
    return this.#watch.request
  }

  head(text: string): void {
    this.#status = statusOf(text)
    this.#release = RELEASE.exec(text)?.[1] ?? ''
  }

  body(): void {}

  end(): void {
    if (this.#status !== 200) this.#watch.failures.add(`status ${this.#status}`)
    else if (this.#release === '') this.#watch.failures.add('no release named')
    else this.#watch.answered(this.#index, { release: this.#release, askedAt: this.#askedAt, at: performance.now() })
  }

  broken(cause: string): boolean {
    this.#watch.failures.add(cause)
    return !this.#watch.isOver
  }
}
