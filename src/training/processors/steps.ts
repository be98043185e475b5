/** Steps of a grid that are being filled, are whole, or failed: one sample per slot, and all of a step from one release. */
import type { StoredSample } from '../../contract/index.ts'
import { ByRecord } from './by-record.ts'
import type { Unit } from './shelf.ts'

export interface StepMember {
  readonly step: number
  /** Where in the step, counted from 0. */
  readonly slot: number
  readonly sample: StoredSample
  /** Of the exchanges; null stands for those that no release here served. */
  readonly releases: readonly (string | null)[]
}
interface OpenStep {
  readonly release: string | null
  readonly members: Map<number, StepMember>
}

/** How many steps that are over are remembered, so that a straggler is known as one. After a restart none is. */
const STEPS_REMEMBERED = 10_000
const FAILED_STEPS_SHOWN = 100

export class Steps {
  readonly #size: number
  readonly #open = new Map<number, OpenStep>()
  readonly #whole = new Map<number, readonly StepMember[]>()
  readonly #byRecord = new ByRecord<StepMember>()
  readonly #over = new Map<number, 'whole' | 'failed'>()
  /** The whole step that is offered: one that becomes whole after it is not put before it, whatever its number. */
  #front: number | null = null
  #failed: readonly number[] = []
  /** Reports of steps that failed. Nobody can take them back before a row lands; until then a rebuild must see them all to fail the step again. */
  #fallen: readonly string[] = []
  #waiting = 0

  constructor(size: number) {
    this.#size = size
  }

  get openCount(): number {
    return this.#open.size
  }
  get wholeCount(): number {
    return this.#whole.size
  }
  /** Samples in steps that are not whole yet. */
  get waitingCount(): number {
    return this.#waiting
  }
  /** The latest ones. */
  get failed(): readonly number[] {
    return this.#failed
  }
  /** Slot by slot; empty while no step is whole. */
  get front(): Unit {
    const members = this.#front === null ? [] : (this.#whole.get(this.#front) ?? [])
    return members.map(({ sample }) => sample)
  }

  /** Why no sample can take that place, or null when it is free. */
  refusal(step: number, slot: number): string | null {
    const over = this.#over.get(step)
    if (over === 'failed') return 'its step was discarded for exchanges of several releases'
    if (over === 'whole' || this.#whole.has(step)) return 'its step was complete already'
    return this.#open.get(step)?.members.has(slot) ? 'another report took its slot in the step' : null
  }

  /** Takes a free place. One exchange of another release than the others fails the whole step: its samples cannot be held against each other. */
  add(member: StepMember): void {
    const { step, slot, sample, releases } = member
    const open = this.#open.get(step) ?? { release: releases[0] ?? null, members: new Map<number, StepMember>() }
    open.members.set(slot, member)
    this.#open.set(step, open)
    this.#byRecord.add(sample.record_ids, member)
    this.#waiting += 1
    if (releases.some((release) => release !== open.release)) this.#fail(step, open)
    else if (open.members.size === this.#size) this.#complete(step, open)
  }

  /**
   * Lets go of every sample that holds one of these records and frees its place; of a whole step, all of it goes. Answers the reports that
   * were let go of, and those of steps that failed meanwhile.
   */
  drop(consumed: readonly string[]): readonly string[] {
    const hit = [...this.#byRecord.holding(consumed)]
    const lost = new Set(hit.flatMap((member) => this.#whole.get(member.step) ?? [member]))
    for (const member of lost) this.#remove(member)
    if (this.#front !== null && !this.#whole.has(this.#front)) this.#front = lowest(this.#whole.keys())
    const fallen = this.#fallen
    this.#fallen = []
    return [...[...lost].map(reportOf), ...fallen]
  }

  #fail(step: number, { members }: OpenStep): void {
    this.#close(step, members, 'failed')
    for (const member of members.values()) this.#byRecord.remove(member.sample.record_ids, member)
    this.#fallen = [...this.#fallen, ...[...members.values()].map(reportOf)]
    this.#failed = [...this.#failed, step].slice(-FAILED_STEPS_SHOWN)
  }

  #complete(step: number, { members }: OpenStep): void {
    this.#close(step, members, 'whole')
    this.#whole.set(
      step,
      [...members.values()].sort((one, other) => one.slot - other.slot),
    )
    this.#front ??= step
  }

  #close(step: number, members: OpenStep['members'], how: 'whole' | 'failed'): void {
    this.#open.delete(step)
    this.#waiting -= members.size
    this.#over.set(step, how)
    const [oldest] = this.#over.keys()
    if (this.#over.size > STEPS_REMEMBERED && oldest !== undefined) this.#over.delete(oldest)
  }

  #remove(member: StepMember): void {
    const { step, slot, sample } = member
    this.#byRecord.remove(sample.record_ids, member)
    if (this.#whole.delete(step)) return
    const members = this.#open.get(step)?.members
    if (members?.delete(slot)) this.#waiting -= 1
    if (members?.size === 0) this.#open.delete(step)
  }
}

const reportOf = ({ sample }: StepMember): string => sample.record_ids.at(-1) ?? ''

const lowest = (steps: Iterable<number>): number | null => [...steps].sort((one, other) => one - other)[0] ?? null
