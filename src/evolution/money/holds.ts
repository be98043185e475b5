/** The calls that are under way, as lines of the ledger tell of them: each holds the most that it may take until it is over. */
import { NOTHING_SPENT, spentBoth, type Spender, type Spent } from './spent.ts'

/** Whoever was not heard of for so long is gone, and what its calls took will never be known. */
const SILENT_MS = 30_000

export interface OpenHold {
  readonly day: string
  readonly step: string
  readonly by: Spender
  readonly most: Spent
  /** Who has it. */
  readonly owner: string
  readonly file: string
}

/** Both included. */
export interface Days {
  readonly first: string
  readonly last: string
}
export const isIn = ({ first, last }: Days, day: string): boolean => first <= day && day <= last

/** Which of them: of some days, or of a step. */
type Of = Partial<Pick<OpenHold, 'step' | 'by'>> & { readonly days?: Days }

export class Holds {
  readonly #open = new Map<string, OpenHold & { readonly place: number }>()
  /** Over before they were read: the end of a call may be in the file of the next day. */
  readonly #early = new Set<string>()
  readonly #heard = new Map<string, number>()
  readonly #silentMs: number
  #places = 0

  constructor(silentMs: number = SILENT_MS) {
    this.#silentMs = silentMs
  }

  add(id: string, hold: OpenHold): void {
    this.hear(hold.owner)
    // A line whose answer was lost is there twice.
    if (this.#open.has(id) || this.#early.delete(id)) return
    this.#places += 1
    this.#open.set(id, { ...hold, place: this.#places })
  }

  /** Returns the day on which the call began; null where that was not read. */
  end(id: string): string | null {
    const hold = this.#open.get(id)
    if (hold === undefined) {
      this.#early.add(id)
      return null
    }
    this.hear(hold.owner)
    this.#open.delete(id)
    return hold.day
  }

  hear(owner: string): void {
    this.#heard.set(owner, performance.now())
  }

  /** All that is held. With `before` what counts for that one: those behind it in its file count it themselves. */
  sum(of: Of, before: string | null = null): Spent {
    const own = before === null ? undefined : this.#open.get(before)
    return this.#sum(of, (hold) => own === undefined || (hold !== own && (hold.file !== own.file || hold.place < own.place)))
  }

  /** Of those who are gone, which the given one is not: nothing of it is given back. */
  lost(of: Of, owner: string): Spent {
    const now = performance.now()
    return this.#sum(of, (hold) => hold.owner !== owner && now - (this.#heard.get(hold.owner) ?? 0) > this.#silentMs)
  }

  /** Held by anybody but the owner. */
  besides(of: Of, owner: string): Spent {
    return this.#sum(of, (hold) => hold.owner !== owner)
  }

  #sum({ days, step, by }: Of, counts: (hold: OpenHold & { readonly place: number }) => boolean): Spent {
    let sum = NOTHING_SPENT
    for (const hold of this.#open.values()) {
      if (days !== undefined && !isIn(days, hold.day)) continue
      if ((step ?? hold.step) !== hold.step || (by ?? hold.by) !== hold.by) continue
      if (counts(hold)) sum = spentBoth(sum, hold.most)
    }
    return sum
  }
}
