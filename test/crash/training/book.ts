/** What the clients sent and were answered, and what was read back: none of it may ever become untrue. */
import type { JsonObject, RequestType, TrainingMode } from '../../../src/contract/index.ts'
import type { StepRow } from '../steps.ts'

export interface Row extends StepRow {
  readonly parent: string | null
  readonly component: string
  readonly target: string | null
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

/**
 * - open: it was not answered: it may be stored or not, and is sent again after the restart.
 * - kept: acknowledged.
 * - refused: it was turned away, and must stay away.
 */
type Fate = 'open' | 'kept' | 'refused'

export interface Sent {
  readonly id: string
  readonly type: RequestType
  /** As posted, to the route of its type. */
  readonly body: JsonObject
  fate: Fate
}

/** A promote or rollback that was answered. */
interface Moved {
  readonly step: number
  readonly target: string
}

/** - removing: requested, and not answered: it is there whole or not at all. */
type LifeFate = 'creating' | 'kept' | 'removing'

/** One scenario from its creation to its removal. */
export class Life {
  readonly sent = new Map<string, Sent>()
  readonly moved: Moved[] = []
  /** Oldest first. */
  rows: readonly Row[] = []
  fate: LifeFate = 'creating'
}

export class Book {
  readonly lives = new Map<string, Life>()
  /** Answers that no client may get. */
  readonly surprises: string[] = []
  acknowledged = 0
  removed = 0

  life(scenario: string): Life {
    const known = this.lives.get(scenario)
    if (known !== undefined) return known
    const made = new Life()
    this.lives.set(scenario, made)
    return made
  }

  send(scenario: string, id: string, type: RequestType, body: Sent['body']): Sent {
    const sent: Sent = { id, type, body, fate: 'open' }
    this.life(scenario).sent.set(id, sent)
    return sent
  }

  acknowledge(sent: Sent): void {
    if (sent.fate !== 'kept') this.acknowledged += 1
    sent.fate = 'kept'
  }

  move(scenario: string, moved: Moved): void {
    this.acknowledged += 1
    this.life(scenario).moved.push(moved)
  }

  /** Its name is free: a scenario that gets it begins anew. */
  forget(scenario: string): void {
    this.lives.delete(scenario)
    this.removed += 1
  }

  /** A creation or removal without an answer: the list says whether it happened. */
  settle(listed: readonly string[]): void {
    for (const [name, life] of this.lives) {
      if (listed.includes(name)) life.fate = 'kept'
      else if (life.fate !== 'kept') this.forget(name)
    }
  }
}
