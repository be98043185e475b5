/** Samples that wait for the rest of their group. */
import type { StoredSample } from '../../contract/index.ts'
import { ByRecord } from './by-record.ts'
import type { Unit } from './shelf.ts'

/** Where a report belongs: one of `size` slots of the group of that key. */
export interface Grouping {
  readonly key: string
  readonly slot: string
  readonly size: number
}

interface Group {
  readonly size: number
  readonly members: Map<string, Member>
}
interface Member extends Grouping {
  readonly sample: StoredSample
}

/**
 * How many groups that became whole are remembered at least, so that a straggler is known as one. A straggler comes soon if it comes at all,
 * and what runs for months may not remember every group it ever saw; after a restart none is remembered either.
 */
const WHOLE_GROUPS_REMEMBERED = 10_000

export class Groups {
  readonly #open = new Map<string, Group>()
  readonly #byRecord = new ByRecord<Member>()
  #whole = new Set<string>()
  #wholeBefore: ReadonlySet<string> = new Set<string>()
  #waiting = 0

  get openCount(): number {
    return this.#open.size
  }
  /** Samples in groups that are not whole yet. */
  get waitingCount(): number {
    return this.#waiting
  }

  /** Why no sample can take that place, or null when it is free. */
  refusal({ key, slot, size }: Grouping): string | null {
    if (!Number.isSafeInteger(size) || size < 1) return 'its group has no usable size'
    if (this.#whole.has(key) || this.#wholeBefore.has(key)) return 'its group was complete already'
    const group = this.#open.get(key)
    if (group === undefined) return null
    if (group.size !== size) return 'it names another size than its group has'
    return group.members.has(slot) ? 'another report took its slot in the group' : null
  }

  /** Takes a free place. The group's samples in the order they came, once this made it whole; null while others are missing. */
  add(grouping: Grouping, ungrouped: StoredSample): Unit | null {
    const { key, slot, size } = grouping
    const sample = { ...ungrouped, group: key }
    const group = this.#open.get(key) ?? { size, members: new Map<string, Member>() }
    const member = { ...grouping, sample }
    group.members.set(slot, member)
    this.#open.set(key, group)
    this.#byRecord.add(sample.record_ids, member)
    this.#waiting += 1
    return group.members.size === size ? this.#close(key, group) : null
  }

  /** Lets go of every waiting sample that holds one of these records, frees its place, and answers it. */
  drop(consumed: readonly string[]): readonly StoredSample[] {
    const lost = [...this.#byRecord.holding(consumed)]
    for (const member of lost) {
      const members = this.#open.get(member.key)?.members
      members?.delete(member.slot)
      if (members?.size === 0) this.#open.delete(member.key)
      this.#forget(member)
    }
    return lost.map(({ sample }) => sample)
  }

  #close(key: string, { members }: Group): Unit {
    this.#open.delete(key)
    for (const member of members.values()) this.#forget(member)
    if (this.#whole.size === WHOLE_GROUPS_REMEMBERED) {
      this.#wholeBefore = this.#whole
      this.#whole = new Set()
    }
    this.#whole.add(key)
    return [...members.values()].map(({ sample }) => sample)
  }

  #forget(member: Member): void {
    this.#byRecord.remove(member.sample.record_ids, member)
    this.#waiting -= 1
  }
}
