/** An independent model of a scenario: checks every order and every row as it comes. */
import { isDeepStrictEqual } from 'node:util'
import {
  isObject,
  STEP_FAILURES_MAX,
  STEP_OVERTAKEN_MAX,
  type Commit,
  type StepOutcome,
  type TrainingMode,
} from '../../src/contract/index.ts'
import type { StoredOrder } from '../../src/training/hosts/host.ts'
import { batchOf, linesOf, OUTCOME, type Attempt, type Verdict } from './attempt.ts'
import { History, isUsable, type Ledgers, type Noted, type Rules } from './history.ts'

/** The state when a trainer requested its turn: a step knows at least that. */
export interface Asked {
  readonly records: number
  readonly mode: TrainingMode
}

export class Model extends History {
  /** All violations. */
  readonly wrongs: string[] = []
  /** Modes since the last idle point, newest last. */
  modes: TrainingMode[]
  /** The number of records at the last idle point. */
  #known = 0
  /** Given to a trainer and not settled by a row. */
  readonly #out = new Map<string, Attempt>()
  /** Trainers that may have chosen a batch before a call failed. */
  readonly #reserved = new Set<string>()
  /** Consecutive failed steps. */
  readonly #failures = new Map<string, number>()
  readonly #published = new Map<string, number>()
  /** Trainers that may be in a back-off: for everything, or for traffic only. */
  readonly #resting = new Set<string>()
  readonly #trafficResting = new Set<string>()
  #isLeaving = false

  constructor(rules: Rules, mode: TrainingMode) {
    super(rules)
    this.modes = [mode]
  }

  get mode(): TrainingMode {
    return this.modes.at(-1) ?? 'auto'
  }

  get asked(): Asked {
    return { records: this.#known, mode: this.mode }
  }

  // ── events beside steps ──────────────────────────────────────────────────────────────

  /** A mode change may take effect, and end back-offs, before it is acknowledged. */
  consider(mode: TrainingMode): void {
    this.modes.unshift(mode)
    this.timePassed()
  }

  chosen(mode: TrainingMode): void {
    this.modes.push(mode)
  }

  timePassed(): void {
    this.#resting.clear()
    this.#trafficResting.clear()
  }

  /** A call failed, so its trainer may back off. */
  serviceFailed(): void {
    for (const component of this.rules.components) {
      this.#resting.add(component)
      this.#reserved.add(component)
    }
  }

  /** Restarted workers may back off again because of the latest rows. */
  loaded(): void {
    this.#isLeaving = false
    this.#out.clear()
    this.#resting.clear()
    this.#reserved.clear()
    for (const component of this.rules.components) if (this.#failuresOf(component) > 0) this.#trafficResting.add(component)
  }

  /** Its pointer was archived, the first part of removal. */
  leaving(): void {
    this.#isLeaving = true
  }

  /** Ends all back-offs. */
  forgive(): void {
    this.#out.clear()
    this.timePassed()
  }

  // ── a step begins ──────────────────────────────────────────────────────────────────────────

  taken(component: string, { batch, base, files, state, candidate }: StoredOrder, asked: Asked): void {
    const before = this.#out.get(component)
    const attempt: Attempt = {
      base: base.release_id,
      request: batch.request?.id ?? null,
      units: batch.samples.map(({ record_ids }) => record_ids),
      ends: (before?.ends ?? 0) + (before?.verdict == null ? 0 : 1),
      verdict: null,
    }
    if (before === undefined) this.#judgeFresh(component, attempt, asked)
    else this.#claim(isDeepStrictEqual(batchOf(before), batchOf(attempt)), `${component}: a batch without a row was not the next one again`)
    if (candidate !== undefined) this.#claim(before?.verdict != null, `${component}: a candidate that no step made`)
    this.#claim(this.isPublished(base.release_id), `${component}: a step on a release that was never served`)
    this.#claim(
      isDeepStrictEqual(files, { 'ledger.md': this.ledgers.get(base.release_id)?.[component] }),
      `${component}: the files of the order are not those of its base`,
    )
    const steps = this.#published.get(component) ?? 0
    this.#claim(isDeepStrictEqual(state, steps === 0 ? {} : { steps }), `${component}: the state is not what its latest step left`)
    this.#out.set(component, attempt)
    this.#reserved.delete(component)
  }

  ended(component: string, verdict: Verdict): void {
    const attempt = this.#out.get(component)
    if (attempt !== undefined) attempt.verdict = verdict
  }

  #judgeFresh(component: string, { request, units }: Attempt, asked: Asked): void {
    const { batchSize } = this.rules
    const oldest = this.usable(component).slice(0, units.length).map(unitOf)
    this.#claim(isDeepStrictEqual(units, oldest), `${component}: its units are not the oldest usable ones`)
    this.#claim(units.length <= batchSize, `${component}: ${units.length} units where a batch holds ${batchSize}`)
    if (request === null) {
      this.#claim(units.length === batchSize, `${component}: a batch of ${units.length} units instead of ${batchSize}`)
      this.#claim(!this.isSpent(component), `${component}: an automatic step beyond the budget`)
    } else this.#claim(request === this.instruction(component)?.id, `${component}: ${request} is not the oldest instruction`)
    if (!this.#reserved.has(component)) this.#judgeMode(component, request, units.length, asked)
  }

  #judgeMode(component: string, request: string | null, units: number, asked: Asked): void {
    const isHybrid = this.modes.every((mode) => mode === 'hybrid')
    if (request === null) {
      this.#claim(
        this.modes.some((mode) => mode !== 'manual'),
        `${component}: traffic was taken in manual mode`,
      )
      const isPassedOver = isHybrid && this.instruction(component, asked.records) !== undefined
      this.#claim(!isPassedOver, `${component}: traffic went before an instruction`)
      return
    }
    this.#claim(
      this.modes.some((mode) => mode !== 'auto'),
      `${component}: an instruction was taken in auto mode`,
    )
    this.#claim(units === 0 || this.modes.includes('hybrid'), `${component}: units rode beside an instruction in manual mode`)
    const waited = this.usable(component, asked.records).length
    const mustRide = isHybrid && asked.mode === 'hybrid' && !this.areSuspected(component)
    const least = mustRide ? Math.min(this.rules.batchSize, waited) : 0
    this.#claim(units >= least, `${component}: ${units} units rode beside an instruction where ${least} waited`)
  }

  // ── a row lands ────────────────────────────────────────────────────────────────────────────

  landed(row: Commit): void {
    this.#claim(row.step === this.rows.length, `step ${row.step} follows ${this.rows.length - 1}`)
    this.#claim(!this.#isLeaving, `step ${row.step}: lands in a scenario that is being removed`)
    this.#claim(row.pending === (row.outcome === 'pending'), `step ${row.step}: pending and outcome disagree`)
    const hasRelease = row.outcome === 'published' || row.outcome === 'pending'
    this.#claim(hasRelease === (row.release !== null), `step ${row.step}: outcome ${row.outcome} and release disagree`)
    const holds = row.operation === 'train' ? this.#judgeStep(row) : this.#judgeMove(row)
    if (row.release !== null && holds !== null) {
      const parent = row.step === 0 ? null : this.head.release?.release_id
      this.#claim(row.release.parent_release_id === parent, `step ${row.step}: its parent is not the head it landed on`)
      this.#claim(!this.ledgers.has(row.release.release_id), `step ${row.step}: a release of that id exists already`)
      this.ledgers.set(row.release.release_id, holds)
    }
    this.add(row)
  }

  #judgeMove({ step, operation, outcome, consumed_ids, rollback_target_release_id: target = '' }: Commit): Ledgers | null {
    this.#claim(outcome === 'published' && consumed_ids.length === 0, `step ${step}: a ${operation} publishes and consumes nothing`)
    if (operation === 'create') return Object.fromEntries(this.rules.components.map((component) => [component, '']))
    this.#claim(
      this.expectMove(target, operation === 'promote' ? 'promote' : 'rollback') === 'moved',
      `step ${step}: must not ${operation}`,
    )
    const restored = this.ledgers.get(target) ?? null
    const held = this.rows.find(({ release }) => release?.release_id === target)?.component
    if (operation === 'rollback' || held === undefined || restored === null) return restored
    return { ...this.headLedgers(), [held]: restored[held] ?? '' }
  }

  #judgeStep(row: Commit): Ledgers | null {
    const { step, component = '' } = row
    const attempt = this.#out.get(component)
    const verdict = attempt?.verdict ?? null
    this.#claim(verdict !== null, `step ${step}: no step of ${component} had ended`)
    if (attempt === undefined || verdict === null) return null
    const outcome = OUTCOME[verdict]
    this.#claim(row.outcome === outcome, `step ${step}: ${verdict} became ${row.outcome}`)
    this.#judgeConsumed(row, attempt, outcome)
    this.#judgeWords(row, attempt, outcome)
    this.#settle(component, attempt, verdict)
    if (row.release === null) return null
    this.#judgeBase(row, attempt)
    const own = `${this.headLedgers()[component]}${linesOf(attempt)}`
    return { ...this.headLedgers(), [component]: own }
  }

  /** The given samples, unless it failed; otherwise only records that are useless now. */
  #judgeConsumed({ step, component = '', consumed_ids }: Commit, { request, units }: Attempt, outcome: StepOutcome): void {
    const gone = this.consumedBy(component)
    const isGivenUp = outcome === 'failed' && request === null && this.#failuresOf(component) + 1 >= STEP_FAILURES_MAX
    const takesUnits = outcome !== 'failed' || isGivenUp
    const due = new Set([...(request === null ? [] : [request]), ...(takesUnits ? units.flat() : [])])
    this.#claim(new Set(consumed_ids).size === consumed_ids.length, `step ${step}: consumes a record twice`)
    this.#claim(
      consumed_ids.every((id) => !gone.has(id)),
      `step ${step}: consumes what was consumed before`,
    )
    const missing = [...due].filter((id) => !consumed_ids.includes(id))
    this.#claim(missing.length === 0, `step ${step}: leaves out ${missing.join(' ')}, which it used`)
    const aside = consumed_ids.filter((id) => !due.has(id)).map((id) => this.records.find((record) => record.id === id))
    this.#claim(
      aside.every((record) => record?.type === 'report' && !isUsable(record, gone)),
      `step ${step}: consumes what another step could use: ${consumed_ids.join(' ')}`,
    )
  }

  #judgeWords({ step, metrics }: Commit, { request, units }: Attempt, outcome: StepOutcome): void {
    const named = isObject(metrics['training_request']) ? metrics['training_request']['id'] : null
    this.#claim(named === request, `step ${step}: names another instruction than it took`)
    const isFailed = typeof metrics['error'] === 'string'
    this.#claim(isFailed === (outcome === 'failed'), `step ${step}: its error and its outcome disagree`)
    if (isFailed && request !== null) this.#claim(metrics['skipped'] === 'instruction failed', `step ${step}: does not say what failed`)
    if (request === null) this.#claim(units.length > 0, `step ${step}: came from nothing`)
  }

  /** Based on the head, or on a release after which only other components published. */
  #judgeBase({ step, component = '' }: Commit, { base }: Attempt): void {
    const at = this.rows.findIndex(({ release, outcome }) => release?.release_id === base && outcome === 'published')
    const since = this.rows.slice(at + 1).filter(({ outcome }) => outcome === 'published')
    const isBeside = since.every((row) => row.operation === 'train' && (row.component ?? '') !== component)
    this.#claim(at >= 0 && isBeside, `step ${step}: lands on a head that was moved`)
    this.#claim(since.length === 0 || this.rules.stale === 'merge', `step ${step}: lands beside another component's release`)
  }

  #settle(component: string, { request, units }: Attempt, verdict: Verdict): void {
    const isFailure = OUTCOME[verdict] === 'failed'
    // A failed instruction consumed none of the retried samples; one without samples says nothing about them.
    if (request === null || (!isFailure && units.length > 0)) this.#settleTraffic(component, isFailure)
    this.#resting.delete(component)
    if (verdict === 'publish') this.#published.set(component, (this.#published.get(component) ?? 0) + 1)
    this.#out.delete(component)
  }

  #settleTraffic(component: string, isFailure: boolean): void {
    const failures = isFailure ? (this.#failuresOf(component) + 1) % STEP_FAILURES_MAX : 0
    this.#failures.set(component, failures)
    if (failures > 0) this.#trafficResting.add(component)
    else this.#trafficResting.delete(component)
  }

  // ── at rest ────────────────────────────────────────────────────────────────────────────────

  /** Idle: every trainer that neither works nor waits must have nothing to do. */
  rest(isWorking: (component: string) => boolean): void {
    for (const component of this.rules.components) {
      if (isWorking(component) || this.#resting.has(component) || this.#isOvertaken(component)) continue
      const { mode } = this
      const isAsked = mode !== 'auto' && this.instruction(component) !== undefined
      this.#claim(!isAsked, `${component}: an instruction waits, and no trainer works on it`)
      const isFull = this.usable(component).length >= this.rules.batchSize && !this.isSpent(component)
      const isDue = mode !== 'manual' && isFull && !this.#trafficResting.has(component)
      this.#claim(!isDue, `${component}: a full batch waits, and no trainer works on it`)
    }
    this.modes = [this.mode]
    this.#known = this.records.length
  }

  /** Its results were stale so often that it waits for new records. */
  #isOvertaken(component: string): boolean {
    const attempt = this.#out.get(component)
    return this.rules.stale !== 'merge' && attempt?.verdict != null && attempt.ends + 1 >= STEP_OVERTAKEN_MAX
  }

  #claim(isSo: boolean, otherwise: string): void {
    if (!isSo) this.wrongs.push(otherwise)
  }

  #failuresOf(component: string): number {
    return this.#failures.get(component) ?? 0
  }
}

const unitOf = ({ id, references }: Noted): readonly string[] => [...references, id]
