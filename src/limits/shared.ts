/** Lets requests in while all services together have taken less than the token and the scenario may. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ShareStore, ShareWindow } from '../contract/index.ts'
import type { PriceTable } from './prices.ts'
import { LIMIT_KINDS, type SubjectLimits, type SubjectUse } from './settings.ts'
import { sharesIn, type Share } from './shares.ts'
import { limitRefusal, type LimitAdmission, type LimitSubject } from './subjects.ts'
import { BYTES_PER_TOKEN, tokensOf, type CallUsage } from './taken.ts'
import { COST, MEAN_WEIGHT, REQUESTS, TOKENS, type LimitTime } from './windows.ts'

/** A window may end while it is asked for. */
const ASKS_MAX = 5
/** A slot that was just left at another service is on its way back: the first wait, then twice as long each time. */
const SLOT_RETRY_MS = 10
const BUSY_RETRY_SECONDS = 1
/** What is not known yet takes this much of the limit, so that a full one is noticed. */
const LEAST_PART = 1e-6
const ROUNDING = 1e-9

type LimitKind = keyof SubjectLimits
/** How long the windows are. */
export type LimitSeconds = Readonly<Record<LimitKind, number>>

const SECONDS: LimitSeconds = {
  concurrent_requests: 0,
  requests_per_minute: REQUESTS.seconds,
  tokens_per_minute: TOKENS.seconds,
  cost_per_day: COST.seconds,
}

/** What a request takes of one limit. */
interface Part {
  readonly subject: LimitSubject
  readonly kind: LimitKind
  readonly share: Share
  readonly amount: number
}

export class SharedLimits {
  readonly #store: ShareStore
  readonly #shares: ReturnType<typeof sharesIn>
  readonly #prices: PriceTable
  readonly #time: LimitTime
  readonly #seconds: LimitSeconds

  constructor(store: ShareStore, prices: PriceTable, time: LimitTime, seconds: LimitSeconds = SECONDS) {
    this.#store = store
    this.#shares = sharesIn(store, time)
    this.#prices = prices
    this.#time = time
    this.#seconds = seconds
  }

  /** At once where this service has shares of everything that it takes. Its slots are taken when it begins. */
  admit(subjects: readonly LimitSubject[], bytes: number | null): LimitAdmission | Promise<LimitAdmission> {
    const parts = subjects.flatMap((subject) => this.#partsOf(subject, bytes))
    const amounts = parts.filter(({ kind }) => kind !== 'concurrent_requests')
    const taking = this.#take(amounts)
    const admission = this.#admission(
      amounts,
      parts.filter(({ kind }) => kind === 'concurrent_requests'),
    )
    return taking === undefined ? admission : taking.then(() => admission)
  }

  close(): Promise<void> {
    return this.#shares.close()
  }

  /** Of all services together, with what they hold and did not spend yet. */
  async usesOf(subjects: readonly LimitSubject[], kinds: readonly LimitKind[]): Promise<ReadonlyMap<LimitSubject, SubjectUse>> {
    const asked = subjects.flatMap((subject) =>
      kinds.filter((kind) => subject.limits[kind] > 0).map((kind) => ({ subject, kind, window: this.#windowOf(subject, kind) })),
    )
    const used = asked.length === 0 ? [] : await this.#store.used(asked.map(({ window }) => window))
    const uses = new Map<LimitSubject, SubjectUse>(subjects.map((subject) => [subject, {}]))
    for (const [at, { subject, kind }] of asked.entries())
      uses.set(subject, { ...uses.get(subject), [kind]: { used: used[at] ?? 0, limit: subject.limits[kind] } })
    return uses
  }

  #windowOf({ key }: LimitSubject, kind: LimitKind): ShareWindow {
    return { key: `${kind} ${key}`, seconds: this.#seconds[kind] }
  }

  #partsOf(subject: LimitSubject, bytes: number | null): readonly Part[] {
    return limitedKinds(subject).map((kind) => {
      const limit = subject.limits[kind]
      const share = this.#shares.share({ ...this.#windowOf(subject, kind), limit })
      if (bytes === null && !isWhole(kind)) return { subject, kind, share, amount: 0 }
      const first = kind === 'tokens_per_minute' ? (bytes ?? 0) / BYTES_PER_TOKEN : 0
      if (!isWhole(kind)) share.unit = Math.max(share.mean > 0 ? share.mean : first, limit * LEAST_PART)
      return { subject, kind, share, amount: share.unit }
    })
  }

  /** A promise where other services have to be asked. It rejects with the refusal; then nothing was taken. */
  #take(parts: readonly Part[]): Promise<void> | undefined {
    for (const { share } of parts) share.users += 1
    if (this.#lacking(parts) !== undefined) return this.#takeLater(parts)
    this.#enter(parts)
    return undefined
  }

  async #takeLater(parts: readonly Part[]): Promise<void> {
    try {
      for (let asks = 0; ; asks += 1) {
        const lacking = this.#lacking(parts)
        if (lacking === undefined) return this.#enter(parts)
        const { subject, kind, share } = lacking
        const now = this.#time.passed()
        const isSlotLikely = kind === 'concurrent_requests' && asks > 0
        if ((now < share.fullUntil && !isSlotLikely) || asks === ASKS_MAX)
          throw limitRefusal(subject, kind, kind === 'concurrent_requests' ? BUSY_RETRY_SECONDS : share.endsAt - now)
        if (isSlotLikely) await sleep(SLOT_RETRY_MS * 2 ** (asks - 1))
        await this.#shares.ask(new Map(parts.map((part) => [part.share, part.amount])))
      }
    } catch (error) {
      for (const { share } of parts) share.users -= 1
      throw error
    }
  }

  #lacking(parts: readonly Part[]): Part | undefined {
    const now = this.#time.passed()
    return parts.find(({ share, amount }) => share.left(now) < amount * (1 - ROUNDING))
  }

  #enter(parts: readonly Part[]): void {
    for (const { share, amount } of parts) {
      share.take(amount)
      this.#shares.look(share)
    }
  }

  #admission(amounts: readonly Part[], slots: readonly Part[]): LimitAdmission {
    let open = amounts
    const leave = (taken: CallUsage | null): void => {
      for (const part of open) this.#leave(part, taken)
      open = []
    }
    const takeBack = (error: unknown): never => {
      for (const part of open) this.#takeBack(part)
      open = []
      throw error
    }
    const begun = (): void => {
      open = [...slots, ...open]
    }
    return {
      begin: () => {
        const taking = this.#take(slots)
        if (taking === undefined) begun()
        return taking?.then(begun, takeBack)
      },
      settle: leave,
      leave: () => leave(null),
    }
  }

  /** As if it had never come. */
  #takeBack({ share, amount }: Part): void {
    share.users -= 1
    share.correct(-amount)
    this.#shares.look(share)
  }

  #leave({ kind, share, amount }: Part, taken: CallUsage | null): void {
    share.users -= 1
    if (kind === 'requests_per_minute') return
    const actual = kind === 'concurrent_requests' || taken === null ? 0 : this.#amountOf(kind, taken)
    share.correct(actual - amount)
    if (taken !== null && !isWhole(kind)) share.mean = share.mean > 0 ? share.mean + (actual - share.mean) * MEAN_WEIGHT : actual
    this.#shares.look(share)
  }

  #amountOf(kind: LimitKind, taken: CallUsage): number {
    const counted = tokensOf(taken)
    return kind === 'cost_per_day' ? this.#prices.costOf(taken.model, counted) : counted.input + counted.output
  }
}

const limitedKinds = ({ limits }: LimitSubject): readonly LimitKind[] => LIMIT_KINDS.filter((kind) => limits[kind] > 0)

/** Requests and slots: one each. */
const isWhole = (kind: LimitKind): boolean => kind === 'requests_per_minute' || kind === 'concurrent_requests'
