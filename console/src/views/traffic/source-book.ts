/** Records that are only a part of all, newest first. Their sequences have gaps, so they are read page by page while scrolling. */
import type { FoundPage, ListedRecord, PageOfRecords, RecordSearchQuery } from '@svc-ai/client'
import { PAGE_ROWS, rowsFrom, type AskRecords, type PagedRecords } from './record-book.ts'

export interface RecordSource {
  /** Newest first, before that sequence. */
  older(before: number | null): Promise<PageOfRecords>
  /** From that sequence on, oldest first. */
  from(sequence: number): Promise<{ readonly rows: readonly ListedRecord[]; readonly isAll: boolean }>
}

export const recordsOfType = (ask: AskRecords, type: ListedRecord['request_type']): RecordSource => ({
  older: (before) => ask({ request_type: type, order: 'newest', limit: PAGE_ROWS, ...(before !== null && { before_sequence: before }) }),
  from: (sequence) => rowsFrom(ask, sequence, type),
})

export type FindRecords = (query: RecordSearchQuery) => Promise<FoundPage>

export const foundRecords = (find: FindRecords, query: RecordSearchQuery): RecordSource => ({
  older: (before) => find({ ...query, limit: PAGE_ROWS, ...(before !== null && { before_sequence: before }) }),
  async from(sequence) {
    const { records, next } = await find({ ...query, limit: PAGE_ROWS })
    const rows = records.filter((row) => row.sequence >= sequence).toReversed()
    return { rows, isAll: next === null || rows.length < records.length || rows[0]?.sequence === sequence }
  },
})

/** A page of a search may be empty though more follow. */
const EMPTY_PAGES_MAX = 20

export class SourceBook implements PagedRecords {
  readonly #source: RecordSource
  #rows: readonly ListedRecord[] = []
  /** Came in since, and is not listed yet; newest first. */
  #news: readonly ListedRecord[] = []
  /** Where the next older page begins; null at the end, undefined before anything was read. */
  #before: number | null | undefined = undefined
  #isReading = false

  constructor(source: RecordSource) {
    this.#source = source
  }

  /** One more than there are, while there is more to come: when that row is on the screen, the next page is read. */
  get count(): number {
    return this.#rows.length + (typeof this.#before === 'number' ? 1 : 0)
  }
  get unseen(): number {
    return this.#news.length
  }
  get rows(): readonly ListedRecord[] {
    return this.#rows
  }

  at(index: number): ListedRecord | null {
    return this.#rows[index] ?? null
  }

  sequenceAt(index: number): number | null {
    return this.at(index)?.sequence ?? null
  }

  indexOf(sequence: number): number | null {
    const index = this.#rows.findIndex((row) => row.sequence === sequence)
    return index === -1 ? null : index
  }

  showUnseen(): void {
    if (this.#news.length > 0) this.#rows = [...this.#news, ...this.#rows]
    this.#news = []
  }

  /** Forgets all but so many of the newest; going down reads the rest again. */
  keep(count: number): void {
    const last = this.#rows[count - 1]
    if (last === undefined || this.#rows.length === count) return
    this.#rows = this.#rows.slice(0, count)
    this.#before = last.sequence
  }

  async follow(): Promise<void> {
    const newest = this.#news[0] ?? this.#rows[0]
    if (newest === undefined) return this.#startOver()
    const { rows, isAll } = await this.#source.from(newest.sequence)
    // Made anew under this name, no longer among them, or too far ahead to be followed row by row.
    if (rows[0]?.agent_record_id !== newest.agent_record_id || !isAll) return this.#startOver()
    this.#news = [...rows.slice(1).toReversed(), ...this.#news]
    return undefined
  }

  async #startOver(): Promise<void> {
    const { records, next } = await this.#page(null)
    this.#rows = records
    this.#news = []
    this.#before = next
  }

  async want(_first: number, end: number): Promise<void> {
    if (end <= this.#rows.length || typeof this.#before !== 'number' || this.#isReading) return
    this.#isReading = true
    try {
      await this.#readOlder(this.#before)
    } finally {
      this.#isReading = false
    }
  }

  /** What was read before the list was begun anew belongs to the old one. */
  async #readOlder(before: number): Promise<void> {
    const { records, next } = await this.#page(before)
    if (this.#before !== before) return
    this.#rows = [...this.#rows, ...records]
    this.#before = next
  }

  async #page(before: number | null): Promise<PageOfRecords> {
    let page = await this.#source.older(before)
    for (let empty = 1; page.records.length === 0 && page.next !== null && empty < EMPTY_PAGES_MAX; empty += 1)
      page = await this.#source.older(page.next)
    return page
  }
}
