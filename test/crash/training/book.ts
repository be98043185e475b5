/** What the clients sent and heard, and every row as it was first read: none of it may ever become untrue. */
import type { JsonObject, RequestType } from '../../../src/contract/index.ts'
import type { Row } from './seen.ts'

/**
 * - open: nobody heard of it; it may be stored or not, and is sent again after the restart.
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
export interface Moved {
  readonly step: number
  readonly target: string
}

/** - removing: asked for, and nobody heard the answer; it is there whole or not at all. */
export type LifeFate = 'creating' | 'kept' | 'removing'

/** One scenario from its creation to its removal. */
export class Life {
  readonly sent = new Map<string, Sent>()
  readonly moved: Moved[] = []
  /** Oldest first. */
  rows: readonly Row[] = []
  fate: LifeFate = 'creating'
}

export class Book {
  readonly #lives = new Map<string, Life>()
  /** Answers that no client may get. */
  readonly surprises: string[] = []
  acknowledged = 0
  removed = 0

  lives(): ReadonlyMap<string, Life> {
    return this.#lives
  }

  life(scenario: string): Life {
    const known = this.#lives.get(scenario)
    if (known !== undefined) return known
    const made = new Life()
    this.#lives.set(scenario, made)
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

  /** Its name is free: whatever bears it next begins anew. */
  forget(scenario: string): void {
    this.#lives.delete(scenario)
    this.removed += 1
  }

  /** A creation or removal that nobody heard of: the list says whether it happened. */
  settle(listed: readonly string[]): void {
    for (const [name, life] of this.#lives) {
      if (listed.includes(name)) life.fate = 'kept'
      else if (life.fate !== 'kept') this.forget(name)
    }
  }

  surprise(what: string): void {
    this.surprises.push(what)
  }
}
