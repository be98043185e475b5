/** The durable history of one scenario, and what follows from it. */
import type { Commit, Files, TrainingMode } from '../../src/contract/index.ts'

export interface Rules {
  /** A single trainer is named ''. The first one takes the instructions. */
  readonly components: readonly string[]
  readonly batchSize: number
  /** 0: no limit. */
  readonly maxSteps: number
  readonly stale: 'merge' | 'reevaluate' | 'refuse'
  readonly configuredMode: TrainingMode
}

export interface Noted {
  readonly id: string
  readonly type: 'inference' | 'report' | 'train'
  readonly references: readonly string[]
}

/** The text of each component's one file. */
export type Ledgers = Readonly<Record<string, string>>

export class History {
  readonly rules: Rules
  readonly records: Noted[] = []
  readonly rows: Commit[] = []
  /** The content of every release. */
  readonly ledgers = new Map<string, Ledgers>()
  readonly #consumed: Map<string, Set<string>>

  constructor(rules: Rules) {
    this.rules = rules
    this.#consumed = new Map(rules.components.map((component) => [component, new Set()]))
  }

  add(row: Commit): void {
    const consumed = this.#consumed.get(row.component ?? '')
    for (const id of row.consumed_ids) consumed?.add(id)
    this.rows.push(structuredClone(row))
  }

  get head(): Commit {
    const row = this.rows.findLast(({ outcome }) => outcome === 'published')
    if (row === undefined) throw new Error('a scenario begins with a published row')
    return row
  }

  /** The files of a whole release. */
  filesOf(releaseId: string): Files {
    const parts = Object.entries(this.ledgers.get(releaseId) ?? {})
    return Object.fromEntries(parts.map(([component, text]) => [component === '' ? 'ledger.md' : `${component}/ledger.md`, text]))
  }

  headLedgers(): Ledgers {
    return this.ledgers.get(this.head.release?.release_id ?? '') ?? {}
  }

  consumedBy(component: string): ReadonlySet<string> {
    return this.#consumed.get(component) ?? new Set()
  }

  isPublished(releaseId: string): boolean {
    return this.rows.some(({ release, outcome }) => release?.release_id === releaseId && outcome === 'published')
  }

  isSpent(component: string): boolean {
    const steps = this.rows.filter((row) => row.operation === 'train' && (row.component ?? '') === component).length
    return this.rules.maxSteps > 0 && steps >= this.rules.maxSteps
  }

  /** The oldest unconsumed instruction among the first records. Only the first component takes instructions. */
  instruction(component: string, among = this.records.length): Noted | undefined {
    if (component !== this.rules.components[0]) return undefined
    const gone = this.consumedBy(component)
    return this.records.slice(0, among).find(({ id, type }) => type === 'train' && !gone.has(id))
  }

  usable(component: string, among = this.records.length): readonly Noted[] {
    const gone = this.consumedBy(component)
    return this.records.slice(0, among).filter((record) => record.type === 'report' && !gone.has(record.id) && isUsable(record, gone))
  }

  /** Samples that were in two failed instruction steps are left out until a step on traffic ends. */
  areSuspected(component: string): boolean {
    const own = this.rows.filter((row) => row.operation === 'train' && (row.component ?? '') === component)
    let times = 0
    for (const { metrics } of own) {
      const isTraffic = metrics['training_request'] === undefined
      if (isTraffic && metrics['skipped'] !== 'step failed') times = 0
      if (!isTraffic && metrics['samples_kept'] !== undefined) times += 1
    }
    return times >= 2
  }

  /** The result of a promote or rollback, from the rows. */
  expectMove(releaseId: string, operation: 'promote' | 'rollback'): 'unknown' | 'stayed' | 'conflict' | 'moved' {
    const made = this.rows.find(({ release }) => release?.release_id === releaseId)
    if (made === undefined) return 'unknown'
    const { release, rollback_target_release_id: target } = this.head
    if (release?.release_id === releaseId || target === releaseId) return 'stayed'
    if (operation === 'rollback') return made.outcome === 'published' ? 'moved' : 'conflict'
    const isDone = this.rows.some((row) => row.operation === 'promote' && row.rollback_target_release_id === releaseId)
    return made.outcome === 'pending' && !isDone ? 'moved' : 'conflict'
  }
}

export const isUsable = ({ references }: Noted, gone: ReadonlySet<string>): boolean =>
  references.length > 0 && references.every((id) => !gone.has(id))
