/** Hands episodes to workers, and their results to the steps that wait. What is known of them is on the board, which gateways may share. */
import { hash } from 'node:crypto'
import {
  canonicalJson,
  limited,
  unavailable,
  type CountedCall,
  type EpisodeLease,
  type EpisodeRow,
  type FleetBoard,
  type FleetRows,
  type JsonObject,
} from '../contract/index.ts'
import { MemoryBoard } from './board.ts'
import { addCheck } from './checks.ts'
import type { EpisodeAnswer, FleetStatus, OfferedEpisode, TakenEpisode, WorkerOffer } from './episodes.ts'
import { hear, lease, leaseOf, newSecret, type Leased } from './leases.ts'
import { cutShort, drop, isOrphan, leaveBoard, playAgain, takeBack, tidy } from './rules.ts'
import { countPlayed, countSpent, statusOf } from './status.ts'

/** How long a worker may be silent before its episode is given to another one. */
const LEASE_MS = 10_000
/** How often a worker says that it still plays, and how often the board is looked at without a reason. */
export const BEAT_MS = 1000
/** One in so many is played twice, by two workers. */
const CHECK_EVERY = 20

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
  /** How many calls of the model are under way, by episode. */
  readonly #calling = new Map<string, number>()
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
    /** What it took so far, which no step was told of. */
    const spent: CountedCall[] = []
    this.#offered += 1
    const isChecked = this.#offered % this.#checkEvery === 0
    for (;;) {
      if (this.#isClosed) throw closing()
      signal.throwIfAborted()
      const ids = await this.#offer(episode, isChecked ? [newSecret(), newSecret()] : [newSecret()])
      try {
        const answer = await this.#answerOf(ids, leftOf(episode.scenario), spent, signal)
        if (answer !== null) return answer
      } catch (error) {
        for (const call of spent) await this.#board.called('', leftOf(episode.scenario), call).catch(() => undefined)
        // What workers have is left to the gateway that goes on with the step.
        if (!this.#isClosed) await this.#cancel(ids).catch(() => undefined)
        throw error
      }
    }
  }

  /** One that a gateway left behind is this one: it may be waited for, played or even answered already. */
  async #offer(episode: OfferedEpisode, ids: readonly string[]): Promise<readonly string[]> {
    const { scenario, plays, priority, order, secondsMax, ...limits } = episode
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
        const about = { scenario, plays, priority, key, owner: this.#id, twin, isSpare: at > 0, playMsMax: secondsMax * 1000, ...limits }
        rows.episodes.set(id, {
          ...about,
          left: leftOf(scenario),
          at: rows.now,
          tries: 0,
          losers: [],
          lease: null,
          by: null,
          problem: null,
        })
        rows.keep(id, 'order', order)
      }
      return ids
    })
    this.#wake()
    return offered
  }

  /** Null: it is not on the board any more, and has to be offered again. */
  async #answerOf(ids: readonly string[], left: string, spent: CountedCall[], signal: AbortSignal): Promise<EpisodeAnswer | null> {
    for (;;) {
      await this.#endOf(ids, signal)
      const results = await Promise.all(ids.map((id) => this.#board.payload(id, 'result')))
      spent.push(...(await this.#board.takeCalls([...ids, left])))
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
        countSpent(rows, spent)
        for (const { id } of plays) drop(rows, id)
        const set_aside = [...rows.workers].filter(([, { isSetAside }]) => isSetAside).map(([name]) => name)
        const counted = spent.map(({ model, input, output }) => ({ model, input, output }))
        const { problem, cap } = first.row
        const end = { problem, ...(played === undefined && cap !== undefined && { cap }) }
        return { worker: played?.row?.by ?? '', result: played?.result ?? null, ...end, calls: counted, set_aside }
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
    await this.#board.change((rows) => {
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
  leaseWith(key: string): Promise<EpisodeLease | null> {
    return this.#board.leaseWith(hash('sha256', key))
  }

  /** Has a lease call the model, where its episode may still do so, whatever the worker says: what is under way counts as a call. */
  async within<T>({ episode, callsMax = Infinity, tokensMax = Infinity }: EpisodeLease, call: () => Promise<T>): Promise<T> {
    const calling = this.#calling.get(episode) ?? 0
    this.#calling.set(episode, calling + 1)
    try {
      const calls = Math.min(callsMax, tokensMax) === Infinity ? [] : await this.#board.calls(episode)
      const tokens = calls.reduce((sum, { input, output }) => sum + input + output, 0)
      if (calls.length + calling >= callsMax || tokens >= tokensMax) throw episodeSpent()
      return await call()
    } finally {
      const others = (this.#calling.get(episode) ?? 1) - 1
      if (others === 0) this.#calling.delete(episode)
      else this.#calling.set(episode, others)
    }
  }

  /**
   * A model call of an episode, whoever plays it: those of an earlier lease were paid for too. Null: it took nothing. No result is taken
   * before it is counted, and before what the budget of the step keeps of it is durable.
   */
  called(
    { episode, scenario }: Pick<EpisodeLease, 'episode' | 'scenario'>,
    call: Omit<CountedCall, 'cost'> | null,
    kept?: Promise<void>,
  ): void {
    const told = call === null ? null : this.#board.called(episode, leftOf(scenario), { ...call, cost: this.#costOf(call) })
    const counting = Promise.allSettled([told, kept])
      .then(() => undefined)
      .finally(() => this.#counting.delete(counting))
    this.#counting.add(counting)
  }

  /** A call of the episode could have passed a cap of its step, and was not sent: it ends, and its worker is told so. */
  async cut({ episode }: Pick<EpisodeLease, 'episode'>, words: string): Promise<void> {
    await this.#board.change((rows) => cutShort(rows, episode, words))
    this.#wake()
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

/** Where the calls of a scenario are kept that no step was told of; a name may hold what a key may not. */
const leftOf = (scenario: string): string => `left ${hash('sha256', scenario)}`

const episodeSpent = (): Error =>
  limited(
    'episode_limit',
    'the episode has made as many calls of the model, or taken as many tokens, as one may: evolution.sandbox.model_calls and model_tokens',
    60,
  )

const closing = (): Error => unavailable('service_closing', 'the service is closing')

const shuffled = <T>(all: readonly T[]): readonly T[] =>
  all
    .map((each) => [Math.random(), each] as const)
    .toSorted(([one], [other]) => one - other)
    .map(([, each]) => each)

const scoreOf = (result: JsonObject | null): unknown => result?.['score'] ?? null
