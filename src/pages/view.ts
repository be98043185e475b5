/** What the pages are made of, by shape: rows of the catalog, the tree a step ran on, and the progress of a request. */
import type { Entry, JsonObject, RequestProgress, Requires } from '../contract/index.ts'
import type { PlayedEpisode, RunningStep, StepRow } from '../presentation/index.ts'

export interface PageRow extends StepRow {
  readonly parent_release_id: string | null
}

/** What the agent answered on each side of a task; null where that was not kept. */
export interface PlayedSides {
  readonly before: PlayedEpisode | null
  readonly after: PlayedEpisode | null
}

/** The rows of the catalog that made or reject a release, oldest first, by their place in it, which is the number of a row's page. */
export type ReleasePlaces = ReadonlyMap<number, PageRow>

export interface PageView {
  readonly scenario: string
  /** The query of this page, carried by its links to other pages. */
  readonly query: string
  readonly releases: ReleasePlaces
  /** What earlier steps of the chain require of a machine. */
  readonly carried?: readonly Requires[]
}

export interface VersionView extends PageView {
  /** The row that the page is about, whole. */
  readonly row: PageRow
  readonly place: number
  /** The place of the newest row. */
  readonly last: number
  /** The tree that the step's candidate was made of; null when it cannot be read. */
  readonly before: readonly Entry[] | null
  /** By task, for readers who may see held-out tasks. */
  readonly played?: ReadonlyMap<string, PlayedSides>
}

export interface RequestView extends PageView {
  /** `asked` is empty once the body was evicted and no row has it. */
  readonly request: { readonly id: string; readonly created_at: number; readonly asked: JsonObject }
  readonly progress: ProgressShown
  /** The step that works on it; null where none does. */
  readonly running: RunningStep | null
  /** The row that settled it, whole, and its place; null until there is one. */
  readonly row: PageRow | null
  readonly place: number | null
  /** Whether the rows have pages of their own: a scenario without files has none. */
  readonly hasVersions: boolean
  readonly before: readonly Entry[] | null
  /** The command of the agent's wrapper, where there is one. */
  readonly wrapper: string | null
  /** Seconds since the epoch. */
  readonly now: number
}

/** `state` may be a word that this version does not know. */
export type ProgressShown = Omit<RequestProgress, 'request_id' | 'settled' | 'step' | 'state'> & { readonly state: string }
