/** Lets requests in while their token and their scenario have taken less than they may, and counts what they took. */
import { limited, type Refusal } from '../contract/index.ts'
import { Cells, threadsOf, type LimitCell, type LimitPlace } from './cells.ts'
import { tokensOf, type CallUsage } from './taken.ts'
import { PriceTable } from './prices.ts'
import { UpstreamQueue } from './queue.ts'
import { hasTurns, isLimiting, type LimitSettings, type SubjectLimits } from './settings.ts'
import { SpentFile, type SpentNeeds } from './spent.ts'
import { add, COST, expected, REQUESTS, settle, systemTime, TOKENS, turn, WINDOWS, type LimitTime, type Window } from './windows.ts'

const SUBJECTS_MAX = 100_000
/** An answer may end at any time. */
const BUSY_RETRY_SECONDS = 1
const BYTES_PER_TOKEN = 4

/** Whose request it is. */
export interface LimitedToken {
  readonly name: string
  /** Differs where names are alike. */
  readonly key: string
}

/** A request that was let in. */
export interface LimitAdmission {
  /** Counts what its answer took. Without this it took nothing beside itself. */
  settle(taken: CallUsage): void
  /** To be called once, when its answer is over. */
  leave(): void
}

interface Subject {
  /** For people: `token ci`. */
  readonly called: string
  readonly key: string
  readonly limits: SubjectLimits
}

/** What was set aside for a request, by window. */
interface Reserved {
  readonly tokens: number
  readonly cost: number
}
interface Entry extends Reserved {
  readonly subject: Subject
}
interface Full {
  readonly full: keyof SubjectLimits
  readonly wait: number
}

export class Limits {
  readonly #settings: LimitSettings
  readonly #cells: Cells
  readonly #prices: PriceTable
  readonly #time: LimitTime
  readonly #queue: UpstreamQueue | null
  /** Null: without a limit. */
  readonly #tokens = new Map<string, Subject | null>()
  readonly #scenarios = new Map<string, Subject | null>()

  constructor(settings: LimitSettings, place: LimitPlace, time: LimitTime = systemTime) {
    this.#settings = settings
    this.#cells = new Cells(place, (cell) => worthOf(cell, time.passed()))
    this.#prices = new PriceTable(settings.prices)
    this.#time = time
    const { memory, slot } = place
    const { upstream: limits } = settings
    this.#queue = hasTurns(limits) ? new UpstreamQueue({ limits, cells: this.#cells, slot, threads: threadsOf(memory), time }) : null
  }

  /** Throws where one of both has taken enough; then nothing is counted. Null where neither has a limit. */
  admit(token: LimitedToken | null, scenario: string, bytes: number): LimitAdmission | null {
    const byToken = token === null ? null : this.#ofToken(token)
    const byScenario = this.#ofScenario(scenario)
    if (byToken === null && byScenario === null) return null
    const entries: Entry[] = []
    if (byToken !== null) entries.push(this.#enter(byToken, bytes))
    if (byScenario !== null) {
      try {
        entries.push(this.#enter(byScenario, bytes))
      } catch (error) {
        for (const entry of entries) this.#takeBack(entry)
        throw error
      }
    }
    return this.#admission(entries)
  }

  /** A turn at the upstream: what gives it back, or a promise of that where others are first. Null where the upstream has no limit. */
  turn(scenario: string, signal: () => AbortSignal): (() => void) | Promise<() => void> | null {
    return this.#queue?.enter(scenario, signal) ?? null
  }

  /** Goes on from what was spent today, and keeps it in that file until it is closed. */
  keepSpent(path: string, warn: SpentNeeds['warn']): Promise<SpentFile> {
    return SpentFile.open({ path, cells: this.#cells, time: this.#time, warn })
  }

  /** Takes the requests of a thread that ended out. */
  forget(slot: number): void {
    this.#cells.forget(slot)
  }

  #ofToken({ name, key }: LimitedToken): Subject | null {
    return remembered(this.#tokens, key, () => subjectOf('token', name, key, limitsOf(this.#settings.tokens, name) ?? this.#settings.token))
  }

  #ofScenario(name: string): Subject | null {
    const { scenarios, scenario } = this.#settings
    return remembered(this.#scenarios, name, () => subjectOf('scenario', name, name, limitsOf(scenarios, name) ?? scenario))
  }

  #enter(subject: Subject, bytes: number): Entry {
    const { limits } = subject
    const now = this.#time.passed()
    const end = this.#cells.change(subject.key, (cell): Full | Reserved => {
      for (const window of WINDOWS) if (limits[window.limit] > 0) turn(cell, window, limits[window.limit], now, this.#time)
      if (limits.concurrent_requests > 0 && cell.inside >= limits.concurrent_requests)
        return { full: 'concurrent_requests', wait: BUSY_RETRY_SECONDS }
      const full = WINDOWS.find((window) => isFull(cell, window, limits[window.limit]))
      if (full !== undefined) return { full: full.limit, wait: (cell.numbers[cell.at + full.end] ?? 0) - now }
      const tokens = limits.tokens_per_minute > 0 ? expected(cell, TOKENS, bytes / BYTES_PER_TOKEN) : 0
      const cost = limits.cost_per_day > 0 ? expected(cell, COST, 0) : 0
      this.#cells.enter(cell, 1)
      if (limits.requests_per_minute > 0) add(cell, REQUESTS, 1)
      add(cell, TOKENS, tokens)
      add(cell, COST, cost)
      return { tokens, cost }
    })
    if ('full' in end) throw refusal(subject, end.full, end.wait)
    return { subject, ...end }
  }

  #takeBack({ subject, tokens, cost }: Entry): void {
    this.#cells.change(subject.key, (cell) => {
      this.#cells.enter(cell, -1)
      if (subject.limits.requests_per_minute > 0) add(cell, REQUESTS, -1)
      add(cell, TOKENS, -tokens)
      add(cell, COST, -cost)
    })
  }

  #admission(entries: readonly Entry[]): LimitAdmission {
    let open = entries
    return {
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
    for (const { subject, tokens, cost } of entries)
      this.#cells.change(subject.key, (cell) => {
        this.#cells.enter(cell, -1)
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

/** Callers choose names: every object has a `constructor`. */
const limitsOf = (table: Readonly<Record<string, SubjectLimits>>, name: string): SubjectLimits | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined

function subjectOf(kind: 'token' | 'scenario', name: string, key: string, limits: SubjectLimits): Subject | null {
  return isLimiting(limits) ? { called: `${kind} ${name}`, key: `${kind} ${key}`, limits } : null
}

function remembered(known: Map<string, Subject | null>, key: string, make: () => Subject | null): Subject | null {
  const found = known.get(key)
  if (found !== undefined) return found
  if (known.size >= SUBJECTS_MAX) known.clear()
  const made = make()
  known.set(key, made)
  return made
}

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

const SPENT: Readonly<Record<keyof SubjectLimits, (limit: number) => readonly [code: string, said: string]>> = {
  requests_per_minute: (limit) => ['requests_limit', `made the ${limit} requests that it may make in a minute`],
  tokens_per_minute: (limit) => ['tokens_limit', `took the ${limit} tokens that it may take in a minute`],
  cost_per_day: (limit) => ['cost_limit', `spent the ${limit} that it may spend in a day`],
  concurrent_requests: (limit) => ['concurrency_limit', `has ${limit} requests in flight, as many as it may have at once`],
}

function refusal({ called, limits }: Subject, full: keyof SubjectLimits, waitSeconds: number): Refusal {
  const [code, said] = SPENT[full](limits[full])
  const seconds = Math.max(1, Math.ceil(waitSeconds))
  return limited(code, `the ${called} ${said}; send the request again in ${seconds} s, or ask whoever runs the service for more`, seconds)
}
