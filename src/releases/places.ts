/**
 * At which place of a list the rows are, where the list is too long to hold. Of rows that made a release the place is known. For the others
 * there are marks, every so many steps, and never more than a fixed number: where there would be, every other one goes. From a mark on the
 * store is read.
 */

/** The rows of the list from that step on are numbered from that place. */
export interface Mark {
  readonly step: number
  readonly place: number
}

/** A history of a hundred thousand steps is marked about every hundredth. */
export const MARKS_MAX = 1024

export class Places {
  readonly #released = new Map<number, number>()
  /** How many rows of the list came before step 0, before step `#every`, before twice that, and so on. */
  #before: number[] = []
  #every = 1
  #next = 0
  #count = 0

  /** The next row of the history, which the list may leave out. */
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

  /** How many rows the list has. */
  get count(): number {
    return this.#count
  }

  /** How much is held. */
  get size(): number {
    return this.#released.size + this.#before.length
  }

  /** The place of a row that made a release and is in the list. */
  of(step: number): number | undefined {
    return this.#released.get(step)
  }

  /** Where to begin to look for the row at that place. */
  atPlace(place: number): Mark {
    const at = this.#before.findLastIndex((count) => count <= place)
    return this.#from(at, (mark) => place - mark.place)
  }

  /** Where to begin to look for the first row of that step or a later one. */
  atStep(step: number): Mark {
    return this.#from(Math.floor(step / this.#every), (mark) => step - mark.step)
  }

  /** Where the list leaves out nothing up to the next mark, there is nothing to look for: the row is so many ahead. */
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
