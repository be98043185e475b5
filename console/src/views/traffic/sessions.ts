/** One row for each session: its newest exchange among those that were read, with how many there are. */
import type { ListedRecord } from '@svc-ai/client'
import { sessionOf } from '../../data/pins.ts'
import type { PagedRecords } from './record-book.ts'
import type { SourceBook } from './source-book.ts'

export class SessionBook implements PagedRecords {
  readonly #all: SourceBook
  #rows: readonly ListedRecord[] = []
  #sizes: ReadonlyMap<string, number> = new Map()
  #grouped: readonly ListedRecord[] | null = null

  constructor(all: SourceBook) {
    this.#all = all
  }

  get count(): number {
    return this.#listed.length + (this.#all.count - this.#all.rows.length)
  }
  get unseen(): number {
    return this.#all.unseen
  }
  /** How many exchanges of the row's session were read; 1 for a row without one. */
  sizeOf(row: ListedRecord): number {
    const session = sessionOf(row)
    return session === null ? 1 : (this.#sizes.get(session) ?? 1)
  }

  at(index: number): ListedRecord | null {
    return this.#listed[index] ?? null
  }
  sequenceAt(index: number): number | null {
    return this.at(index)?.sequence ?? null
  }
  indexOf(sequence: number): number | null {
    const index = this.#listed.findIndex((row) => row.sequence === sequence)
    return index === -1 ? null : index
  }

  follow(): Promise<void> {
    return this.#all.follow()
  }
  showUnseen(): void {
    this.#all.showUnseen()
  }
  /** A page of one long session adds no row: then the next is read too, a few at a time. */
  async want(first: number, end: number): Promise<void> {
    for (let page = 0; page < PAGES_PER_LOOK_MAX && end > this.#listed.length && this.#all.count > this.#all.rows.length; page += 1)
      await this.#all.want(first, this.#all.count)
  }

  get #listed(): readonly ListedRecord[] {
    if (this.#grouped !== this.#all.rows) this.#group(this.#all.rows)
    return this.#rows
  }

  #group(all: readonly ListedRecord[]): void {
    const sizes = new Map<string, number>()
    this.#rows = all.filter((row) => {
      const session = sessionOf(row)
      if (session === null) return true
      const size = sizes.get(session) ?? 0
      sizes.set(session, size + 1)
      return size === 0
    })
    this.#sizes = sizes
    this.#grouped = all
  }
}

const PAGES_PER_LOOK_MAX = 5
