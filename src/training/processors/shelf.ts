/** Whole units in the order they became whole: the oldest are read, any may be taken down, and neither walks the rest. */
import { BATCH_BYTES_MAX, type StoredSample } from '../../contract/index.ts'
import { ByRecord } from './by-record.ts'

/** What is learnt from together or not at all: one sample, or all samples of a group. */
export type Unit = readonly StoredSample[]

export class Shelf {
  /** A ring through one empty place, so that every unit has a neighbour on both sides: arrays and maps keep holes that would be walked. */
  readonly #ends = new Place([])
  readonly #byRecord = new ByRecord<Place>()
  #count = 0

  get count(): number {
    return this.#count
  }

  put(unit: Unit): void {
    const place = new Place(unit)
    place.standBefore(this.#ends)
    for (const { record_ids } of unit) this.#byRecord.add(record_ids, place)
    this.#count += 1
  }

  /** Oldest first, one after another, as far as the caller goes. */
  *units(): Generator<Unit> {
    for (let place = this.#ends.after; place !== this.#ends; place = place.after) yield place.unit
  }

  /** Takes down every unit that holds one of these records and answers their samples. */
  drop(consumed: readonly string[]): readonly StoredSample[] {
    const places = [...this.#byRecord.holding(consumed)]
    for (const place of places) {
      place.leave()
      for (const { record_ids } of place.unit) this.#byRecord.remove(record_ids, place)
    }
    this.#count -= places.length
    return places.flatMap(({ unit }) => unit)
  }
}

/** The oldest units that fit together, and whether no further one could join them. A unit too large for any batch goes alone. */
export function oldest(shelf: Shelf, batchSize: number): { readonly samples: readonly StoredSample[]; readonly ready: boolean } {
  const units: Unit[] = []
  let bytes = 0
  for (const unit of shelf.units()) {
    const more = bytesOf(unit)
    if (units.length > 0 && bytes + more > BATCH_BYTES_MAX) return { samples: units.flat(), ready: true }
    units.push(unit)
    bytes += more
    if (units.length === batchSize) break
  }
  return { samples: units.flat(), ready: units.length === batchSize || bytes >= BATCH_BYTES_MAX }
}

function bytesOf(unit: Unit): number {
  return unit.flatMap(({ exchanges }) => exchanges).reduce((sum, { byteLength }) => sum + byteLength, 0)
}

class Place {
  readonly unit: Unit
  #before: Place = this
  after: Place = this

  constructor(unit: Unit) {
    this.unit = unit
  }

  standBefore(next: Place): void {
    this.#before = next.#before
    this.after = next
    next.#before.after = this
    next.#before = this
  }

  leave(): void {
    this.#before.after = this.after
    this.after.#before = this.#before
  }
}
