/** What was read back of scenarios that evolve, and what the clients sent: none of it may ever become untrue. */
import type { Entry, JsonObject, Mutation, RequestType } from '../../../src/contract/index.ts'
import type { StepRow } from '../steps.ts'
import { NAMES, type Name } from './cast.ts'

export interface Row extends StepRow {
  readonly mutations: readonly Mutation[]
  readonly metrics: JsonObject
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

export interface Sent {
  readonly id: string
  readonly route: '/svc/report' | '/svc/train'
  readonly body: JsonObject
  /** False: it was not answered, and is sent again after the restart. */
  isKept: boolean
}

class Life {
  readonly sent: Sent[] = []
  /** Ids of the proposals that were admitted. One without an answer may be in the inbox or not. */
  readonly admitted: string[] = []
  /** Oldest first. */
  rows: readonly Row[] = []
}

export class Book {
  readonly lives: Readonly<Record<Name, Life>> = { careful: new Life(), eager: new Life() }
  /** Answers that no client may get. */
  readonly surprises: string[] = []

  get acknowledged(): number {
    return NAMES.reduce((sum, name) => sum + this.lives[name].sent.filter(({ isKept }) => isKept).length, 0)
  }

  get admitted(): number {
    return NAMES.reduce((sum, name) => sum + this.lives[name].admitted.length, 0)
  }
}
