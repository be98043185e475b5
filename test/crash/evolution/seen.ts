/** What was read back of scenarios that evolve, and what may be wrong with it. */
import type { Entry, JsonObject, Mutation, RequestType } from '../../../src/contract/index.ts'
import type { Name } from './cast.ts'

export interface Row {
  readonly step: number
  readonly result: string
  /** What it published; null when it did not. */
  readonly release: string | null
  readonly consumed: readonly string[]
  readonly mutations: readonly Mutation[]
  readonly metrics: JsonObject
  /** The whole row as it was printed. */
  readonly printed: string
}
export interface Seen {
  readonly name: Name
  /** Oldest first, the creation too. */
  readonly rows: readonly Row[]
  readonly records: ReadonlyMap<string, RequestType>
  /** The release that clients are handed. */
  readonly head: string
  /** The tree of each release that was published. */
  readonly trees: ReadonlyMap<string, readonly Entry[]>
  /** By step: what the service says of the files that the step left. */
  readonly stepRecords: ReadonlyMap<number, string>
}

export const PLACES = ['pending', 'claimed', 'refused', 'settled'] as const
export interface Lying {
  readonly id: string
  readonly place: (typeof PLACES)[number]
  /** Null for what cannot be read. */
  readonly file: JsonObject | null
}

export interface Violation {
  readonly rule:
    | 'answer'
    | 'lost'
    | 'row changed'
    | 'gap'
    | 'failed'
    | 'consumed twice'
    | 'from nowhere'
    | 'proposal'
    | 'counts'
    | 'tree'
    | 'head'
    | 'step record'
    | 'unfinished'
    | 'process'
    | 'folder'
    | 'cache'
  readonly detail: string
}

export const violation = (rule: Violation['rule'], detail: string): Violation => ({ rule, detail })
