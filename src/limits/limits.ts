/** Lets requests in while their token and their scenario have taken less than they may, and counts what they took. */
import type { ShareStore } from '../contract/index.ts'
import { Cells, threadsOf, type CellHandle, type LimitCell, type LimitPlace } from './cells.ts'
import { BYTES_PER_TOKEN, tokensOf, type CallUsage } from './taken.ts'
import { PriceTable } from './prices.ts'
import { UpstreamQueue } from './queue.ts'
import { hasTurns, LIMIT_KINDS, type LimitSettings, type SubjectLimits, type SubjectUse } from './settings.ts'
import { SharedLimits } from './shared.ts'
import { SpentFile, type SpentNeeds } from './spent.ts'
import { LimitSubjects, limitRefusal, type LimitAdmission, type LimitedToken, type LimitSubject } from './subjects.ts'
import { add, COST, expected, REQUESTS, settle, systemTime, TOKENS, turn, usedIn, WINDOWS, type LimitTime, type Window } from './windows.ts'

/** An answer may end at any time. */
const BUSY_RETRY_SECONDS = 1

/** What was set aside for a request, by window. */
interface Reserved {
  readonly tokens: number
  readonly cost: number
}
interface Entry extends Reserved {
  readonly subject: LimitSubject
  isInside: boolean
}
interface Full {
  readonly full: keyof SubjectLimits
  readonly wait: number
}

export interface SpentMoney {
  readonly kind: 'token' | 'scenario'
  readonly name: string
  /** Differs where names are alike. */
  readonly key: string
  readonly spent: number
  readonly limit: number
}

export interface LimitNeeds {
  readonly time?: LimitTime
  readonly shares?: ShareStore | undefined
}

export class Limits {
  readonly #subjects: LimitSubjects
  readonly #cells: Cells
  readonly #prices: PriceTable
  readonly #time: LimitTime
  readonly #queue: UpstreamQueue | null
  readonly #shared: SharedLimits | null

  /** With shares, what is limited is counted there, together with all other services that have them. */
  constructor(settings: LimitSettings, place: LimitPlace, { time = systemTime, shares }: LimitNeeds = {}) {
    this.#subjects = new LimitSubjects(settings)
    this.#cells = new Cells(place, (cell) => worthOf(cell, time.passed()))
    this.#prices = new PriceTable(settings.prices)
    this.#time = time
    this.#shared = shares === undefined ? null : new SharedLimits(shares, this.#prices, time)
    const { memory, slot } = place
    const { upstream: limits } = settings
    this.#queue = hasTurns(limits) ? new UpstreamQueue({ limits, cells: this.#cells, slot, threads: threadsOf(memory), time }) : null
  }

  /**
   * Throws where one of both has taken enough; then nothing is counted. Null where neither has a limit. A promise where other services
   * have to be asked. `bytes` are those of the question; null where neither it nor its answer takes tokens or money.
   */
  admit(token: LimitedToken | null, scenario: string, bytes: number | null): LimitAdmission | Promise<LimitAdmission> | null {
    const subjects = this.#subjects.of(token, scenario)
    if (subjects.length === 0) return null
    return this.#shared === null ? this.#admitHere(subjects, bytes) : this.#shared.admit(subjects, bytes)
  }

  /** A turn at the upstream: what gives it back, or a promise of that where others are first. Null where the upstream has no limit. */
  turn(scenario: string, signal: () => AbortSignal): (() => void) | Promise<() => void> | null {
    return this.#queue?.enter(scenario, signal) ?? null
  }

  get knowsPrices(): boolean {
    return !this.#prices.isEmpty
  }

  /** What each used now, of those limits that it has; null without any. */
  async usesOf(tokens: readonly (LimitedToken | null)[]): Promise<readonly (SubjectUse | null)[]> {
    const subjects = tokens.map((token) => (token === null ? null : this.#subjects.ofToken(token)))
    const uses = await this.#usesOf(subjects.filter((subject) => subject !== null))
    return subjects.map((subject) => (subject === null ? null : (uses.get(subject) ?? null)))
  }

  /** Tokens and scenarios with a limit of money, and what they spent of it today. */
  async spent(tokens: readonly LimitedToken[], scenarios: readonly string[]): Promise<readonly SpentMoney[]> {
    const all = [
      ...tokens.map((token) => ({ kind: 'token' as const, name: token.name, subject: this.#subjects.ofToken(token) })),
      ...scenarios.map((name) => ({ kind: 'scenario' as const, name, subject: this.#subjects.ofScenario(name) })),
    ].flatMap(({ subject, ...each }) => (subject !== null && subject.limits.cost_per_day > 0 ? [{ ...each, subject }] : []))
    const uses = await this.#usesOf(
      all.map(({ subject }) => subject),
      ['cost_per_day'],
    )
    return all.map(({ kind, name, subject }) => {
      const { used: spent = 0, limit = 0 } = uses.get(subject)?.cost_per_day ?? {}
      return { kind, name, key: subject.key, spent, limit }
    })
  }

  async #usesOf(subjects: readonly LimitSubject[], kinds = LIMIT_KINDS): Promise<ReadonlyMap<LimitSubject, SubjectUse>> {
    if (this.#shared !== null) return this.#shared.usesOf(subjects, kinds)
    const now = this.#time.passed()
    return new Map(subjects.map((subject) => [subject, this.#useOf(subject, kinds, now)]))
  }

  #useOf({ key, limits }: LimitSubject, kinds: typeof LIMIT_KINDS, now: number): SubjectUse {
    const used = (kind: keyof SubjectLimits, cell: LimitCell): number => {
      const window = WINDOWS.find(({ limit }) => limit === kind)
      return window === undefined ? cell.inside : usedIn(cell, window, limits[kind], now)
    }
    const limiting = kinds.filter((kind) => limits[kind] > 0)
    return Object.fromEntries(
      limiting.map((kind) => [kind, { used: this.#cells.look(key, (cell) => used(kind, cell)) ?? 0, limit: limits[kind] }]),
    )
  }

  /** Goes on from what was spent today, and keeps it in that file until it is closed. */
  keepSpent(path: string, warn: SpentNeeds['warn']): Promise<SpentFile> {
    return SpentFile.open({ path, cells: this.#cells, time: this.#time, warn })
  }

  /** Says what was spent of the shares since they were last taken, and gives the rest back. */
  async giveSharesBack(): Promise<void> {
    await this.#shared?.close()
  }

  /** Takes the requests of a thread that ended out. */
  forget(slot: number): void {
    this.#cells.forget(slot)
  }

  #admitHere(subjects: readonly LimitSubject[], bytes: number | null): LimitAdmission {
    const entries: Entry[] = []
    try {
      for (const subject of subjects) entries.push(this.#enter(subject, bytes))
    } catch (error) {
      for (const entry of entries) this.#takeBack(entry)
      throw error
    }
    return this.#admission(entries)
  }

  #handleOf(subject: LimitSubject): CellHandle {
    subject.handle ??= this.#cells.handleOf(subject.key)
    return subject.handle
  }

  #enter(subject: LimitSubject, bytes: number | null): Entry {
    const { limits } = subject
    const now = this.#time.passed()
    const end = this.#cells.change(this.#handleOf(subject), (cell): Full | Reserved => {
      for (const window of WINDOWS) if (limits[window.limit] > 0) turn(cell, window, limits[window.limit], now, this.#time)
      if (isCrowded(cell, limits)) return { full: 'concurrent_requests', wait: BUSY_RETRY_SECONDS }
      const full = WINDOWS.find((window) => isFull(cell, window, limits[window.limit]))
      if (full !== undefined) return { full: full.limit, wait: (cell.numbers[cell.at + full.end] ?? 0) - now }
      const tokens = bytes !== null && limits.tokens_per_minute > 0 ? expected(cell, TOKENS, bytes / BYTES_PER_TOKEN) : 0
      const cost = bytes !== null && limits.cost_per_day > 0 ? expected(cell, COST, 0) : 0
      if (limits.requests_per_minute > 0) add(cell, REQUESTS, 1)
      add(cell, TOKENS, tokens)
      add(cell, COST, cost)
      return { tokens, cost }
    })
    if ('full' in end) throw limitRefusal(subject, end.full, end.wait)
    return { subject, ...end, isInside: false }
  }

  #begin(entries: readonly Entry[]): void {
    for (const entry of entries) {
      entry.isInside = this.#cells.change(this.#handleOf(entry.subject), (cell) => {
        if (isCrowded(cell, entry.subject.limits)) return false
        this.#cells.enter(cell, 1)
        return true
      })
      if (entry.isInside) continue
      for (const each of entries) this.#takeBack(each)
      throw limitRefusal(entry.subject, 'concurrent_requests', BUSY_RETRY_SECONDS)
    }
  }

  #takeBack({ subject, tokens, cost, isInside }: Entry): void {
    this.#cells.change(this.#handleOf(subject), (cell) => {
      if (isInside) this.#cells.enter(cell, -1)
      if (subject.limits.requests_per_minute > 0) add(cell, REQUESTS, -1)
      add(cell, TOKENS, -tokens)
      add(cell, COST, -cost)
    })
  }

  #admission(entries: readonly Entry[]): LimitAdmission {
    let open = entries
    return {
      begin: () => {
        const begun = open
        // What is taken back is not left again.
        open = []
        this.#begin(begun)
        open = begun
        return undefined
      },
      settle: (taken) => {
        this.#leave(open, taken)
        open = []
      },
      leave: () => {
        this.#leave(open, null)
        open = []
      },
    }
  }

  #leave(entries: readonly Entry[], taken: CallUsage | null): void {
    const counted = taken === null ? null : tokensOf(taken)
    for (const { subject, tokens, cost, isInside } of entries)
      this.#cells.change(this.#handleOf(subject), (cell) => {
        if (isInside) this.#cells.enter(cell, -1)
        if (taken === null || counted === null) {
          add(cell, TOKENS, -tokens)
          add(cell, COST, -cost)
          return
        }
        if (subject.limits.tokens_per_minute > 0) settle(cell, TOKENS, tokens, counted.input + counted.output)
        if (subject.limits.cost_per_day > 0) settle(cell, COST, cost, this.#prices.costOf(taken.model, counted))
      })
  }
}

const isCrowded = ({ inside }: LimitCell, { concurrent_requests: most }: SubjectLimits): boolean => most > 0 && inside >= most

/** Sums of money are off by this much. */
const ROUNDING = 1e-9

const isFull = ({ numbers, at }: LimitCell, { used, mean }: Window, limit: number): boolean =>
  limit > 0 && (mean === null ? (numbers[at + used] ?? 0) + 1 > limit : (numbers[at + used] ?? 0) >= limit * (1 - ROUNDING))

/** Money counts for a day: it is lost last. */
const MONEY_WORTH = 1e9

/** What would be lost with a cell; 0 where nothing counts any more. */
const worthOf = ({ numbers, at }: LimitCell, now: number): number =>
  WINDOWS.filter(({ end }) => (numbers[at + end] ?? 0) > now)
    .map(({ used, endsWithDay }) => (numbers[at + used] ?? 0) * (endsWithDay ? MONEY_WORTH : 1))
    .reduce((sum, worth) => sum + worth, 0)
