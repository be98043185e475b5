/**
 * What this service holds of limits that several services share. A share is spent without asking anybody; what is wanted beyond it, and what
 * is given back, goes to the store together, one call at a time.
 */
import { setImmediate as turnOver } from 'node:timers/promises'
import type { ShareAsk, ShareGrant, ShareStore } from '../contract/index.ts'
import type { LimitTime } from './windows.ts'

/** A share holds what a second takes, and at most this much of the limit: so much may be wrong where a service is killed. */
const SHARE_MAX = 0.01
/** All services together keep at most this much of the slots that nobody uses. */
const IDLE_SLOTS_MAX = 0.02
const TICK_MS = 1000
/** What was full is asked for again after this long: another service may have given something back. */
const WINDOW_FULL_SECONDS = 0.25
const SLOTS_FULL_SECONDS = 0.05

export interface ShareOf {
  readonly key: string
  readonly limit: number
  /** 0: slots, which are held and given back. */
  readonly seconds: number
}

export class Share {
  of: ShareOf
  /** What one request is expected to take, and the mean of those before; 0 where it is not known. */
  unit = 1
  mean = 0
  /** Requests that wait for it or run. */
  users = 0
  /** What those that wait want. */
  need = 0
  window: number | null
  endsAt = 0
  /** In this window; of slots, how many are used. */
  spent = 0
  /** In this window, of what is spent too. */
  granted = 0
  fullUntil = 0
  /** What was taken since the last tick, and between the last two. */
  taken = 0
  takenBefore = 0

  constructor(of: ShareOf) {
    this.of = of
    this.window = of.seconds === 0 ? 0 : null
  }

  /** What may be taken without asking. */
  left(now: number): number {
    return this.of.seconds > 0 && now >= this.endsAt ? 0 : this.granted - this.spent
  }

  take(amount: number): void {
    this.spent += amount
    this.taken += amount
  }

  /** What was taken turned out to be so much more, or less. */
  correct(by: number): void {
    this.spent = Math.max(0, this.spent + by)
    if (by > 0) this.taken += by
  }

  /** As much as is soon wanted. */
  get target(): number {
    const { limit, seconds } = this.of
    return seconds === 0 ? 0 : Math.floor(Math.min(limit * SHARE_MAX, Math.max(this.taken, this.takenBefore)) / this.unit) * this.unit
  }
}

const known = new WeakMap<ShareStore, Shares>()

/** One for each store: what was spent is remembered when limits are opened anew. */
export function sharesIn(store: ShareStore, time: LimitTime): Shares {
  const shares = known.get(store) ?? new Shares(store, time)
  known.set(store, shares)
  return shares
}

class Shares {
  readonly #store: ShareStore
  readonly #time: LimitTime
  readonly #shares = new Map<string, Share>()
  #changed = new Set<Share>()
  #waiting: PromiseWithResolvers<void> | null = null
  #running: Promise<void> | null = null
  #timer: NodeJS.Timeout | null = null
  #member: number | null = null
  #members = 1

  constructor(store: ShareStore, time: LimitTime) {
    this.#store = store
    this.#time = time
  }

  share(of: ShareOf): Share {
    const found = this.#shares.get(of.key)
    if (found !== undefined) {
      // The configuration was read again.
      if (found.of.limit !== of.limit) found.of = of
      return found
    }
    const share = new Share(of)
    this.#shares.set(of.key, share)
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS).unref()
    return share
  }

  /** Resolves once the store was asked for so much of each. What it gave is in them then. */
  async ask(wanted: ReadonlyMap<Share, number>): Promise<void> {
    for (const [share, amount] of wanted) {
      share.need += amount
      this.#changed.add(share)
    }
    this.#waiting ??= Promise.withResolvers()
    const { promise } = this.#waiting
    this.#run()
    return promise
  }

  /** Has the store hear of it soon where it should: more is wanted, more was spent than there was, or slots are free. */
  look(share: Share): void {
    const now = this.#time.passed()
    const left = share.granted - share.spent
    const isLow = share.of.seconds > 0 && share.target > 0 && share.left(now) < share.target / 2 && now >= share.fullUntil
    const isFree = share.of.seconds === 0 && left > this.#idleSlots(share)
    if (!isLow && !isFree && left >= 0) return
    this.#changed.add(share)
    this.#run()
  }

  /** The last word: what is not spent is given back. */
  async close(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer)
    for (const share of this.#shares.values()) share.taken = share.takenBefore = 0
    this.#changed = new Set(this.#shares.values())
    this.#run()
    await this.#running
  }

  #run(): void {
    this.#running ??= this.#settleAll().finally(() => {
      this.#running = null
      if (this.#waiting !== null) this.#run()
    })
  }

  /** After what came in with the same turn of the loop, so that it is asked for together. */
  async #settleAll(): Promise<void> {
    await turnOver()
    while (this.#changed.size > 0) {
      const [waiting, shares] = [this.#waiting, [...this.#changed]]
      this.#waiting = null
      this.#changed = new Set()
      try {
        await this.#settle(shares)
        waiting?.resolve()
      } catch (error) {
        // What nobody waits for is said again with the next call.
        waiting?.reject(error)
      }
    }
  }

  async #settle(shares: readonly Share[]): Promise<void> {
    const sentAt = this.#time.passed()
    const asks = shares.map((share) => this.#askOf(share, sentAt))
    const { member, members, grants } = await this.#store.take(asks)
    this.#members = members
    if (member !== this.#member) this.#begin(member, shares)
    for (const [at, share] of shares.entries()) {
      const [grant, ask] = [grants[at], asks[at]]
      if (grant !== undefined && ask !== undefined) this.#grant(share, ask, grant, sentAt)
    }
  }

  /** What is given back is not spent from here on, whatever becomes of the call. */
  #askOf(share: Share, now: number): ShareAsk {
    const { key, limit, seconds } = share.of
    const left = Math.max(0, share.left(now))
    const isSlots = seconds === 0
    const kept = share.need > 0 ? left : Math.min(left, isSlots ? this.#idleSlots(share) : 2 * share.target)
    const need = Math.max(0, share.need - kept)
    const extra = now < share.fullUntil ? 0 : Math.max(0, share.target - (kept + need - share.need))
    share.need = 0
    share.granted = share.spent + kept
    const said = isSlots ? { spent: 0, held: share.spent + kept } : { spent: share.spent, held: kept }
    return { key, seconds, limit, window: share.window, ...said, need, unit: share.unit, extra }
  }

  #grant(share: Share, ask: ShareAsk, { granted, window, endsInSeconds }: ShareGrant, sentAt: number): void {
    if (window !== share.window) share.spent = share.granted = 0
    share.window = window
    share.granted += granted
    // Counted from the sending, so that it ends here no later than there.
    share.endsAt = sentAt + endsInSeconds
    // A call that got one shows that there are some again.
    if (ask.need > 0 && granted >= ask.need) share.fullUntil = 0
    if (granted < ask.need) share.fullUntil = this.#time.passed() + (ask.seconds === 0 ? SLOTS_FULL_SECONDS : WINDOW_FULL_SECONDS)
  }

  /** As another member everything is taken anew. What runs goes on, and holds its slots. */
  #begin(member: number, asked: readonly Share[]): void {
    const isFirst = this.#member === null
    this.#member = member
    if (isFirst) return
    for (const share of this.#shares.values()) {
      if (share.of.seconds > 0) share.spent = share.granted = 0
      else share.granted = share.spent
      if (!asked.includes(share)) this.#changed.add(share)
    }
  }

  /** What was not used for a second goes back, and what nobody used in a window is forgotten. */
  #tick(): void {
    const now = this.#time.passed()
    for (const share of this.#shares.values()) {
      const { key, seconds } = share.of
      const isIdle = share.taken === 0
      share.takenBefore = share.taken
      share.taken = 0
      if (isIdle && share.granted !== share.spent && (seconds === 0 || now < share.endsAt)) this.#changed.add(share)
      if (share.users === 0 && isIdle && (seconds === 0 ? share.granted === 0 : now >= share.endsAt)) this.#shares.delete(key)
    }
    if (this.#changed.size > 0) this.#run()
  }

  #idleSlots({ of: { limit }, taken, takenBefore }: Share): number {
    return taken + takenBefore === 0 ? 0 : Math.floor((limit * IDLE_SLOTS_MAX) / this.#members)
  }
}
