/** Hands episodes to workers, and their results to the steps that wait. What is known of them is on the board, which gateways may share. */
import { hash, randomBytes } from 'node:crypto'
import {
  canonicalJson,
  LEASE_KEY_PREFIX,
  conflict,
  limited,
  unavailable,
  unknown,
  type CountedCall,
  type EpisodeRow,
  type FleetBoard,
  type FleetRows,
  type JsonObject,
} from '../contract/index.ts'
import { MemoryBoard } from './board.ts'
import { addCheck } from './checks.ts'
import type { EpisodeAnswer, FleetStatus, OfferedEpisode, TakenEpisode, WorkerOffer } from './episodes.ts'
import { drop, holderOf, isOrphan, leaveBoard, nextFor, playAgain, takeBack, tidy } from './rules.ts'
import { countPlayed, countSpent, statusOf } from './status.ts'

/** How long a worker may be silent before its episode is given to another one. */
const LEASE_MS = 10_000
/** How often a worker says that it still plays, and how often the board is looked at without a reason. */
export const BEAT_MS = 1000
/** One in so many is played twice, by two workers. */
const CHECK_EVERY = 20
/** Of one worker at once. */
const LEASES_MAX = 256
const WORKERS_MAX = 10_000
/** So that no token takes the place of the workers of others. */
const WORKERS_OF_HOLDER_MAX = 256

export interface QueueOptions {
  readonly checkEvery?: number
  readonly leaseMs?: number
  /** Null: the model has no price. */
  readonly costOf?: (call: Omit<CountedCall, 'cost'>) => number | null
}

interface Taker {
  readonly offer: WorkerOffer
  readonly give: (taken: TakenEpisode | null) => void
}

interface Leased {
  readonly episode: string
  readonly scenario: string
  readonly lease: string
  readonly key: string
}

export class EpisodeQueue {
  /** Of this gateway, on the board. */
  readonly #id = newSecret()
  readonly #board: FleetBoard
  readonly #checkEvery: number
  readonly #leaseMs: number
  readonly #costOf: NonNullable<QueueOptions['costOf']>
  /** What steps of this gateway wait for. */
  readonly #waiters = new Map<string, PromiseWithResolvers<void>>()
  readonly #takers = new Set<Taker>()
  readonly #counting = new Set<Promise<void>>()
  readonly #timer: NodeJS.Timeout
  #looking: Promise<void> | null = null
  #isWoken = false
  #offered = 0
  #isClosed = false

  constructor(
    board: FleetBoard = new MemoryBoard(),
    { checkEvery = CHECK_EVERY, leaseMs = LEASE_MS, costOf = () => null }: QueueOptions = {},
  ) {
    this.#board = board
    this.#checkEvery = checkEvery
    this.#leaseMs = leaseMs
    this.#costOf = costOf
    board.onChange(() => this.#wake())
    this.#timer = setInterval(() => this.#wake(), BEAT_MS)
    this.#timer.unref()
  }

  /** Resolves once a worker has played it, or nobody can. */
  async play(episode: OfferedEpisode, signal: AbortSignal): Promise<EpisodeAnswer> {
    this.#offered += 1
    const isChecked = this.#offered % this.#checkEvery === 0
    for (;;) {
      if (this.#isClosed) throw closing()
      signal.throwIfAborted()
      const ids = await this.#offer(episode, isChecked ? [newSecret(), newSecret()] : [newSecret()])
      try {
        const answer = await this.#answerOf(ids, signal)
        if (answer !== null) return answer
      } catch (error) {
        // What workers have is left to the gateway that goes on with the step.
        if (!this.#isClosed) await this.#cancel(ids).catch(() => undefined)
        throw error
      }
    }
  }

  /** One that a gateway left behind is this one: it may be waited for, played or even answered already. */
  async #offer(episode: OfferedEpisode, ids: readonly string[]): Promise<readonly string[]> {
    const { scenario, plays, priority, order, secondsMax } = episode
    const key = hash('sha256', canonicalJson([scenario, plays, order]))
    const offered = await this.#board.change((rows) => {
      this.#live(rows)
      const left = leftBehind(rows, key)
      if (left.length > 0) {
        for (const id of left) Object.assign(rows.episodes.get(id) ?? {}, { owner: this.#id })
        return left
      }
      for (const [at, id] of ids.entries()) {
        const twin = ids[1 - at] ?? null
        const about = { scenario, plays, priority, key, owner: this.#id, twin, isSpare: at > 0, playMsMax: secondsMax * 1000 }
        rows.episodes.set(id, { ...about, at: rows.now, tries: 0, losers: [], lease: null, by: null, problem: null })
        rows.keep(id, 'order', order)
      }
      return ids
    })
    this.#wake()
    return offered
  }

  /** Null: it is not on the board any more, and has to be offered again. */
  async #answerOf(ids: readonly string[], signal: AbortSignal): Promise<EpisodeAnswer | null> {
    for (;;) {
      await this.#endOf(ids, signal)
      const results = await Promise.all(ids.map((id) => this.#board.payload(id, 'result')))
      const calls = (await Promise.all(ids.map((id) => this.#board.calls(id)))).flat()
      const answer = await this.#board.change((rows) => {
        const plays = ids.map((id, at) => ({ id, row: rows.episodes.get(id), result: results[at] ?? null }))
        const [first, second] = plays
        if (first?.row === undefined || first.row.owner !== this.#id) return null
        if (first.row.by !== null && second?.row?.by != null)
          addCheck(rows, first.row.by, second.row.by, scoreOf(first.result) === scoreOf(second.result))
        const played = plays.find(({ row }) => row?.by != null && rows.workers.get(row.by)?.isSetAside !== true)
        if (played === undefined && first.row.problem === null) {
          playAgain(first.row)
          if (second !== undefined) drop(rows, second.id)
          return 'again'
        }
        countSpent(rows, calls)
        for (const { id } of plays) drop(rows, id)
        const set_aside = [...rows.workers].filter(([, { isSetAside }]) => isSetAside).map(([name]) => name)
        const counted = calls.map(({ model, input, output }) => ({ model, input, output }))
        return { worker: played?.row?.by ?? '', result: played?.result ?? null, problem: first.row.problem, calls: counted, set_aside }
      })
      if (answer !== 'again') return answer
      this.#wake()
    }
  }

  /** Resolves once all of them were played, given up or taken over. */
  async #endOf(ids: readonly string[], signal: AbortSignal): Promise<void> {
    const ends = ids.map((id) => {
      const end = Promise.withResolvers<void>()
      this.#waiters.set(id, end)
      return end
    })
    const cancel = (): void => ends.forEach(({ reject }) => reject(signal.reason))
    signal.addEventListener('abort', cancel, { once: true })
    if (signal.aborted) cancel()
    if (this.#isClosed) ends.forEach(({ reject }) => reject(closing()))
    this.#wake()
    try {
      await Promise.all(ends.map(({ promise }) => promise))
    } finally {
      signal.removeEventListener('abort', cancel)
      for (const id of ids) this.#waiters.delete(id)
    }
  }

  async #cancel(ids: readonly string[]): Promise<void> {
    const calls = (await Promise.all(ids.map((id) => this.#board.calls(id)))).flat()
    await this.#board.change((rows) => {
      countSpent(rows, calls)
      for (const id of ids) if (rows.episodes.get(id)?.owner === this.#id) drop(rows, id)
    })
  }

  /** Waits for an episode; null once the signal says so. */
  async take(offer: WorkerOffer, signal: AbortSignal): Promise<TakenEpisode | null> {
    if (signal.aborted || this.#isClosed) return null
    const leased = await this.#board.change((rows) => {
      hear(rows, offer)
      tidy(rows, this.#leaseMs)
      return lease(rows, offer)
    })
    const taken = leased === null ? null : await this.#takenOf(leased)
    return taken ?? this.#wait(offer, signal)
  }

  #wait(offer: WorkerOffer, signal: AbortSignal): Promise<TakenEpisode | null> {
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
    // Something may have been offered between the look at the board and now.
    else this.#wake()
    return promise
  }

  /** Null: it was cancelled meanwhile. */
  async #takenOf({ episode, scenario, lease: id, key }: Leased): Promise<TakenEpisode | null> {
    const order = await this.#board.payload(episode, 'order')
    return order === null ? null : { lease: id, key, scenario, order }
  }

  /** Whether the worker should go on; false: the episode is not wanted any more, or another worker has it. */
  beat(name: string, leaseId: string): Promise<boolean> {
    return this.#board.beat(name, leaseId)
  }

  /** A result counts once, and only from the worker that has the lease. */
  async finish(name: string, leaseId: string, result: JsonObject): Promise<void> {
    await Promise.all(this.#counting)
    await this.#board.change((rows) => {
      const { row, lease: held, episode } = leaseOf(rows, name, leaseId)
      const worker = rows.workers.get(name)
      rows.leases.delete(leaseId)
      row.lease = null
      // Found out while it played this one.
      if (worker?.isSetAside === true) return
      if (worker !== undefined) worker.played += 1
      row.by = name
      rows.keep(episode, 'result', result)
      countPlayed(rows, held.since - row.at)
    })
    this.#wake()
  }

  /** Gives an episode back that the worker cannot play now. */
  async giveBack(name: string, leaseId: string): Promise<void> {
    await this.#board.change((rows) => takeBack(rows, leaseId, leaseOf(rows, name, leaseId).lease))
    this.#wake()
  }

  /** The lease that a key opens the model for; null where there is none any more. */
  leaseWith(key: string): Promise<{ readonly episode: string; readonly scenario: string } | null> {
    return this.#board.leaseWith(hash('sha256', key))
  }

  /** A model call of an episode, whoever plays it: those of an earlier lease were paid for too. */
  called(episode: string, call: Omit<CountedCall, 'cost'>): void {
    const counting = this.#board
      .called(episode, { ...call, cost: this.#costOf(call) })
      .catch(() => undefined)
      .finally(() => this.#counting.delete(counting))
    this.#counting.add(counting)
  }

  status(): Promise<FleetStatus> {
    return this.#board.change((rows) => {
      tidy(rows, this.#leaseMs)
      return statusOf(rows)
    })
  }

  /** Workers whose scores are worth nothing. */
  async setAside(): Promise<readonly string[]> {
    return (await this.status()).workers.filter(({ is_set_aside }) => is_set_aside).map(({ name }) => name)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#timer)
    const closed = closing()
    for (const { reject } of this.#waiters.values()) reject(closed)
    for (const taker of this.#takers) taker.give(null)
    await this.#looking
    await this.#board.change((rows) => leaveBoard(rows, this.#id)).catch(() => undefined)
  }

  /** Looks at the board soon; once more where it is looked at just now. */
  #wake(): void {
    if (this.#isClosed || (this.#takers.size === 0 && this.#waiters.size === 0)) return
    this.#isWoken = true
    this.#looking ??= this.#lookWhileWoken().finally(() => (this.#looking = null))
  }

  async #lookWhileWoken(): Promise<void> {
    while (this.#isWoken && !this.#isClosed) {
      this.#isWoken = false
      // Where the board cannot be reached now, the next beat looks again.
      await this.#look().catch(() => undefined)
    }
  }

  async #look(): Promise<void> {
    // By chance, so that the two plays of a check are not always those of the same two workers.
    const takers = shuffled([...this.#takers])
    const waited = [...this.#waiters]
    const { given, ended } = await this.#board.change((rows) => {
      this.#live(rows)
      tidy(rows, this.#leaseMs)
      return {
        given: takers.flatMap((taker) => {
          const leased = lease(rows, taker.offer)
          return leased === null ? [] : [{ taker, leased }]
        }),
        ended: waited.filter(([id]) => isOver(rows.episodes.get(id), this.#id)),
      }
    })
    for (const [, { resolve }] of ended) resolve()
    await Promise.all(given.map(({ taker, leased }) => this.#give(taker, leased)))
  }

  /** One that left meanwhile, as clients do, loses nothing: it never had it. */
  async #give(taker: Taker, leased: Leased): Promise<void> {
    const taken = await this.#takenOf(leased).catch(() => null)
    if (taken !== null && this.#takers.has(taker)) return taker.give(taken)
    await this.#board.change((rows) => {
      rows.leases.delete(leased.lease)
      const row = rows.episodes.get(leased.episode)
      if (row?.lease === leased.lease) row.lease = null
    })
    this.#isWoken = true
  }

  /** Says that this gateway is there. */
  #live({ now, gateways }: FleetRows): void {
    if (now - (gateways.get(this.#id)?.at ?? -Infinity) >= BEAT_MS) gateways.set(this.#id, { at: now })
  }
}

const isOver = (row: EpisodeRow | undefined, owner: string): boolean =>
  row === undefined || row.owner !== owner || row.by !== null || row.problem !== null

/** The plays of an episode that is all the same, of a gateway that is gone. */
function leftBehind(rows: FleetRows, key: string): readonly string[] {
  for (const [id, row] of rows.episodes) {
    if (row.key !== key || row.isSpare || row.problem !== null || !isOrphan(rows, row)) continue
    return row.twin === null || !rows.episodes.has(row.twin) ? [id] : [id, row.twin]
  }
  return []
}

/** Notes the worker, or refuses it. */
function hear(rows: FleetRows, { name, slots, plays, scenarios }: WorkerOffer): void {
  const { now, workers } = rows
  const known = workers.get(name)
  if (known?.isSetAside === true)
    throw conflict(
      'worker_set_aside',
      `the scores of worker ${name} differ from those of other workers far more often than theirs from each other: look at its machine and its configuration, then give it another name`,
    )
  if (leasesOf(rows, name) >= LEASES_MAX)
    throw limited('worker_limit', `worker ${name} plays ${LEASES_MAX} episodes already, which is the most`, 1)
  const isFull =
    workers.size >= WORKERS_MAX || [...workers.keys()].filter((each) => holderOf(each) === holderOf(name)).length >= WORKERS_OF_HOLDER_MAX
  if (known === undefined && isFull) throw limited('worker_limit', 'as many workers are known as there can be; stop some of them', 60)
  const heard = { at: now, slots, plays: [...plays], scenarios: scenarios === null ? null : [...scenarios] }
  workers.set(name, { played: 0, lost: 0, isSetAside: false, ...known, ...heard })
}

function lease(rows: FleetRows, offer: WorkerOffer): Leased | null {
  const { now, leases, workers } = rows
  const next = leasesOf(rows, offer.name) >= LEASES_MAX || workers.get(offer.name)?.isSetAside === true ? null : nextFor(rows, offer)
  if (next === null) return null
  const [episode, row] = next
  const [id, key] = [newSecret(), LEASE_KEY_PREFIX + newSecret()]
  row.lease = id
  leases.set(id, { at: now, since: now, episode, scenario: row.scenario, worker: offer.name, key: hash('sha256', key) })
  return { episode, scenario: row.scenario, lease: id, key }
}

function leaseOf({ leases, episodes }: FleetRows, name: string, leaseId: string) {
  const held = leases.get(leaseId)
  const row = held === undefined ? undefined : episodes.get(held.episode)
  if (held?.worker === name && row !== undefined) return { lease: held, row, episode: held.episode }
  throw unknown('unknown_lease', 'this worker has no such episode: it was cancelled, or another worker has it by now')
}

const leasesOf = ({ leases }: FleetRows, name: string): number => [...leases.values()].filter(({ worker }) => worker === name).length

const closing = (): Error => unavailable('service_closing', 'the service is closing')

const shuffled = <T>(all: readonly T[]): readonly T[] =>
  all
    .map((each) => [Math.random(), each] as const)
    .toSorted(([one], [other]) => one - other)
    .map(([, each]) => each)

const newSecret = (): string => randomBytes(SECRET_BYTES).toString('hex')
const SECRET_BYTES = 24

const scoreOf = (result: JsonObject | null): unknown => result?.['score'] ?? null
