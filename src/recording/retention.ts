/**
 * Removes the bodies of records that are older than their scenario keeps them: at the start and once an hour, a few at a time, so that no
 * request waits. It keeps no list of what is to be done: a sweep that was killed is begun anew.
 *
 * A clock that moved ahead would have everything removed. So the time of each look is kept, and after a gap of days the sweep waits for a day,
 * in which a person can set the clock right.
 */
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { invalid, isRefusal, type Expired, type Losses, type Store } from '../contract/index.ts'
import { isMissing, wordsOf, writeAtomicFile } from '../kit/index.ts'

const DAY_SECONDS = 86_400
const SWEEP_EVERY_MS = 3_600_000
/** A service that was off for a week looks like a clock that moved. */
const GAP_SECONDS_MAX = 7 * DAY_SECONDS
const HOLD_SECONDS = DAY_SECONDS
/** After a turn it rests this many times as long as the turn took. */
const REST_SHARE = 4
const REST_MS_MIN = 5

type Level = 'info' | 'warn'

export interface RetentionNeeds {
  readonly store: Pick<Store, 'scenarios' | 'scenario'>
  /** Null: bodies are kept. */
  readonly days: number | null
  /** Of scenarios that have a rule of their own, by name. */
  readonly scenarioDays: ReadonlyMap<string, number | null>
  /** Where the time of the last look is kept; null: nowhere. */
  readonly path: string | null
  /** Seconds since the epoch. */
  readonly clock: () => number
  readonly log: (level: Level, event: string, fields: Readonly<Record<string, string | number>>) => void
}

interface Watch {
  /** When the clock was looked at last; null before the first time. */
  readonly seenAt: number | null
  /** When the clock was found to have moved. */
  readonly heldAt: number | null
}

export class Retention {
  readonly #needs: RetentionNeeds
  readonly #closing = new AbortController()
  #watch: Watch = { seenAt: null, heldAt: null }
  #sweeping: Promise<void> | null = null
  #timer: NodeJS.Timeout | null = null

  private constructor(needs: RetentionNeeds) {
    this.#needs = needs
  }

  /** Throws where bodies are to be removed from a store that cannot. The first sweep has begun. */
  static async open(needs: RetentionNeeds): Promise<Retention> {
    const retention = new Retention(needs)
    const isWanted = [needs.days, ...needs.scenarioDays.values()].some((days) => days !== null)
    if (!isWanted) return retention
    if (needs.store.scenario('').expire === undefined)
      throw invalid(
        'retention_unsupported',
        'the record store cannot remove bodies for their age; unset recording.retention_days, or use another store',
      )
    retention.#watch = await readWatch(needs.path)
    retention.#timer = setInterval(() => void retention.sweep(), SWEEP_EVERY_MS).unref()
    void retention.sweep()
    return retention
  }

  /** Seconds since the epoch; null while nothing waits. */
  get heldUntil(): number | null {
    return this.#watch.heldAt === null ? null : this.#watch.heldAt + HOLD_SECONDS
  }

  /** One at a time. Never throws: what fails is logged, and tried again with the next one. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#sweep()
      .catch((error: unknown) => this.#failed(error))
      .finally(() => (this.#sweeping = null))
    return this.#sweeping
  }

  async close(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#closing.abort()
    await this.#sweeping
  }

  async #sweep(): Promise<void> {
    const { store, clock } = this.#needs
    const now = clock()
    const kept = (await store.scenarios()).flatMap((name) => {
      const days = this.#daysOf(name)
      return days === null ? [] : [{ name, madeBefore: now - days * DAY_SECONDS }]
    })
    if (await this.#isHeld(now, kept)) return
    for (const { name, madeBefore } of kept) await this.#sweepScenario(name, madeBefore)
  }

  #daysOf(scenario: string): number | null {
    const own = this.#needs.scenarioDays.get(scenario)
    return own === undefined ? this.#needs.days : own
  }

  async #sweepScenario(name: string, madeBefore: number): Promise<void> {
    const removed = { records: 0, bytes: 0 }
    try {
      await this.#removeAll(name, madeBefore, removed)
    } catch (error) {
      // It was archived meanwhile.
      if (!isRefusal(error) || error.code !== 'unknown_scenario') throw error
    } finally {
      if (removed.records > 0) this.#needs.log('info', 'records_expired', { scenario: name, ...removed, days: this.#daysOf(name) ?? 0 })
    }
  }

  async #removeAll(name: string, madeBefore: number, removed: { -readonly [Key in keyof Losses]: Losses[Key] }): Promise<void> {
    const { signal } = this.#closing
    for (let below: number | null = Number.MAX_SAFE_INTEGER; below !== null;) {
      const begun = performance.now()
      const expired: Expired | undefined = await this.#needs.store.scenario(name).expire?.({ madeBefore, below })
      if (expired === undefined) return
      removed.records += expired.records
      removed.bytes += expired.bytes
      below = expired.next
      await sleep(Math.max(REST_MS_MIN, (performance.now() - begun) * REST_SHARE), undefined, { signal, ref: false })
    }
  }

  /** Before anything was looked at, the newest record says when the clock was right. */
  async #isHeld(now: number, kept: readonly { readonly name: string }[]): Promise<boolean> {
    const before = this.#watch
    const seenAt = before.seenAt ?? (await this.#newest(kept)) ?? now
    const heldAt = now - seenAt > GAP_SECONDS_MAX ? now : before.heldAt
    const isHeld = heldAt !== null && now >= heldAt && now < heldAt + HOLD_SECONDS
    this.#watch = { seenAt: now, heldAt: isHeld ? heldAt : null }
    await this.#keepWatch()
    if (isHeld && heldAt !== before.heldAt)
      this.#needs.log('warn', 'retention_held', {
        message:
          'the clock moved ahead by days since records were last looked at; set it right, or wait: bodies are removed for their age again in a day',
        days: Math.floor((now - seenAt) / DAY_SECONDS),
        until: heldAt + HOLD_SECONDS,
      })
    return isHeld
  }

  async #newest(kept: readonly { readonly name: string }[]): Promise<number | null> {
    const { store } = this.#needs
    let newest: number | null = null
    for (const { name } of kept) {
      const [row] = await store.scenario(name).records({ before: Number.MAX_SAFE_INTEGER, limit: 1 })
      if (row !== undefined) newest = Math.max(newest ?? 0, row.created_at)
    }
    return newest
  }

  async #keepWatch(): Promise<void> {
    const { path } = this.#needs
    if (path !== null) await writeAtomicFile(path, `${JSON.stringify({ seen_at: this.#watch.seenAt, held_at: this.#watch.heldAt })}\n`)
  }

  #failed(error: unknown): void {
    if (this.#closing.signal.aborted) return
    this.#needs.log('warn', 'retention_failed', {
      message: 'bodies could not be removed for their age; it is tried again within an hour',
      cause: wordsOf(error),
    })
  }
}

/** What cannot be read is as if it were not there. */
async function readWatch(path: string | null): Promise<Watch> {
  const none = { seenAt: null, heldAt: null }
  if (path === null) return none
  try {
    const kept: { seen_at?: unknown; held_at?: unknown } = JSON.parse(await readFile(path, 'utf8'))
    return { seenAt: numberOrNull(kept.seen_at), heldAt: numberOrNull(kept.held_at) }
  } catch (error) {
    if (isMissing(error) || error instanceof SyntaxError) return none
    throw error
  }
}

const numberOrNull = (value: unknown): number | null => (typeof value === 'number' && Number.isFinite(value) ? value : null)
