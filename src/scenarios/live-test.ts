/** Reads the scores that reports give the provisional release and the head, and withdraws the provisional release once it is worse. */
import { isRefusal, type JsonObject, type RecordRow } from '../contract/index.ts'
import type { ProvisionalRow } from './history.ts'
import { LIVE_LEVEL, LiveScores } from './live-scores.ts'
import type { Scenario } from './scenario.ts'
import type { Services } from './services.ts'
import { canaryShare } from './own-evolution.ts'
import { withdrawRelease } from './withdraw.ts'

const REPORTS_PER_READ = 100
/** Of a provisional release that is older, earlier reports are not read after a restart. */
const PAGES_BACK_MAX = 200

/** One provisional release under test. Everything follows from the stored reports, so a restart loses nothing. */
interface Trial {
  readonly provisional: ProvisionalRow
  readonly scores: LiveScores
  /** Reports up to this sequence are counted. */
  readThrough: number
}

/** Reports are read while a provisional release is served to some. */
export function watchProvisional(services: Services, scenario: Scenario): void {
  scenario.liveTest = canaryShare(scenario) === null ? null : (scenario.liveTest ?? new LiveTest(services, scenario))
  scenario.liveTest?.wake()
}

class LiveTest {
  readonly #services: Services
  readonly #scenario: Scenario
  #trial: Trial | null = null
  #isLooking = false
  #isWoken = false

  constructor(services: Services, scenario: Scenario) {
    this.#services = services
    this.#scenario = scenario
  }

  /** There may be reports to read, or another provisional release. Returns at once; a look that runs looks again. */
  wake(): void {
    this.#isWoken = true
    if (this.#isLooking || this.#scenario.provisional === null) return
    this.#isLooking = true
    const looking = this.#scenario.use(async () => {
      while (this.#isWoken) {
        this.#isWoken = false
        await this.#look()
      }
    })
    looking
      .catch((error: unknown) => {
        if (!this.#scenario.isArchived) this.#services.warn('live scores could not be read; the next report tries again', error)
      })
      .finally(() => {
        this.#isLooking = false
      })
  }

  /** Null while nothing is tested. */
  summary(): JsonObject | null {
    return this.#trial?.provisional === this.#scenario.history.provisional ? (this.#trial?.scores.summary() ?? null) : null
  }

  async #look(): Promise<void> {
    const { provisional } = this.#scenario.history
    if (provisional === null || this.#scenario.provisional === null) return
    const trial = this.#trial?.provisional === provisional ? this.#trial : await this.#begin(provisional)
    for (;;) {
      const page = await this.#scenario.store.records({ after: trial.readThrough, limit: REPORTS_PER_READ, type: 'report' })
      if (page.length === 0) return
      for (const report of page) {
        await this.#count(trial, report)
        trial.readThrough = report.sequence
        if (trial.scores.isWorse) return this.#withdraw(trial)
      }
    }
  }

  async #begin(provisional: ProvisionalRow): Promise<Trial> {
    const trial = { provisional, scores: new LiveScores(), readThrough: await this.#firstReport(provisional.row.recorded_at) }
    this.#trial = trial
    return trial
  }

  /** The sequence of the newest report from before that time. */
  async #firstReport(since: number): Promise<number> {
    let before = Number.MAX_SAFE_INTEGER
    for (let pages = 0; pages < PAGES_BACK_MAX; pages += 1) {
      const page = await this.#scenario.store.records({ before, limit: REPORTS_PER_READ, type: 'report' })
      const earlier = page.find(({ created_at }) => created_at < since)
      if (earlier !== undefined) return earlier.sequence
      const last = page.at(-1)
      if (last === undefined) return 0
      before = last.sequence
    }
    return before - 1
  }

  /** By the first exchange that the report quotes: which release served it, in which session. */
  async #count({ provisional, scores }: Trial, { score, references }: RecordRow): Promise<void> {
    const [first] = references
    if (score === null || first === undefined) return
    const exchange = await this.#scenario.store.get(first)
    if (exchange === null || exchange.created_at < provisional.row.recorded_at) return
    const { artifact_ref: servedBy, summary } = exchange
    const isHead = servedBy === this.#scenario.history.head.row.release.release_id
    if (!isHead && servedBy !== provisional.row.release.release_id) return
    // Without a session an exchange stands for itself.
    const session = summary?.session === undefined ? `record ${first}` : `session ${summary.session}`
    scores.add(isHead ? 'head' : 'provisional', session, score)
  }

  async #withdraw({ provisional, scores }: Trial): Promise<void> {
    const reason = `sessions on it scored lower than sessions on the served release at the same time (1 in ${1 / LIVE_LEVEL} by luck at most)`
    const { release_id } = provisional.row.release
    try {
      await withdrawRelease(this.#services, this.#scenario, release_id, { reason, live_scores: scores.summary() })
    } catch (error) {
      // It ended meanwhile, here or elsewhere.
      if (!isRefusal(error) || error.code !== 'not_provisional') throw error
    }
  }
}
