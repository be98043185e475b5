/** The episodes that wait for a worker, and the leases of those that are played. In memory: a step that is done again offers them again. */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { conflict, limited, unavailable, unknown, type JsonObject } from '../contract/index.ts'
import { Checks } from './checks.ts'
import type { CountedCall, FleetStatus, OfferedEpisode, EpisodeAnswer, TakenEpisode, WorkerOffer } from './episodes.ts'

/** How long a worker may be silent before its episode is given to another one. */
const LEASE_MS = 10_000
/** How often a worker says that it still plays. */
export const BEAT_MS = 1000
/** An episode that so many workers lost is not given to one more. */
const TRIES_MAX = 3
/** One in so many is played twice, by two workers. */
const CHECK_EVERY = 20
/** A worker that was not heard of for so long is forgotten. */
const FORGOTTEN_MS = 10 * 60_000
/** Seen this recently, it may still take the second play of a check. */
const PRESENT_MS = 30_000
/** Of one worker at once. */
const LEASES_MAX = 256
const WORKERS_MAX = 10_000

interface Worker {
  slots: number
  plays: ReadonlySet<string>
  seenAt: number
  played: number
  lost: number
}

interface Waiting {
  readonly episode: OfferedEpisode
  readonly since: number
  readonly calls: CountedCall[]
  /** The other play of the same episode, for a check. */
  twin: Waiting | null
  tries: number
  lease: Lease | null
  /** Who played it. */
  by: string | null
  readonly done: (played: EpisodeAnswer) => void
  readonly failed: (error: Error) => void
}

interface Lease {
  readonly id: string
  readonly key: string
  readonly worker: string
  readonly waiting: Waiting
  beatAt: number
}

interface Taker {
  readonly offer: WorkerOffer
  readonly give: (taken: TakenEpisode | null) => void
}

export interface QueueOptions {
  /** In milliseconds; never set back. */
  readonly now?: () => number
  readonly checkEvery?: number
  readonly leaseMs?: number
}

export class EpisodeQueue {
  readonly #now: () => number
  readonly #checkEvery: number
  readonly #leaseMs: number
  readonly #waiting = new Set<Waiting>()
  readonly #leases = new Map<string, Lease>()
  readonly #takers = new Set<Taker>()
  readonly #workers = new Map<string, Worker>()
  readonly #checks = new Checks()
  readonly #timer: NodeJS.Timeout
  #offered = 0
  #isClosed = false

  constructor({ now = () => performance.now(), checkEvery = CHECK_EVERY, leaseMs = LEASE_MS }: QueueOptions = {}) {
    this.#now = now
    this.#checkEvery = checkEvery
    this.#leaseMs = leaseMs
    this.#timer = setInterval(() => this.tidy(), BEAT_MS)
    this.#timer.unref()
  }

  /** Resolves once a worker has played it. */
  async play(episode: OfferedEpisode, signal: AbortSignal): Promise<EpisodeAnswer> {
    this.#offered += 1
    if (this.#offered % this.#checkEvery !== 0) return this.#offer(episode, signal).played
    return this.#playTwice(episode, signal)
  }

  /** The scores of both are compared; the first one counts. */
  async #playTwice(episode: OfferedEpisode, signal: AbortSignal): Promise<EpisodeAnswer> {
    const spare = new AbortController()
    const first = this.#offer(episode, signal)
    const second = this.#offer(episode, AbortSignal.any([signal, spare.signal]))
    first.waiting.twin = second.waiting
    second.waiting.twin = first.waiting
    const checking = second.played.catch(() => null)
    const played = await first.played.finally(() => {
      if (!this.#isPlayable(second.waiting)) spare.abort()
    })
    const again = await checking
    if (again === null) return played
    this.#checks.add(played.worker, again.worker, scoreOf(played.result) === scoreOf(again.result))
    return { ...played, calls: [...played.calls, ...again.calls] }
  }

  #offer(episode: OfferedEpisode, signal: AbortSignal): { readonly waiting: Waiting; readonly played: Promise<EpisodeAnswer> } {
    const { promise, resolve, reject } = Promise.withResolvers<EpisodeAnswer>()
    const since = this.#now()
    const waiting: Waiting = { episode, since, calls: [], twin: null, tries: 0, lease: null, by: null, done: resolve, failed: reject }
    const cancel = (): void => this.#drop(waiting, signal.reason)
    if (this.#isClosed) reject(closing())
    else if (signal.aborted) reject(signal.reason)
    else {
      this.#waiting.add(waiting)
      signal.addEventListener('abort', cancel, { once: true })
      // Both plays of a check are offered before one is handed out.
      queueMicrotask(() => this.#handOut())
    }
    return { waiting, played: promise.finally(() => signal.removeEventListener('abort', cancel)) }
  }

  #drop(waiting: Waiting, reason: Error): void {
    this.#waiting.delete(waiting)
    if (waiting.lease !== null) this.#leases.delete(waiting.lease.id)
    waiting.failed(reason)
  }

  /** Waits for an episode; null once the signal says so. */
  take(offer: WorkerOffer, signal: AbortSignal): Promise<TakenEpisode | null> {
    this.#hear(offer)
    if (this.#isSetAside(offer.name))
      throw conflict(
        'worker_set_aside',
        `the scores of worker ${offer.name} differ from those of other workers far more often than theirs from each other: look at its machine and its configuration, then give it another name`,
      )
    if (this.#leasesOf(offer.name).length >= LEASES_MAX)
      throw limited('worker_limit', `worker ${offer.name} plays ${LEASES_MAX} episodes already, which is the most`, 1)
    const { promise, resolve } = Promise.withResolvers<TakenEpisode | null>()
    const leave = (): void => taker.give(null)
    const taker: Taker = {
      offer,
      give: (taken) => {
        this.#takers.delete(taker)
        signal.removeEventListener('abort', leave)
        resolve(taken)
      },
    }
    this.#takers.add(taker)
    signal.addEventListener('abort', leave, { once: true })
    if (signal.aborted || this.#isClosed) leave()
    else this.#handOut()
    return promise
  }

  /** Whether the worker should go on; false: the episode is not wanted any more, or another worker has it. */
  beat(name: string, leaseId: string): boolean {
    const lease = this.#leases.get(leaseId)
    if (lease?.worker !== name) return false
    lease.beatAt = this.#now()
    const worker = this.#workers.get(name)
    if (worker !== undefined) worker.seenAt = this.#now()
    return true
  }

  /** A result counts once, and only from the worker that has the lease. */
  finish(name: string, leaseId: string, result: JsonObject): void {
    const { waiting } = this.#leaseOf(name, leaseId)
    this.#leases.delete(leaseId)
    const worker = this.#workers.get(name)
    if (worker !== undefined) worker.played += 1
    waiting.by = name
    waiting.done({ worker: name, result, calls: waiting.calls })
    this.#handOut()
  }

  /** Gives an episode back that the worker cannot play now. */
  giveBack(name: string, leaseId: string): void {
    this.#requeue(this.#leaseOf(name, leaseId))
    this.#handOut()
  }

  #leaseOf(name: string, leaseId: string): Lease {
    const lease = this.#leases.get(leaseId)
    if (lease?.worker === name) return lease
    throw unknown('unknown_lease', 'this worker has no such episode: it was cancelled, or another worker has it by now')
  }

  /** The lease that a key opens the model for; null where there is none any more. */
  leaseWith(key: string): { readonly id: string; readonly scenario: string } | null {
    for (const lease of this.#leases.values()) if (isSame(lease.key, key)) return { id: lease.id, scenario: lease.waiting.episode.scenario }
    return null
  }

  /** A model call of a lease. Those of an earlier lease of the same episode were paid for too. */
  called(leaseId: string, call: CountedCall): void {
    this.#leases.get(leaseId)?.waiting.calls.push(call)
  }

  get status(): FleetStatus {
    const now = this.#now()
    const since = Math.min(now, ...[...this.#waiting].map((waiting) => waiting.since))
    return {
      workers: [...this.#workers].map(([name, { slots, played, lost, seenAt }]) => ({
        name,
        slots,
        running: this.#leasesOf(name).length,
        played,
        lost,
        ...this.#checks.of(name),
        is_set_aside: this.#isSetAside(name),
        seen_seconds_ago: secondsOf(now - seenAt),
      })),
      waiting: this.#waiting.size,
      running: this.#leases.size,
      waited_seconds: secondsOf(now - since),
    }
  }

  /** Takes back what silent workers have, and forgets workers that are gone. */
  tidy(): void {
    const now = this.#now()
    for (const lease of this.#leases.values()) {
      if (now - lease.beatAt <= this.#leaseMs) continue
      const worker = this.#workers.get(lease.worker)
      if (worker !== undefined) worker.lost += 1
      this.#requeue(lease)
    }
    for (const [name, { seenAt }] of this.#workers)
      if (now - seenAt > FORGOTTEN_MS && !this.#isSetAside(name)) {
        this.#workers.delete(name)
        this.#checks.forget(name)
      }
    // A second play that nobody is left to take.
    for (const waiting of this.#waiting)
      if (waiting.twin?.by != null && !this.#isPlayable(waiting)) this.#drop(waiting, new Error('unchecked'))
    this.#handOut()
  }

  close(): void {
    this.#isClosed = true
    clearInterval(this.#timer)
    const closed = closing()
    for (const waiting of [...this.#waiting, ...[...this.#leases.values()].map((lease) => lease.waiting)]) this.#drop(waiting, closed)
    for (const taker of this.#takers) taker.give(null)
  }

  #requeue({ id, worker, waiting }: Lease): void {
    this.#leases.delete(id)
    waiting.lease = null
    waiting.tries += 1
    if (waiting.tries < TRIES_MAX) return void this.#waiting.add(waiting)
    waiting.failed(unavailable('workers_lost', `${TRIES_MAX} workers lost the episode, ${worker} last`))
  }

  #hear({ name, slots, plays }: WorkerOffer): void {
    const known = this.#workers.get(name)
    if (known === undefined && this.#workers.size >= WORKERS_MAX)
      throw limited('worker_limit', `${WORKERS_MAX} workers are known, which is the most`, 60)
    const heard = { slots, plays: new Set(plays), seenAt: this.#now() }
    if (known === undefined) this.#workers.set(name, { ...heard, played: 0, lost: 0 })
    else Object.assign(known, heard)
  }

  #handOut(): void {
    // By chance, so that the two plays of a check are not always those of the same two workers.
    for (const taker of shuffled([...this.#takers])) {
      const next = this.#nextFor(taker.offer)
      if (next === null) continue
      this.#waiting.delete(next)
      const [id, key] = [newSecret(), newSecret()]
      next.lease = { id, key, worker: taker.offer.name, waiting: next, beatAt: this.#now() }
      this.#leases.set(id, next.lease)
      const { scenario, order } = next.episode
      taker.give({ lease: id, key, scenario, order })
    }
  }

  /** Requests first; then the scenario that has fewest running; then the oldest. */
  #nextFor(offer: WorkerOffer): Waiting | null {
    let best: Waiting | null = null
    let bestRank: readonly number[] = []
    for (const waiting of this.#waiting) {
      if (!mayPlay(offer, waiting)) continue
      const { scenario, priority } = waiting.episode
      const rank = [priority === 'request' ? 0 : 1, this.#runningOf(scenario), waiting.since]
      if (best !== null && !isBefore(rank, bestRank)) continue
      best = waiting
      bestRank = rank
    }
    return best
  }

  #runningOf(scenario: string): number {
    let running = 0
    for (const { waiting } of this.#leases.values()) if (waiting.episode.scenario === scenario) running += 1
    return running
  }

  #leasesOf(name: string): readonly Lease[] {
    return [...this.#leases.values()].filter(({ worker }) => worker === name)
  }

  /** Whether a worker is there that may take it. */
  #isPlayable(waiting: Waiting): boolean {
    if (waiting.lease !== null) return true
    const now = this.#now()
    return [...this.#workers].some(
      ([name, { plays, seenAt }]) =>
        now - seenAt <= PRESENT_MS && !this.#isSetAside(name) && plays.has(waiting.episode.plays) && !isTwinOf(name, waiting),
    )
  }

  #isSetAside(name: string): boolean {
    return this.#checks.isOdd(name)
  }
}

function mayPlay({ name, plays, scenarios }: WorkerOffer, waiting: Waiting): boolean {
  const { scenario, plays: wanted } = waiting.episode
  return plays.includes(wanted) && (scenarios === null || scenarios.has(scenario)) && !isTwinOf(name, waiting)
}

/** Nobody checks itself. */
const isTwinOf = (name: string, { twin }: Waiting): boolean => twin !== null && (twin.by ?? twin.lease?.worker) === name

function isBefore(rank: readonly number[], other: readonly number[]): boolean {
  const at = rank.findIndex((value, index) => value !== other[index])
  return at !== -1 && (rank[at] ?? 0) < (other[at] ?? 0)
}

const closing = (): Error => unavailable('service_closing', 'the service is closing')

const shuffled = <T>(all: readonly T[]): readonly T[] =>
  all
    .map((each) => [Math.random(), each] as const)
    .toSorted(([one], [other]) => one - other)
    .map(([, each]) => each)

const newSecret = (): string => randomBytes(SECRET_BYTES).toString('hex')
const SECRET_BYTES = 24

const isSame = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other.replaceAll(/[^0-9a-f]/g, '-')))

const scoreOf = ({ score }: JsonObject): unknown => score ?? null

const secondsOf = (ms: number): number => Math.round(ms) / 1000
