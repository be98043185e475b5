/** The records of one type, newest first. Their sequences have gaps, so they are read page by page while scrolling. */
import type { RecordRow } from '@svc-ai/client'
import { PAGE_ROWS, rowsFrom, type AskRecords, type PagedRecords } from './record-book.ts'

export class TypedBook implements PagedRecords {
  readonly #ask: AskRecords
  readonly #type: RecordRow['request_type']
  #rows: readonly RecordRow[] = []
  /** Came in since, and is not listed yet; newest first. */
  #news: readonly RecordRow[] = []
  /** Where the next older page begins; null at the end, undefined before anything was read. */
  #before: number | null | undefined = undefined
  #isReading = false

  constructor(ask: AskRecords, type: RecordRow['request_type']) {
    this.#ask = ask
    this.#type = type
  }

  /** One more than there are, while there is more to come: when that row is on the screen, the next page is read. */
  get count(): number {
    return this.#rows.length + (typeof this.#before === 'number' ? 1 : 0)
  }
  get unseen(): number {
    return this.#news.length
  }
  get rows(): readonly RecordRow[] {
    return this.#rows
  }

  at(index: number): RecordRow | null {
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
    const { rows, isAll } = await rowsFrom(this.#ask, newest.sequence, this.#type)
    // Made anew under this name, or too far ahead to be followed row by row.
    if (rows[0]?.agent_record_id !== newest.agent_record_id || !isAll) return this.#startOver()
    this.#news = [...rows.slice(1).toReversed(), ...this.#news]
    return undefined
  }

  async #startOver(): Promise<void> {
    const { records, next } = await this.#ask({ request_type: this.#type, order: 'newest', limit: PAGE_ROWS })
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
    const { records, next } = await this.#ask({ request_type: this.#type, order: 'newest', before_sequence: before, limit: PAGE_ROWS })
    if (this.#before !== before) return
    this.#rows = [...this.#rows, ...records]
    this.#before = next
  }
}
