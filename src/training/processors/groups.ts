/** Collects samples until their group is complete. */
import { isObject, type JsonObject, type StoredSample } from '../../contract/index.ts'
import { ByRecord } from './by-record.ts'
import type { Unit } from './unit-queue.ts'

/** The group of a report; null when it stands alone; a fixed reason when it is unusable. Reasons are counted. */
export type GroupOf = (report: JsonObject) => Grouping | null | string

/** Where a report belongs: one of the `size` slots of a group. */
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
 * At least this many complete groups are remembered, so that a late report is recognised. Late reports come soon, and the memory must stay
 * bounded; after a restart none is remembered.
 */
const WHOLE_GROUPS_REMEMBERED = 10_000

export class OpenGroups {
  readonly #open = new Map<string, Group>()
  readonly #byRecord = new ByRecord<Member>()
  #whole = new Set<string>()
  #wholeBefore: ReadonlySet<string> = new Set<string>()
  #waiting = 0

  get openCount(): number {
    return this.#open.size
  }
  /** Samples in incomplete groups. */
  get waitingCount(): number {
    return this.#waiting
  }

  /** Why a sample cannot take that slot, or null when it is free. */
  refusal({ key, slot, size }: Grouping): string | null {
    if (!Number.isSafeInteger(size) || size < 1) return 'its group has no usable size'
    if (this.#whole.has(key) || this.#wholeBefore.has(key)) return 'its group was complete already'
    const group = this.#open.get(key)
    if (group === undefined) return null
    if (group.size !== size) return 'it names another size than its group has'
    return group.members.has(slot) ? 'another report took its slot in the group' : null
  }

  /** Fills a free slot. Answers the group's samples in order of arrival once it is complete; null before. */
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

  /** Drops and answers every waiting sample that holds one of these records, and frees its slot. */
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

/** OpenGroups by name: `size` reports with the same `metadata.comparison_set` are compared with each other. */
export function byComparisonSet(size: number): GroupOf {
  let slots = 0
  return ({ metadata }: JsonObject): Grouping | string => {
    const key = isObject(metadata) ? metadata['comparison_set'] : undefined
    if (typeof key !== 'string' || key.trim() === '') return 'names no metadata.comparison_set'
    // Every report gets a slot of its own.
    slots += 1
    return { key, slot: String(slots), size }
  }
}
