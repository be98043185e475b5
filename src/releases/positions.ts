/**
 * Maps rows to positions in the catalog without holding the catalog. The positions of rows with a release are kept. For the others there is
 * a bounded number of marks at equal distances; when there would be too many, every other one is dropped. Reading the store starts at a mark.
 */

/** The listed rows from that step on are numbered from that place. */
export interface Mark {
  readonly step: number
  readonly place: number
}

/** A history of a hundred thousand steps has a mark about every hundred steps. */
export const MARKS_MAX = 1024

export class CatalogPositions {
  readonly #released = new Map<number, number>()
  /** The number of listed rows before step 0, before step `#every`, before twice that, and so on. */
  #before: number[] = []
  #every = 1
  #next = 0
  #count = 0

  /** Takes the next row of the history. */
  follow(step: number, isListed: boolean, isReleased: boolean): void {
    while (step >= this.#every * MARKS_MAX) this.#thin()
    while (this.#before.length * this.#every <= step) this.#before.push(this.#count)
    this.#next = step + 1
    if (!isListed) return
    if (isReleased) this.#released.set(step, this.#count)
    this.#count += 1
  }

  #thin(): void {
    this.#before = this.#before.filter((_count, at) => at % 2 === 0)
    this.#every *= 2
  }

  get count(): number {
    return this.#count
  }

  /** The number of entries held in memory. */
  get size(): number {
    return this.#released.size + this.#before.length
  }

  /** The place of a listed row that made a release. */
  of(step: number): number | undefined {
    return this.#released.get(step)
  }

  /** Where to start reading for the row at that place. */
  atPlace(place: number): Mark {
    const at = this.#before.findLastIndex((count) => count <= place)
    return this.#from(at, (mark) => place - mark.place)
  }

  /** Where to start reading for the first row of that step or a later one. */
  atStep(step: number): Mark {
    return this.#from(Math.floor(step / this.#every), (mark) => step - mark.step)
  }

  /** Between two marks without unlisted rows the exact row is known. */
  #from(at: number, ahead: (mark: Mark) => number): Mark {
    const index = Math.max(0, Math.min(at, this.#before.length - 1))
    const mark = this.#mark(index)
    const end = index + 1 < this.#before.length ? this.#mark(index + 1) : { step: this.#next, place: this.#count }
    const rows = end.place - mark.place
    const more = end.step - mark.step === rows ? Math.max(0, Math.min(ahead(mark), rows)) : 0
    return { step: mark.step + more, place: mark.place + more }
  }

  #mark(index: number): Mark {
    return { step: index * this.#every, place: this.#before[index] ?? 0 }
  }
}
