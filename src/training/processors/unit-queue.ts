/** Complete units in order of completion. Reading the oldest and removing any one takes constant time. */
import { BATCH_BYTES_MAX, type StoredSample } from '../../contract/index.ts'
import { ByRecord } from './by-record.ts'

/** What is trained on together: one sample, or all samples of a group. */
export type Unit = readonly StoredSample[]

export class UnitQueue {
  /** A circular list through one empty node: arrays and maps would remove holes to walk. */
  readonly #ends = new Node([])
  readonly #byRecord = new ByRecord<Node>()
  #count = 0

  get count(): number {
    return this.#count
  }

  put(unit: Unit): void {
    const node = new Node(unit)
    node.insertBefore(this.#ends)
    for (const { record_ids } of unit) this.#byRecord.add(record_ids, node)
    this.#count += 1
  }

  /** Oldest first, lazily. */
  *units(): Generator<Unit> {
    for (let node = this.#ends.after; node !== this.#ends; node = node.after) yield node.unit
  }

  /** Removes every unit that holds one of these records and answers their samples. */
  drop(consumed: readonly string[]): readonly StoredSample[] {
    const nodes = [...this.#byRecord.holding(consumed)]
    for (const node of nodes) {
      node.remove()
      for (const { record_ids } of node.unit) this.#byRecord.remove(record_ids, node)
    }
    this.#count -= nodes.length
    return nodes.flatMap(({ unit }) => unit)
  }
}

/** The oldest units that fit into a batch, and whether it is full. A unit too large for any batch goes alone. */
export function oldest(queue: UnitQueue, batchSize: number): { readonly samples: readonly StoredSample[]; readonly ready: boolean } {
  const units: Unit[] = []
  let bytes = 0
  for (const unit of queue.units()) {
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

class Node {
  readonly unit: Unit
  #before: Node = this
  after: Node = this

  constructor(unit: Unit) {
    this.unit = unit
  }

  insertBefore(next: Node): void {
    this.#before = next.#before
    this.after = next
    next.#before.after = this
    next.#before = this
  }

  remove(): void {
    this.#before.after = this.after
    this.after.#before = this.#before
  }
}
