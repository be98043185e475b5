/** What was read back of scenarios that learn, and what may be wrong with it. */
import type { RequestType, TrainingMode } from '../../../src/contract/index.ts'

/** One step, as the commits and the releases route show it together. */
export interface Row {
  readonly step: number
  readonly operation: string
  readonly result: string
  /** What it published or holds; null when it did neither. */
  readonly release: string | null
  readonly parent: string | null
  readonly component: string
  readonly target: string | null
  readonly consumed: readonly string[]
  /** Both rows as they were printed, without what may change later. */
  readonly printed: string
}
export interface SeenRecord {
  readonly id: string
  readonly type: RequestType
  readonly references: readonly string[]
}
export interface Seen {
  readonly name: string
  /** Null while the scenario is not loaded. */
  readonly mode: TrainingMode | null
  /** What the list says is served. */
  readonly head: string
  /** The steps that the catalog marks as current. */
  readonly current: readonly number[]
  readonly statusStep: number
  /** Oldest first. */
  readonly rows: readonly Row[]
  readonly records: readonly SeenRecord[]
  /** Where its ref points, or null. */
  readonly pointer: string | null
}
export interface Snapshot {
  readonly scenarios: readonly Seen[]
  /** Releases kept for review by a ref. */
  readonly held: ReadonlySet<string>
  /** By release and component: the lines of its ledger; absent when it cannot be read. */
  readonly ledgers: ReadonlyMap<string, readonly string[]>
}

export const ledgerKey = (release: string, component: string): string => `${release}/${component}`
