/**
 * The always-valid test on live scores: whether sessions on the provisional release score lower than sessions on the head at the same time. Each
 * session counts once. As long as the provisional release is not worse, the chance that the test ever says so is at most `LEVEL`, however often
 * it is looked at. Pure; docs/evolution.md states the guarantee.
 */
import type { JsonObject } from '../contract/index.ts'
import { Wealth } from '../kit/index.ts'

export const LIVE_LEVEL = 0.05
/** Shares of the wealth that are bet on every pair: small ones find small losses, large ones find large losses soon. */
const STAKES = [0.1, 0.25, 0.5, 0.9]
/** Scores that wait for one of the other side. Older ones are let go, whatever they are: both sides of a pair are of the same time. */
const WAITING_MAX = 8
/** More sessions are not counted: the names of those that were take memory. */
const SESSIONS_MAX = 100_000

export type LiveSide = 'provisional' | 'head'

/** The test of the provisional release by live scores, as its scenario sees it. */
export interface ScoreWatch {
  /** There may be reports to read. Returns at once. */
  wake(): void
  /** Null while nothing is tested. */
  summary(): JsonObject | null
}

export class LiveScores {
  readonly #wealth = new Wealth(STAKES)
  readonly #sessions = new Set<string>()
  readonly #waiting: Record<LiveSide, number[]> = { provisional: [], head: [] }
  readonly #means: Record<LiveSide, number> = { provisional: 0, head: 0 }
  readonly #counts: Record<LiveSide, number> = { provisional: 0, head: 0 }
  #pairs = 0

  /** The first score of a session counts, the others do not. */
  add(side: LiveSide, session: string, score: number): void {
    if (this.#sessions.has(session) || this.#sessions.size >= SESSIONS_MAX) return
    this.#sessions.add(session)
    this.#counts[side] += 1
    // Of scores that are large their sum would be no number.
    this.#means[side] += score / this.#counts[side] - this.#means[side] / this.#counts[side]
    const other = this.#waiting[side === 'head' ? 'provisional' : 'head'].pop()
    if (other === undefined) {
      this.#waiting[side].push(score)
      if (this.#waiting[side].length > WAITING_MAX) this.#waiting[side].shift()
    } else this.#compare(side === 'head' ? score - other : other - score)
  }

  /** A loss counts up to one point, so that no single score decides. */
  #compare(loss: number): void {
    this.#pairs += 1
    this.#wealth.add(Math.min(1, Math.max(-1, loss)), 1)
  }

  get isWorse(): boolean {
    return this.#wealth.log >= -Math.log(LIVE_LEVEL)
  }

  /** For the row and the status. */
  summary(): JsonObject {
    const mean = (side: LiveSide): number | null => (this.#counts[side] === 0 ? null : rounded(this.#means[side]))
    return {
      pairs: this.#pairs,
      provisional_sessions: this.#counts.provisional,
      head_sessions: this.#counts.head,
      provisional_mean: mean('provisional'),
      head_mean: mean('head'),
      e_value: Number(Math.min(EVIDENCE_MAX, Math.exp(this.#wealth.log)).toPrecision(6)),
      threshold: 1 / LIVE_LEVEL,
    }
  }
}

/** Bounded, since JSON has no infinity. */
const EVIDENCE_MAX = 1e12
const rounded = (value: number): number => Number(value.toPrecision(6))
