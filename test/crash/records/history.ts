/** What the clients sent and were answered: all of it must still be true after every crash. */
import type { Dialect, JsonObject } from '../../../src/contract/index.ts'

/**
 * - open: on its way, or its connection broke: it may be stored or not.
 * - kept: its receipt was seen, or it was found stored after a crash. It must be there from then on.
 * - absent: it was not there after a crash, or was refused. It must stay away unless it is sent again.
 */
type Fate = 'open' | 'kept' | 'absent'

export interface Sent {
  readonly mark: string
  readonly scenario: string
  readonly type: 'inference' | 'report'
  /** What is to be stored: all of it, or without the answer where that is a stream's. */
  readonly payload: JsonObject
  /** The format whose stream answers; null where the payload is known to the last byte. */
  readonly streamed: Dialect | null
  /** Those of one batch are stored together or not at all; null for what was sent alone. */
  readonly batch: string | null
  /** The record's id: chosen by the client, or learned from the receipt. */
  id: string | null
  fate: Fate
  /** Whether its receipt was seen. */
  isAcknowledged: boolean
}

/** - removing: its removal was asked for and not answered; it may be there whole, or gone whole. */
type ScenarioFate = 'creating' | 'kept' | 'removing'

/** A scenario that was set aside, with everything that must be in its archive. */
export interface Removed {
  readonly scenario: string
  readonly sent: readonly Sent[]
  /** Where the service said it lies; empty when the answer was lost. */
  readonly archived: readonly string[]
}

export class History {
  /** By mark. */
  readonly sent = new Map<string, Sent>()
  readonly scenarios = new Map<string, ScenarioFate>()
  readonly removed: Removed[] = []
  /** Answers that no client may get. */
  readonly surprises: string[] = []
  acknowledged = 0

  of(scenario: string): readonly Sent[] {
    return [...this.sent.values()].filter((sent) => sent.scenario === scenario)
  }

  /** From here on it may be stored, and its scenario made. */
  send(sent: Sent): Sent {
    this.sent.set(sent.mark, sent)
    sent.fate = sent.fate === 'kept' ? 'kept' : 'open'
    if (!this.scenarios.has(sent.scenario)) this.scenarios.set(sent.scenario, 'creating')
    return sent
  }

  acknowledge(sent: Sent, id: string): void {
    if (sent.id !== null && sent.id !== id) this.surprises.push(`${sent.mark} was acknowledged as ${id} and is ${sent.id}`)
    if (sent.fate !== 'kept') this.acknowledged += 1
    sent.isAcknowledged = true
    this.#keep(sent, id)
  }

  /** Found stored after a crash, or not: from now on that is how it must stay. */
  settle(sent: Sent, id: string | undefined): void {
    if (id === undefined) sent.fate = 'absent'
    else this.#keep(sent, id)
  }

  #keep(sent: Sent, id: string): void {
    sent.id = id
    sent.fate = 'kept'
    this.scenarios.set(sent.scenario, 'kept')
  }

  /** The name is free: what was stored under it is the archive's. */
  setAside(scenario: string, archived: readonly string[]): void {
    const sent = this.of(scenario)
    this.removed.push({ scenario, sent, archived })
    for (const { mark } of sent) this.sent.delete(mark)
    this.scenarios.delete(scenario)
  }

  /** A creation that was not answered and did not happen. */
  forget(scenario: string): void {
    for (const sent of this.of(scenario)) sent.fate = 'absent'
    this.scenarios.delete(scenario)
  }
}
