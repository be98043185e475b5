/** What the pages are made of, by shape: rows of the catalog, the tree a step ran on, and how far a request is. */
import type { Entry, JsonObject, Operation, Release, Requires, StepOutcome } from '../contract/index.ts'

export interface CatalogRow extends Release {
  readonly step: number
  readonly operation: Operation
  readonly recorded_at: number
  readonly pending: boolean
  readonly result: StepOutcome
  readonly metrics: JsonObject
  readonly rollback_target_release_id?: string
}

export interface PageView {
  readonly scenario: string
  /** What links to the other pages carry: what this one was opened with. */
  readonly query: string
  /** The rows of the catalog that made a release, oldest first, by their place in it: that is the number of a row's page. */
  readonly releases: Releases
}

export type Releases = ReadonlyMap<number, CatalogRow>

export interface VersionView extends PageView {
  /** The row that the page is about, whole. */
  readonly row: CatalogRow
  readonly place: number
  /** The place of the newest row. */
  readonly last: number
  /** The tree that the step's candidate was made of; null when it cannot be read. */
  readonly before: readonly Entry[] | null
  /** What earlier steps of the chain ask of a machine. */
  readonly carried: readonly Requires[]
}

export interface RequestView extends PageView {
  readonly request: RequestShown
  readonly progress: ProgressShown
  /** The row that settled it, whole, and its place; null until there is one. */
  readonly row: CatalogRow | null
  readonly place: number | null
  /** Whether the rows have pages of their own: a scenario without files has none. */
  readonly hasVersions: boolean
  readonly before: readonly Entry[] | null
  /** The command of the agent's wrapper, where there is one. */
  readonly wrapper: string | null
  /** Seconds since the epoch. */
  readonly now: number
}

interface RequestShown {
  readonly id: string
  readonly created_at: number
  /** What was asked; empty once capacity took it and no row has it. */
  readonly asked: JsonObject
}

export interface ProgressShown {
  readonly state: string
  readonly meaning: string | null
  readonly started_at: number | null
  readonly episodes_total: number | null
  readonly step_record: string | null
  /** Oldest first. */
  readonly activity: readonly { readonly at: number; readonly kind: string; readonly text: string; readonly failed?: true }[]
}
