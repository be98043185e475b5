/** The records of a scenario as one long list, newest first, of which only the parts that were looked at are here. */
import type { ListedRecord, PageOfRecords, RecordQuery, RecordRow } from '@svc-ai/client'

export type AskRecords = (query: RecordQuery) => Promise<PageOfRecords>

/** What the list on the screen needs of records, all of them or a part. */
export interface PagedRecords {
  /** Rows of the list. Newer ones are only counted until they are asked for. */
  readonly count: number
  readonly unseen: number
  /** Null while it is not here. */
  at(index: number): ListedRecord | null
  /** Known also while the row itself is not here, where places and sequences go together. */
  sequenceAt(index: number): number | null
  /** Where the record of that sequence stands; null when it is not in the list. */
  indexOf(sequence: number): number | null
  /** Asks for what came in since. */
  follow(): Promise<void>
  /** Asks for what is missing of these rows. */
  want(first: number, end: number): Promise<void>
  showUnseen(): void
}

export const PAGE_ROWS = 100
/** Pages kept: those looked at last. */
const PAGES_MAX = 120
/** Read row by row at most, of what came in between two questions. */
const FOLLOWED_PAGES_MAX = 10

/**
 * Sequences are 1, 2, 3 without gaps, so a row's place gives its sequence, and its sequence the page it is on: the scroll bar covers
 * everything, and going anywhere costs one question.
 */
export class RecordBook implements PagedRecords {
  readonly #ask: AskRecords
  /** By number: page 0 holds the sequences 1 to 100. The one looked at last stands last. */
  readonly #pages = new Map<number, (ListedRecord | undefined)[]>()
  readonly #asked = new Set<number>()
  #newest: ListedRecord | null = null
  #shown = 0

  constructor(ask: AskRecords) {
    this.#ask = ask
  }

  get count(): number {
    return this.#shown
  }
  get unseen(): number {
    return this.#last - this.#shown
  }
  get #last(): number {
    return this.#newest?.sequence ?? 0
  }

  at(index: number): ListedRecord | null {
    const place = this.#shown - index - 1
    return this.#pages.get(Math.floor(place / PAGE_ROWS))?.[place % PAGE_ROWS] ?? null
  }

  sequenceAt(index: number): number | null {
    return index >= 0 && index < this.#shown ? this.#shown - index : null
  }

  indexOf(sequence: number): number | null {
    return sequence >= 1 && sequence <= this.#shown ? this.#shown - sequence : null
  }

  showUnseen(): void {
    this.#shown = this.#last
  }

  /** The newest row known is asked for again: when another stands in its place, the scenario was made anew under this name. */
  async follow(): Promise<void> {
    const known = this.#newest
    if (known === null) return this.#open()
    const { rows, isAll } = await rowsFrom(this.#ask, known.sequence)
    if (rows[0]?.agent_record_id !== known.agent_record_id) return this.#startOver()
    this.#take(rows)
    return isAll ? undefined : this.#readNewest()
  }

  async #open(): Promise<void> {
    await this.#readNewest()
    this.showUnseen()
  }

  async #startOver(): Promise<void> {
    this.#pages.clear()
    this.#newest = null
    this.#shown = 0
    await this.#open()
  }

  async #readNewest(): Promise<void> {
    const { records } = await this.#ask({ order: 'newest', limit: PAGE_ROWS })
    this.#take(records.toReversed())
  }

  async want(first: number, end: number): Promise<void> {
    const missing = this.#missing(first, end)
    await Promise.all(missing.map((page) => this.#load(page)))
  }

  #missing(first: number, end: number): readonly number[] {
    const [low, high] = [Math.max(this.#shown - end, 0), Math.max(this.#shown - first - 1, -1)]
    const missing: number[] = []
    for (let page = Math.floor(low / PAGE_ROWS); page * PAGE_ROWS <= high; page += 1) {
      this.#touch(page)
      if (!this.#asked.has(page) && !this.#isWhole(page)) missing.push(page)
    }
    return missing
  }

  #touch(page: number): void {
    const rows = this.#pages.get(page)
    if (rows === undefined) return
    this.#pages.delete(page)
    this.#pages.set(page, rows)
  }

  #isWhole(page: number): boolean {
    const rows = this.#pages.get(page)
    const size = Math.min(PAGE_ROWS, this.#last - page * PAGE_ROWS)
    return rows !== undefined && Array.from({ length: size }, (_, at) => rows[at]).every((row) => row !== undefined)
  }

  async #load(page: number): Promise<void> {
    this.#asked.add(page)
    try {
      const { records } = await this.#ask({ after_sequence: page * PAGE_ROWS, limit: PAGE_ROWS })
      this.#take(records)
    } finally {
      this.#asked.delete(page)
    }
  }

  /** Rows in their order. What lies furthest back in use goes when there is too much. */
  #take(rows: readonly ListedRecord[]): void {
    for (const row of rows) {
      const page = Math.floor((row.sequence - 1) / PAGE_ROWS)
      const kept = this.#pages.get(page) ?? []
      kept[(row.sequence - 1) % PAGE_ROWS] = row
      this.#pages.set(page, kept)
    }
    const last = rows.at(-1)
    if (last !== undefined && last.sequence > this.#last) this.#newest = last
    for (const page of this.#pages.keys()) {
      if (this.#pages.size <= PAGES_MAX) return
      this.#pages.delete(page)
    }
  }
}

/** What was stored from that sequence on, in its order, as far as it is worth reading row by row. */
export async function rowsFrom(
  ask: AskRecords,
  sequence: number,
  type?: RecordRow['request_type'],
): Promise<{ readonly rows: readonly ListedRecord[]; readonly isAll: boolean }> {
  const rows: ListedRecord[] = []
  let after = sequence - 1
  for (let page = 0; page < FOLLOWED_PAGES_MAX; page += 1) {
    const { records, next } = await ask({
      after_sequence: after,
      limit: PAGE_ROWS,
      ...(type !== undefined && { request_type: type }),
    })
    rows.push(...records)
    if (next === null) return { rows, isAll: true }
    after = next
  }
  return { rows, isAll: false }
}
